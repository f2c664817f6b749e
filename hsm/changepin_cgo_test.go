//go:build cgo && unix

package hsm_test

import (
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

func TestSoftHSMChangesPINs(t *testing.T) {
	h := newSoftHSM(t, "approver")
	m := load(t, h.module)
	logsIn := func(pin string) error {
		token := open(t, m, "pkcs11:token=approver")
		defer token.Close()
		return token.Login(t.Context(), fixedPIN(pin))
	}
	a := admin(t, m, "pkcs11:token=approver")
	require.NoError(t, a.ChangePIN(t.Context(), fixedPIN("567890")))
	require.NoError(t, a.ChangePIN(t.Context(), fixedPIN("56789")))
	requireRefused(t, a.ChangePIN(t.Context(), fixedPIN("56789")), wire.InvalidInput, "")
	require.NoError(t, a.Close())
	require.NoError(t, logsIn("56789"))
	requireRefused(t, logsIn("1234"), wire.KeyUnavailable, "pin-incorrect")
	a = openAdmin(t, m, "pkcs11:token=approver")
	requireRefused(t, a.LoginSO(t.Context(), fixedPIN("87654321")), wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, hsm.PINCountLow, a.Info().SOPIN)
	requireRefused(t, a.SetUserPIN(t.Context(), fixedPIN("1234")), wire.InvalidState, "")
	require.NoError(t, a.Close())
	a = openAdmin(t, m, "pkcs11:token=approver")
	require.NoError(t, a.LoginSO(t.Context(), fixedPIN("12345678")))
	_, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "k", Algorithm: hsm.AlgorithmP256})
	requireRefused(t, err, wire.InvalidState, "")
	require.NoError(t, a.SetUserPIN(t.Context(), fixedPIN("1234")))
	require.NoError(t, a.ChangePIN(t.Context(), fixedPIN("87654321"))) // the security officer's own
	requireRefused(t, a.SetUserPIN(t.Context(), fixedPIN("1")), wire.InvalidInput, "")
	require.NoError(t, a.Close())
	require.NoError(t, logsIn("1234"))
	a = openAdmin(t, m, "pkcs11:token=approver")
	require.NoError(t, a.LoginSO(t.Context(), fixedPIN("87654321")))
}
