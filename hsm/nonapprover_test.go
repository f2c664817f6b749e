package hsm_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

func nonApprover(t *testing.T, m hsm.Module, expected crypto.PublicKey) (crypto.Signer, error) {
	token := open(t, m, approverURI)
	t.Cleanup(func() { token.Close() })
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	return token.NonApproverSigner(t.Context(), expected)
}

func TestNonApproverSigner(t *testing.T) {
	key := newP256(t)
	digest := sha256.Sum256([]byte("m"))
	always := softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "k256", ID: []byte{1}, Private: key, AlwaysAuthenticate: true, HidePublic: true}}}
	s, err := nonApprover(t, newSpy(t, always), &key.PublicKey)
	require.NoError(t, err)
	for range 200 { // some have a half with leading zeros
		der, err := s.Sign(nil, digest[:], crypto.SHA256)
		require.NoError(t, err)
		require.True(t, ecdsa.VerifyASN1(&key.PublicKey, digest[:], der))
	}
	_, err = nonApprover(t, newSpy(t, always), nil)
	requireRefused(t, err, wire.KeyUnavailable, "key-not-found")
	_, err = nonApprover(t, newSpy(t, approverToken(key)), &newP256(t).PublicKey)
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	_, err = nonApprover(t, newSpy(t, approverToken(key)), "a key")
	requireRefused(t, err, wire.InvalidInput, "")

	// A bad signature is not given out, and ends the session.
	for name, damage := range map[string]func(_, s []byte) ([]byte, error){
		"flipped": func(_, s []byte) ([]byte, error) { s[40] ^= 1; return s, nil },
		"short":   func(_, s []byte) ([]byte, error) { return s[:63], nil },
		"zero":    func(_, s []byte) ([]byte, error) { return new(big.Int).FillBytes(s), nil },
	} {
		m := newSpy(t, approverToken(key))
		s, err := nonApprover(t, m, nil)
		require.NoError(t, err)
		_, err = s.Sign(nil, digest[:], nil)
		requireRefused(t, err, wire.InvalidInput, "")
		_, err = s.Sign(nil, digest[:31], crypto.SHA256)
		requireRefused(t, err, wire.InvalidInput, "")
		require.Zero(t, m.count("C_SignInit"))
		m.sign = damage
		_, err = s.Sign(nil, digest[:], crypto.SHA256)
		requireRefused(t, err, wire.KeyUnavailable, "bad-signature")
		m.sign = nil
		_, err = s.Sign(nil, digest[:], crypto.SHA256)
		require.ErrorContains(t, err, "the session ended", name)
	}
}
