//go:build cgo && unix

package hsm_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"regexp"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/stretchr/testify/require"
)

// edwardsPublic takes an Ed25519 key's SubjectPublicKeyInfo out of what pkcs11-tool lists of one public key; what it reads
// as an object is damaged for these.
func edwardsPublic(t *testing.T, listed string) []byte {
	t.Helper()
	found := regexp.MustCompile(`EC_POINT: +0420([0-9a-f]{64})\n`).FindStringSubmatch(listed)
	require.Len(t, found, 2, listed)
	point, err := hex.DecodeString(found[1])
	require.NoError(t, err)
	spki, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(point))
	require.NoError(t, err)
	return spki
}

// An Ed25519 key is no approver's key. It signs for other jobs, messages of any length, again and again.
func suiteEdwards(t *testing.T, s suite, m *spy) {
	token := s.login(t, m, ";object="+s.Edwards.Label)
	_, shown, err := token.Public(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.False(t, shown)
	_, err = token.Key(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "key-not-found")

	parsed, err := x509.ParsePKIXPublicKey(s.Edwards.Public)
	require.NoError(t, err)
	public := parsed.(ed25519.PublicKey)
	for _, expected := range []crypto.PublicKey{nil, public} {
		signer, err := token.NonApproverSigner(t.Context(), expected)
		require.NoError(t, err)
		require.Equal(t, public, signer.Public())
		if s.EdwardsRefused != "" {
			_, err := signer.Sign(rand.Reader, []byte("a"), crypto.Hash(0))
			require.Equal(t, wire.KeyUnavailable, wire.CodeOf(err))
			require.ErrorContains(t, err, s.EdwardsRefused)
			require.NoError(t, token.Close())
			return
		}
		for _, message := range []string{"a", "certificate", string(make([]byte, 4000))} {
			signature, err := signer.Sign(rand.Reader, []byte(message), crypto.Hash(0))
			require.NoError(t, err)
			require.True(t, ed25519.Verify(public, []byte(message), signature))
		}
	}
	other, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	_, err = token.NonApproverSigner(t.Context(), other)
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	require.NoError(t, token.Close())
}
