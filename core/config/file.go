package config

import (
	"strconv"

	"github.com/better-compute/approver/core/wire"
)

// A file is the configuration file as it is written. What is absent is nil.
type file struct {
	TrustDomain   *string     `toml:"trust_domain"`
	Key           *string     `toml:"key"`
	PublicKey     *string     `toml:"public_key"`
	Approvers     *string     `toml:"approvers"`
	MaxHours      *int64      `toml:"max_hours"`
	Kinds         *string     `toml:"kinds"`
	ExpectedLists *string     `toml:"expected_lists"`
	State         *string     `toml:"state"`
	Module        *fileModule `toml:"module"`
	PKI           *filePKI    `toml:"pki"`
}

type fileModule struct {
	Path   *string `toml:"path"`
	SHA256 *string `toml:"sha256"`
}

type filePKI struct {
	CommandSigning *string        `toml:"command_signing"`
	TrustVersion   *int64         `toml:"trust_version"`
	Approvers      *fileApprovers `toml:"approvers"`
}

type fileApprovers struct {
	Keys          []string   `toml:"keys"`
	Threshold     *int64     `toml:"threshold"`
	Tiers         []fileTier `toml:"tiers"`
	Unbatched     *int64     `toml:"unbatched_destructive_per_hour"`
	Epoch         *int64     `toml:"epoch"`
	SetSignatures []string   `toml:"set_signatures"`
}

type fileTier struct {
	MaxScopeSize *int64 `toml:"max_scope_size"`
	Threshold    *int64 `toml:"threshold"`
}

// setsNothing tells whether no key is written. [pki] has none of its own: alone it is no key.
func (f file) setsNothing() bool {
	if f.PKI != nil && *f.PKI == (filePKI{}) {
		f.PKI = nil
	}
	return f == (file{})
}

// An Origin says where a setting comes from. The zero Origin is nowhere: the setting is not configured.
type Origin struct {
	File     string `json:"file,omitzero"`     // the configuration file
	Line     int    `json:"line,omitzero"`     // in it, from 1
	Variable string `json:"variable,omitzero"` // of the environment
}

// String gives "FILE line N", the name of the variable, or "not configured".
func (o Origin) String() string {
	switch {
	case o.Variable != "":
		return "the environment's " + o.Variable
	case o.File != "":
		return o.File + " line " + strconv.Itoa(o.Line)
	}
	return "not configured"
}

// A Setting is a configured value and where it comes from; the zero Setting is none.
type Setting[T any] struct {
	Value  T
	Origin Origin
}

// IsSet tells whether the value is configured.
func (s Setting[T]) IsSet() bool { return s.Origin != Origin{} }

// refuse is the INVALID_CONFIG about one key, with what a person must compare.
func refuse(key string, o Origin, format string, args ...any) *wire.Error {
	err := wire.Errorf(wire.InvalidConfig, "", format, args...)
	switch {
	case o.Variable != "":
		err.Message = o.Variable + ": " + err.Message
		return err.With("variable", o.Variable)
	case o.File != "":
		err.Message = o.String() + ": " + key + ": " + err.Message
		err.With("file", o.File).With("line", o.Line)
	}
	return err.With("key", key)
}
