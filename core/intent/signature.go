package intent

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// verifies tells whether sig is the key's signature r ‖ s over the input (WIRE.md §1): 64 bytes, r and s in 1 to the group
// order - 1, which crypto/ecdsa sees to.
func verifies(key quorum.PublicKey, input, sig []byte) bool {
	if key.IsZero() || len(sig) != quorum.SigBytes {
		return false
	}
	var b cryptobyte.Builder
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1BigInt(new(big.Int).SetBytes(sig[:32]))
		b.AddASN1BigInt(new(big.Int).SetBytes(sig[32:]))
	})
	digest := sha256.Sum256(input)
	return ecdsa.VerifyASN1(key.ECDSA(), digest[:], b.BytesOrPanic())
}

// publicOf gives the public half of a signer, P-256. The error is UNSUPPORTED for another kind of key.
func publicOf(signer crypto.Signer) (quorum.PublicKey, error) {
	public, ok := signer.Public().(*ecdsa.PublicKey)
	if !ok {
		return quorum.PublicKey{}, wire.Errorf(wire.Unsupported, "", "the signing key is a %T; wanted: P-256", signer.Public())
	}
	key, err := quorum.NewPublicKey(public)
	if err != nil {
		return quorum.PublicKey{}, wire.Errorf(wire.Unsupported, "", "the signing key is not on P-256")
	}
	return key, nil
}

// sign signs the input's SHA-256 and gives r ‖ s, verified under key, the signer's public half. The error is
// KEY_UNAVAILABLE where it has no other code.
func sign(ctx context.Context, signer crypto.Signer, key quorum.PublicKey, input []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, wire.Errorf(wire.KeyUnavailable, "timeout", "nothing was signed: %w", err)
	}
	digest := sha256.Sum256(input)
	der, err := signer.Sign(rand.Reader, digest[:], crypto.SHA256)
	switch {
	case wire.CodeOf(err) != "":
		return nil, err
	case err != nil:
		return nil, wire.Errorf(wire.KeyUnavailable, "", "the signing key did not sign: %w", err)
	}
	sig, ok := plainSignature(der)
	if !ok || !verifies(key, input, sig) {
		return nil, wire.Errorf(wire.KeyUnavailable, "bad-signature", "the key gave a signature that does not verify under its public half %s", key.KID())
	}
	return sig, nil
}

// plainSignature gives r ‖ s of ASN.1 SEQUENCE { r, s }.
func plainSignature(der []byte) (sig []byte, ok bool) {
	var inner cryptobyte.String
	r, s := new(big.Int), new(big.Int)
	outer := cryptobyte.String(der)
	if !outer.ReadASN1(&inner, asn1.SEQUENCE) || !outer.Empty() || !inner.ReadASN1Integer(r) || !inner.ReadASN1Integer(s) || !inner.Empty() ||
		r.Sign() < 0 || s.Sign() < 0 || r.BitLen() > 256 || s.BitLen() > 256 {
		return nil, false
	}
	sig = make([]byte, quorum.SigBytes)
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return sig, true
}
