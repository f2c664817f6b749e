package hsm

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// MaxKeyFileBytes is the length of the longest key file that is read.
const MaxKeyFileBytes = 64 << 10

// A Passphrase gives the passphrase of a key file, and is called at most once, only where the file is encrypted and well
// formed. The slice is wiped after use.
type Passphrase func(ctx context.Context) ([]byte, error)

// A FileKey is a P-256 private key out of a key file. It is a quorum.Signer. However it is printed or encoded, also from
// inside another value, only its kid comes out.
type FileKey struct {
	public quorum.PublicKey
	// private is a function because package fmt reads the fields of values inside other values without asking them.
	private func() *ecdsa.PrivateKey
}

// ReadKeyFile reads a key file: a regular file of at most MaxKeyFileBytes that only its owner can read or write (POSIX
// modes; root may read anybody's). Errors are those of ParseKeyFile; INVALID_INPUT for anything but a regular file,
// INVALID_STATE where others can read or change it, NOT_FOUND, IO_ERROR.
func ReadKeyFile(ctx context.Context, path string, p Passphrase) (*FileKey, error) {
	sealed, err := OpenKeyFile(path)
	if err != nil {
		return nil, err
	}
	return sealed.Unlock(ctx, p)
}

// GenerateFileKey makes a new key.
func GenerateFileKey() (*FileKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return newFileKey(key)
}

func newFileKey(key *ecdsa.PrivateKey) (*FileKey, error) {
	public, err := quorum.NewPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	return &FileKey{public, func() *ecdsa.PrivateKey { return key }}, nil
}

// Public gives the public half.
func (k *FileKey) Public() quorum.PublicKey { return k.public }

// Sign signs the statement with a random nonce and gives the signature once it verified. Errors are INVALID_INPUT for the
// zero Statement, and KEY_UNAVAILABLE.
func (k *FileKey) Sign(ctx context.Context, s quorum.Statement) (quorum.Signature, error) {
	if s.Purpose() == "" {
		return quorum.Signature{}, errNoStatement()
	}
	if ctx.Err() != nil {
		return quorum.Signature{}, errCancelled(ctx, "signing")
	}
	digest := s.Digest()
	der, err := ecdsa.SignASN1(rand.Reader, k.private(), digest[:])
	if err != nil {
		return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "", "signing failed: %w", err)
	}
	return verifiedASN1(k.public, s, der)
}

// Format writes the kid, whatever the verb.
func (k FileKey) Format(w fmt.State, _ rune) { io.WriteString(w, "key file "+k.public.KID().String()) }

// MarshalText gives the kid in words. With it encoding/json, log/slog and their like have nothing else to write.
func (k FileKey) MarshalText() ([]byte, error) { return fmt.Append(nil, k), nil }
