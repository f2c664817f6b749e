package hsm_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/asn1"
	"errors"
	"io"
	"math/big"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// oddSigner is a crypto.Signer whose signatures come from a function.
type oddSigner struct {
	*ecdsa.PrivateKey
	sign func(digest []byte) ([]byte, error)
}

func (o oddSigner) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	return o.sign(digest)
}

func TestFromSigner(t *testing.T) {
	key, other := newP256(t), newP256(t)
	for _, expected := range []quorum.PublicKey{{}, publicOf(t, key)} {
		s, err := hsm.FromSigner(key, expected)
		require.NoError(t, err)
		requireSigns(t, s, publicOf(t, key))
		_, err = s.Sign(t.Context(), quorum.Statement{})
		requireRefused(t, err, wire.InvalidInput, "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Sign(ctx, trial(s.Public()))
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err := hsm.FromSigner(key, publicOf(t, other))
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	_, err = hsm.FromSigner(nil, quorum.PublicKey{})
	requireRefused(t, err, wire.InvalidInput, "")
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	_, err = hsm.FromSigner(ed, quorum.PublicKey{})
	requireRefused(t, err, wire.InvalidInput, "")
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	_, err = hsm.FromSigner(p384, quorum.PublicKey{})
	requireRefused(t, err, wire.InvalidInput, "")
}

func TestFromSignerGivesNoBadSignature(t *testing.T) {
	key, other := newP256(t), newP256(t)
	right := func(digest []byte) []byte {
		der, err := ecdsa.SignASN1(rand.Reader, key, digest)
		require.NoError(t, err)
		return der
	}
	huge, err := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).Lsh(big.NewInt(1), 300), big.NewInt(1)})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		sign   func(digest []byte) ([]byte, error)
		reason string
	}{
		"another key":         {func(d []byte) ([]byte, error) { return ecdsa.SignASN1(rand.Reader, other, d) }, "bad-signature"},
		"flipped":             {func(d []byte) ([]byte, error) { s := right(d); s[10] ^= 1; return s, nil }, "bad-signature"},
		"trailing byte":       {func(d []byte) ([]byte, error) { return append(right(d), 0), nil }, "bad-signature"},
		"raw":                 {func([]byte) ([]byte, error) { return make([]byte, 64), nil }, "bad-signature"},
		"empty":               {func([]byte) ([]byte, error) { return nil, nil }, "bad-signature"},
		"numbers of 300 bits": {func([]byte) ([]byte, error) { return huge, nil }, "bad-signature"},
		"error":               {func([]byte) ([]byte, error) { return nil, errors.New("no") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := hsm.FromSigner(oddSigner{key, test.sign}, quorum.PublicKey{})
			require.NoError(t, err)
			signature, err := s.Sign(t.Context(), trial(s.Public()))
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			require.Zero(t, signature)
		})
	}
}

// Signatures are of fixed width also where a half begins with a zero byte, which is shorter in ASN.1.
func TestFixedWidth(t *testing.T) {
	key := newP256(t)
	s, err := hsm.FromSigner(key, quorum.PublicKey{})
	require.NoError(t, err)
	for r, h := false, false; !r || !h; {
		statement := trial(s.Public())
		signature, err := s.Sign(t.Context(), statement)
		require.NoError(t, err)
		r, h = r || signature.Sig[0] == 0, h || signature.Sig[32] == 0
	}
}
