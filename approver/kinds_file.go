package main

import (
	"strings"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

// A kindsFile is a table of kinds with the files it was read from.
type kindsFile struct {
	table         *kinds.Table // the built-in kinds, and the file's
	path, setPath string       // of the table and its descriptor set; "" for the built-in kinds alone
	descriptorSet []byte
	digest        *ledger.File // of the table as it was read; nil for the built-in kinds alone
}

// readKinds gives the built-in kinds and those of a table file; an empty path gives the built-in ones. The descriptor set
// lies in the folder of the table. Errors name the file at fault: NOT_FOUND, IO_ERROR or INVALID_INPUT where the table
// cannot be read, INVALID_CONFIG for all that is wrong with what it says.
func readKinds(path string) (*kindsFile, error) {
	if path == "" {
		return &kindsFile{table: kinds.Builtin()}, nil
	}
	return readKindsFile(path, durable.ReadFile)
}

// readKindsFile reads both files once each, by read.
func readKindsFile(path string, read func(path string, most int64) ([]byte, error)) (*kindsFile, error) {
	toml, err := read(path, wire.MaxTOMLBytes)
	if err != nil {
		return nil, err
	}
	file, err := kinds.ParseTableFile(toml)
	if err != nil {
		return nil, inFile(path, err)
	}
	found := &kindsFile{path: path, setPath: beside(path, file.DescriptorSet()), digest: fileOf(toml)}
	found.descriptorSet, err = read(found.setPath, kinds.MaxDescriptorSetBytes)
	if code := wire.CodeOf(err); code == wire.NotFound || code == wire.InvalidInput {
		return nil, wire.Errorf(wire.InvalidConfig, "", "%s names the descriptor set %s: %s", path, file.DescriptorSet(), wire.MessageOf(err))
	}
	if err != nil {
		return nil, err
	}
	if found.table, err = file.Table(found.descriptorSet); err != nil {
		return nil, inFile(path, err)
	}
	return found, nil
}

// beside gives the path of another file in the folder of one. It cleans nothing: after a symbolic link ".." is not where the
// text says, and the set of another folder would decode payloads as something else.
func beside(path, name string) string { return path[:strings.LastIndexByte(path, '/')+1] + name }
