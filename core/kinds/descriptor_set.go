package kinds

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/better-compute/approver/core/wire"
)

// A descriptor set is linked by google.golang.org/protobuf, which trusts what protoc wrote. What would cost it time,
// memory or the process is refused before: long names in deep messages, for it writes every full name out; imports that are
// public many times over, for it follows each path; deep nesting, and editions that it does not know.
const (
	maxDescriptorFiles   = 4096
	maxDescriptorLevels  = 32        // messages declared inside messages
	maxFullNameBytes     = 1024      // of one declaration
	maxAllNamesBytes     = 128 << 20 // of all full names together
	maxPublicImportPaths = 4096      // of one file
)

// linkDescriptors reads a FileDescriptorSet that holds every file it imports. The error is INVALID_CONFIG.
func linkDescriptors(b []byte) (files *protoregistry.Files, err error) {
	defer func() {
		if r := recover(); r != nil {
			files, err = nil, refuseSet("it cannot be linked: %.200v", r)
		}
	}()
	if len(b) > MaxDescriptorSetBytes {
		return nil, refuseSet("it has %d bytes; at most %d are read", len(b), MaxDescriptorSetBytes)
	}
	var set descriptorpb.FileDescriptorSet
	read := proto.UnmarshalOptions{Resolver: new(protoregistry.Types), RecursionLimit: 100}
	if err := read.Unmarshal(b, &set); err != nil {
		return nil, refuseSet("it is not a FileDescriptorSet, which protoc writes with --descriptor_set_out: %s", plainProtoError(err))
	}
	if n := len(set.File); n == 0 || n > maxDescriptorFiles {
		return nil, refuseSet("it has %d files; wanted: 1 to %d", n, maxDescriptorFiles)
	}
	if err := checkDescriptorFiles(set.File); err != nil {
		return nil, err
	}
	if files, err = protodesc.NewFiles(&set); err != nil {
		return nil, refuseSet("it does not link: %s", plainProtoError(err))
	}
	return files, nil
}

func refuseSet(format string, args ...any) error {
	return wire.Errorf(wire.InvalidConfig, "", "the descriptor set: "+format, args...)
}

func checkDescriptorFiles(all []*descriptorpb.FileDescriptorProto) error {
	byName := make(map[string]*descriptorpb.FileDescriptorProto, len(all))
	for _, f := range all {
		byName[f.GetName()] = f
	}
	var names nameCount
	paths := make(map[string]int)
	for _, f := range all {
		for _, dependency := range f.GetDependency() {
			if byName[dependency] == nil {
				return refuseSet("%.200q imports %.200q, which is not in it; give protoc --include_imports", f.GetName(), dependency)
			}
		}
	}
	for _, f := range all {
		if e := f.GetEdition(); f.GetSyntax() == "editions" && e != descriptorpb.Edition_EDITION_2023 && e != descriptorpb.Edition_EDITION_2024 {
			return refuseSet("%.200q is of an edition that is not known", f.GetName())
		}
		if countPublicPaths(f, byName, paths) > maxPublicImportPaths {
			return refuseSet("%.200q has public imports by more than %d paths", f.GetName(), maxPublicImportPaths)
		}
		f.Service, f.SourceCodeInfo = nil, nil // no payload has either
		if err := names.file(f); err != nil {
			return err
		}
	}
	return nil
}

// countPublicPaths gives the number of paths along public imports from a file, or more than there may be where the
// imports go in a circle. known collects what was counted.
func countPublicPaths(f *descriptorpb.FileDescriptorProto, byName map[string]*descriptorpb.FileDescriptorProto, known map[string]int) int {
	if n, ok := known[f.GetName()]; ok {
		return n
	}
	known[f.GetName()] = maxPublicImportPaths + 1 // for whoever comes back here in a circle
	n := 0
	for _, i := range f.GetPublicDependency() {
		if i < 0 || int(i) >= len(f.GetDependency()) {
			continue // the linker says so
		}
		n += 1 + countPublicPaths(byName[f.GetDependency()[i]], byName, known)
		n = min(n, maxPublicImportPaths+1)
	}
	known[f.GetName()] = n
	return n
}

// A nameCount adds up the full names that a linker writes out.
type nameCount struct{ bytes int }

func (c *nameCount) add(scope int, name string) (full int, err error) {
	full = scope + 1 + len(name)
	if c.bytes += full; full > maxFullNameBytes || c.bytes > maxAllNamesBytes {
		return full, refuseSet("its names are too long: at most %d bytes make a full name, and %d all of them", maxFullNameBytes, maxAllNamesBytes)
	}
	return full, nil
}

func (c *nameCount) file(f *descriptorpb.FileDescriptorProto) error {
	scope, err := c.add(0, f.GetPackage())
	for _, m := range f.GetMessageType() {
		if err == nil {
			err = c.message(scope, m, 1)
		}
	}
	return c.rest(scope, f.GetEnumType(), f.GetExtension(), err)
}

func (c *nameCount) message(scope int, m *descriptorpb.DescriptorProto, level int) error {
	if level > maxDescriptorLevels {
		return refuseSet("messages are declared inside messages deeper than %d levels", maxDescriptorLevels)
	}
	scope, err := c.add(scope, m.GetName())
	for _, o := range m.GetOneofDecl() {
		if err == nil {
			_, err = c.add(scope, o.GetName())
		}
	}
	for _, nested := range m.GetNestedType() {
		if err == nil {
			err = c.message(scope, nested, level+1)
		}
	}
	return c.rest(scope, m.GetEnumType(), append(m.GetField()[:len(m.GetField()):len(m.GetField())], m.GetExtension()...), err)
}

func (c *nameCount) rest(scope int, enums []*descriptorpb.EnumDescriptorProto, fields []*descriptorpb.FieldDescriptorProto, err error) error {
	for _, f := range fields {
		if err == nil {
			_, err = c.add(scope, f.GetName())
		}
		if err == nil {
			_, err = c.add(0, f.GetJsonName())
		}
	}
	for _, e := range enums {
		if err == nil {
			_, err = c.add(scope, e.GetName())
		}
		for _, v := range e.GetValue() {
			if err == nil {
				_, err = c.add(scope, v.GetName())
			}
		}
	}
	return err
}
