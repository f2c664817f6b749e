package hsm

import (
	"context"
	"fmt"
	"io"

	"github.com/better-compute/approver/core/wire"
)

// A SealedKey is a key file that was read, private as it must be, and not opened yet: its passphrase can wait until a
// person has accepted what would be signed.
type SealedKey struct {
	// data is a function because package fmt reads the fields of values inside other values without asking them.
	data func() []byte
}

// OpenKeyFile reads a key file without opening it. Errors are those of ReadKeyFile about the file itself.
func OpenKeyFile(path string) (*SealedKey, error) {
	data, err := readPrivate("key file", path, MaxKeyFileBytes)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, wire.Errorf(wire.InvalidInput, "", "the key file is empty")
	}
	return &SealedKey{func() []byte { return data }}, nil
}

// Unlock opens the key and wipes what was read; it serves once. Errors are those of ParseKeyFile.
func (s *SealedKey) Unlock(ctx context.Context, p Passphrase) (*FileKey, error) {
	defer clear(s.data())
	return ParseKeyFile(ctx, s.data(), p)
}

// Format writes that it is a key file, whatever the verb: what was read can be a private key in the clear.
func (s *SealedKey) Format(w fmt.State, _ rune) { io.WriteString(w, "key file, not opened") }
