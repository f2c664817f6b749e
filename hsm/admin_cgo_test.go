//go:build cgo && unix

package hsm_test

import (
	"testing"

	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

func openAdmin(t *testing.T, m hsm.Module, s string) *hsm.Admin {
	t.Helper()
	a, err := hsm.OpenAdmin(t.Context(), m, hsm.TokenOptions{URI: uri(t, s)})
	require.NoError(t, err)
	t.Cleanup(func() { a.Close() })
	return a
}

// admin opens the token with a read-write session and logs in as the user.
func admin(t *testing.T, m hsm.Module, s string) *hsm.Admin {
	t.Helper()
	a := openAdmin(t, m, s)
	require.NoError(t, a.Login(t.Context(), fixedPIN("1234")))
	return a
}

// objectsOf lists a token with another session.
func objectsOf(t *testing.T, m hsm.Module, s string) []hsm.KeyObject {
	t.Helper()
	token := open(t, m, s)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	objects, err := token.Objects(t.Context())
	require.NoError(t, err)
	require.NoError(t, token.Close())
	return objects
}
