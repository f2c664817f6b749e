package hsm

import "context"

// A SealedKey is a key file that was read, private as it must be, and not opened yet: its passphrase can wait until a
// person has accepted what would be signed.
type SealedKey struct{ data []byte }

// OpenKeyFile reads a key file without opening it. Errors are those of ReadKeyFile about the file itself.
func OpenKeyFile(path string) (*SealedKey, error) {
	data, err := readPrivate("key file", path, MaxKeyFileBytes)
	if err != nil {
		return nil, err
	}
	return &SealedKey{data}, nil
}

// Unlock opens the key and wipes what was read; it serves once. Errors are those of ParseKeyFile.
func (s *SealedKey) Unlock(ctx context.Context, p Passphrase) (*FileKey, error) {
	defer clear(s.data)
	return ParseKeyFile(ctx, s.data, p)
}

// Object gives the label of the key that the URI names (RFC 7512, object), or "".
func (u URI) Object() string { return u.path["object"] }
