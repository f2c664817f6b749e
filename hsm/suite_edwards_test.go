//go:build cgo && unix

package hsm_test

import (
	"crypto/ed25519"
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

// An Ed25519 key is no approver's key.
func suiteEdwards(t *testing.T, s suite, m *spy) {
	token := s.login(t, m, ";object="+s.Edwards.Label)
	_, shown, err := token.Public(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.False(t, shown)
	_, err = token.Key(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "key-not-found")
	require.NoError(t, token.Close())
}
