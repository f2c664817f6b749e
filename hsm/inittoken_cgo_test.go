//go:build cgo && unix

package hsm_test

import (
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

func TestSoftHSMInitialises(t *testing.T) {
	h := newSoftHSM(t)
	m := load(t, h.module)
	slots := func() []hsm.SlotListing {
		i, err := hsm.ListSlots(t.Context(), m, 0)
		require.NoError(t, err)
		require.Contains(t, i.Library.Description, "PKCS11")
		return i.Slots
	}
	blank := slots()
	require.Len(t, blank, 1)
	require.False(t, blank[0].Token.Initialized())
	info, err := hsm.InitToken(t.Context(), m, hsm.Blank{Slot: blank[0].Slot}, "Fleet é", fixedPIN("12345678"), 0)
	require.NoError(t, err)
	require.Equal(t, "Fleet é", info.Label)
	require.Equal(t, hsm.PINNotSet, info.PIN)
	a := openAdmin(t, m, info.URI().String())
	require.NoError(t, a.LoginSO(t.Context(), fixedPIN("12345678")))
	require.NoError(t, a.SetUserPIN(t.Context(), fixedPIN("1234")))
	require.NoError(t, a.Close())
	a = admin(t, m, info.URI().String())
	_, err = a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "k", Algorithm: hsm.AlgorithmP256})
	require.NoError(t, err)
	require.NoError(t, a.Close())

	// Slots are numbered anew, so the target is looked up again.
	slot := slots()[0]
	require.Equal(t, info.Serial, slot.Token.Serial)
	require.Contains(t, slot.Token.FlagNames(), "TOKEN_INITIALIZED")
	require.NotEqual(t, "0.0", slot.Token.Firmware.String())
	for name, target := range map[string]hsm.InitTarget{
		"not blank":      hsm.Blank{Slot: slot.Slot},
		"another label":  hsm.Erase{Slot: slot.Slot, Label: "fleet é", Serial: info.Serial},
		"another serial": hsm.Erase{Slot: slot.Slot, Label: info.Label, Serial: "0"},
	} {
		_, err := hsm.InitToken(t.Context(), m, target, "new", fixedPIN("12345678"), 0)
		requireRefused(t, err, wire.InvalidState, "")
		require.ErrorContains(t, err, "nothing was changed", name)
	}
	erase := hsm.Erase{Slot: slot.Slot, Label: info.Label, Serial: info.Serial}
	_, err = hsm.InitToken(t.Context(), m, erase, "new", fixedPIN("12345679"), 0)
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.Len(t, objectsOf(t, m, info.URI().String()), 2)
	again, err := hsm.InitToken(t.Context(), m, erase, "new", fixedPIN("12345678"), 0)
	require.NoError(t, err)
	require.Equal(t, "new", again.Label)
	require.Equal(t, hsm.PINNotSet, again.PIN)
}
