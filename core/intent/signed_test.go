package intent_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"io"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A signer is a crypto.Signer that gives what a test wants.
type signer struct {
	public crypto.PublicKey
	sign   func(digest []byte) ([]byte, error)
}

func (s signer) Public() crypto.PublicKey { return s.public }
func (s signer) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	return s.sign(digest)
}

func TestSignAndVerify(t *testing.T) {
	k := joinSigner(t)
	b := bundleNamed(t, "two roots")
	s, err := intent.Sign(t.Context(), b, domain, k)
	require.NoError(t, err)
	v, err := s.Verify(public(t, k), domain)
	require.NoError(t, err)
	require.Equal(t, b.Encode(), v.Bundle().Encode())

	_, err = s.Verify(public(t, k), "staging.example.com")
	require.Equal(t, "bad-signature", wire.ReasonOf(err))
	_, err = s.Verify(public(t, signers(t)["alice"]), domain)
	require.Equal(t, "untrusted-signer", wire.ReasonOf(err))
	_, err = s.Verify(quorum.PublicKey{}, domain)
	require.Equal(t, "untrusted-signer", wire.ReasonOf(err))
	_, err = s.Verify(public(t, k), "")
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}

func TestNoKIDAndNoKeyAreNotOneKey(t *testing.T) {
	m := bundleNamed(t, "no quorum").Encode()
	sent := append([]byte{0x0a, byte(len(m)&0x7f | 0x80), byte(len(m) >> 7)}, m...)
	s, err := intent.ParseSignedTrustBundle(append(sent, 0x12, 0x00))
	require.NoError(t, err)
	_, err = s.Verify(quorum.PublicKey{}, domain)
	require.Equal(t, "untrusted-signer", wire.ReasonOf(err))
}

// Sign makes no bundle whose approver is the JoinService's own key; one that something else made verifies for nobody.
func TestVerifyRefusesTheJoinKeyAsAnApprover(t *testing.T) {
	alice := signers(t)["alice"]
	b := bundleNamed(t, "the first set")
	digest := sha256.Sum256(wire.SigningInput("trust-bundle", b.Encode(), []byte(domain)))
	r, half, err := ecdsa.Sign(rand.Reader, alice, digest[:])
	require.NoError(t, err)
	sig := make([]byte, quorum.SigBytes)
	r.FillBytes(sig[:32])
	half.FillBytes(sig[32:])
	sent := mustMarshal(t, &bettercomputev1.SignedTrustBundle{Bundle: b.Encode(),
		Signature: &bettercomputev1.Signature{Kid: public(t, alice).KID().String(), Sig: sig}})
	s, err := intent.ParseSignedTrustBundle(sent)
	require.NoError(t, err)
	v, err := s.Verify(public(t, alice), domain)
	require.Nil(t, v)
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%v", err)
}

func TestSignRefuses(t *testing.T) {
	keys, k := signers(t), joinSigner(t)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	larger, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	gives := func(sig []byte, err error) crypto.Signer {
		return signer{k.Public(), func([]byte) ([]byte, error) { return sig, err }}
	}
	other := signer{k.Public(), func(digest []byte) ([]byte, error) { return ecdsa.SignASN1(rand.Reader, keys["bob"], digest) }}
	longer := signer{k.Public(), func(digest []byte) ([]byte, error) {
		sig, err := ecdsa.SignASN1(rand.Reader, k, digest)
		return append(sig, 0), err
	}}
	longR, err := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)})
	require.NoError(t, err)
	negative := signer{k.Public(), func(digest []byte) ([]byte, error) {
		r, half, err := ecdsa.Sign(rand.Reader, k, digest)
		require.NoError(t, err)
		return asn1.Marshal(struct{ R, S *big.Int }{r.Neg(r), half})
	}}
	for name, c := range map[string]struct {
		ctx    context.Context
		domain string
		key    crypto.Signer
		code   wire.Code
		reason string
	}{
		"an approver of the bundle":       {t.Context(), domain, keys["alice"], wire.InvalidConfig, ""},
		"no trust domain":                 {t.Context(), "", k, wire.InvalidInput, ""},
		"Ed25519":                         {t.Context(), domain, edwards, wire.Unsupported, ""},
		"P-384":                           {t.Context(), domain, larger, wire.Unsupported, ""},
		"a context that ended":            {gone, domain, k, wire.KeyUnavailable, "timeout"},
		"another key than it says":        {t.Context(), domain, other, wire.KeyUnavailable, "bad-signature"},
		"something after the signature":   {t.Context(), domain, longer, wire.KeyUnavailable, "bad-signature"},
		"no signature":                    {t.Context(), domain, gives(nil, nil), wire.KeyUnavailable, "bad-signature"},
		"a negative r":                    {t.Context(), domain, negative, wire.KeyUnavailable, "bad-signature"},
		"an r of 257 bits":                {t.Context(), domain, gives(longR, nil), wire.KeyUnavailable, "bad-signature"},
		"an error of another package":     {t.Context(), domain, gives(nil, errors.New("gone")), wire.KeyUnavailable, ""},
		"an error of ours keeps its code": {t.Context(), domain, gives(nil, wire.Errorf(wire.KeyUnavailable, "device-removed", "gone")), wire.KeyUnavailable, "device-removed"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := intent.Sign(c.ctx, bundleNamed(t, "the first set"), c.domain, c.key)
			require.Nil(t, s)
			require.Equal(t, c.code, wire.CodeOf(err), "%v", err)
			require.Equal(t, c.reason, wire.ReasonOf(err))
		})
	}
}
