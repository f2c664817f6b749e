package hsm

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// foreignSigner is a crypto.Signer of another library behind the rules of this one.
type foreignSigner struct {
	signer crypto.Signer
	public quorum.PublicKey
}

// FromSigner makes a quorum.Signer of any crypto.Signer with a P-256 key whose signatures are ASN.1, as the interface
// demands. Its public key must be the expected one; with a zero expected its own word is taken. Each signature is
// verified before it is given out. The error is KEY_UNAVAILABLE, "key-mismatch", or INVALID_INPUT for another kind of key.
// What s does with deadlines and sessions is s's affair; for keys on tokens OpenToken is the better way.
func FromSigner(s crypto.Signer, expected quorum.PublicKey) (quorum.Signer, error) {
	if s == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "there is no signer")
	}
	key, ok := s.Public().(*ecdsa.PublicKey)
	if !ok {
		return nil, wire.Errorf(wire.InvalidInput, "", "the signer's public key is a %T; wanted: ECDSA on P-256", s.Public())
	}
	public, err := quorum.NewPublicKey(key)
	if err != nil {
		return nil, err
	}
	if !expected.IsZero() && !public.Equal(expected) {
		return nil, errKeyMismatch(expected, public)
	}
	return foreignSigner{s, public}, nil
}

func (f foreignSigner) Public() quorum.PublicKey { return f.public }

func (f foreignSigner) Sign(ctx context.Context, s quorum.Statement) (quorum.Signature, error) {
	if s.Purpose() == "" {
		return quorum.Signature{}, errNoStatement()
	}
	if ctx.Err() != nil {
		return quorum.Signature{}, errCancelled(ctx, "signing")
	}
	digest := s.Digest()
	der, err := f.signer.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "", "signing failed: %w", err)
	}
	return verifiedASN1(f.public, s, der)
}

// verifiedASN1 is verified for a signature SEQUENCE { r INTEGER, s INTEGER } (RFC 3279). Each half is written in 32 bytes
// whatever its size: one in a hundred or so has a leading zero byte.
func verifiedASN1(expected quorum.PublicKey, s quorum.Statement, der []byte) (quorum.Signature, error) {
	var sequence cryptobyte.String
	var r, t []byte
	input := cryptobyte.String(der)
	if !input.ReadASN1(&sequence, asn1.SEQUENCE) || !input.Empty() || !sequence.ReadASN1Integer(&r) ||
		!sequence.ReadASN1Integer(&t) || !sequence.Empty() || len(r) > quorum.SigBytes/2 || len(t) > quorum.SigBytes/2 {
		return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "bad-signature", "the key gave a signature that is no ASN.1 of two numbers of 32 bytes")
	}
	var raw [quorum.SigBytes]byte
	copy(raw[quorum.SigBytes/2-len(r):], r)
	copy(raw[quorum.SigBytes-len(t):], t)
	return verified(expected, s, raw[:])
}
