//go:build cgo && unix

package hsm_test

import (
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// admin opens the token to change it, and logs in.
func (s suite) admin(t *testing.T, m *spy, key hsm.URI) *hsm.Admin {
	t.Helper()
	admin, err := hsm.OpenAdmin(t.Context(), m.Module, hsm.TokenOptions{URI: key})
	require.NoError(t, err)
	require.NoError(t, admin.Login(t.Context(), fixedPIN(s.PIN)))
	return admin
}

// suiteMakesKey: a key that we make is fit, signs, stands on the token beside the others, and goes again without a trace.
func suiteMakesKey(t *testing.T, s suite, m *spy) {
	spec := hsm.NewKeySpec{Label: "made", Algorithm: hsm.AlgorithmP256}
	key := uri(t, "pkcs11:token="+s.Token+";object=made")
	admin := s.admin(t, m, key)
	made, err := admin.GenerateKey(t.Context(), spec)
	require.NoError(t, err)
	signer, ok := made.Signer()
	require.True(t, ok)
	requireSigns(t, signer, signer.Public())
	fitness, err := admin.Check(t.Context(), signer.Public())
	require.NoError(t, err)
	require.True(t, fitness.Fit(), "%v", fitness.Reasons())
	require.NoError(t, admin.Close())

	admin = s.admin(t, m, key) // an error ends the session
	_, err = admin.GenerateKey(t.Context(), spec)
	requireRefused(t, err, wire.Conflict, "")
	require.NoError(t, admin.Close())

	token := s.login(t, m, "")
	listed, err := token.Objects(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 2*len(s.all())+2)
	require.NoError(t, token.Close())
	token = open(t, m, made.Object().URI.String())
	require.NoError(t, token.Login(t.Context(), fixedPIN(s.PIN)))
	found, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, found, signer.Public())
	require.NoError(t, token.Close())

	admin = s.admin(t, m, made.Object().URI)
	deletion, err := admin.PlanDeletion(t.Context())
	require.NoError(t, err)
	require.Len(t, deletion.Objects(), 2)
	deleted, err := deletion.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, deleted, 2)
	require.NoError(t, admin.Close())
	token = s.login(t, m, "")
	requireListed(t, token, s.all(), hsm.PrivateKey, hsm.PublicKey)
	require.NoError(t, token.Close())
}
