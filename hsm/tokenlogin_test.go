package hsm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

func TestLoginNeverWithoutPIN(t *testing.T) {
	for name, source := range map[string]hsm.PINSource{
		"no source": nil, "missing": hsm.PINMissing{}, "empty": fixedPIN(""), "no terminal": hsm.NewPINTerminal(nil),
	} {
		t.Run(name, func(t *testing.T) {
			m := newSpy(t, approverToken(newP256(t)))
			requireRefused(t, open(t, m, approverURI).Login(t.Context(), source), wire.KeyUnavailable, "pin-missing")
			require.Zero(t, m.count("C_Login"))
		})
	}
}

// A wrong PIN is tried once; on the final try nobody is asked and nothing is tried, but where that is allowed.
func TestLoginCountsDown(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	token := open(t, m, approverURI)
	err := token.Login(t.Context(), fixedPIN("0000"))
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.ErrorContains(t, err, "CKR_PIN_INCORRECT (0xa0)")
	require.ErrorContains(t, err, hsm.PINCountLow.String())
	require.NotContains(t, err.Error(), "0000")
	require.Equal(t, 1, m.count("C_Login"))
	requireRefused(t, token.Login(t.Context(), fixedPIN("0000")), wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, hsm.PINFinalTry, token.Info().PIN)

	requireRefused(t, token.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "pin-final-try")
	require.Equal(t, 2, m.count("C_Login"))
	require.NoError(t, token.Close())

	allowed, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, approverURI), AllowFinalTry: true})
	require.NoError(t, err)
	requireRefused(t, allowed.Login(t.Context(), fixedPIN("0000")), wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, 3, m.count("C_Login"))
	requireRefused(t, allowed.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "pin-locked")
	require.Equal(t, 3, m.count("C_Login"), "a locked PIN is not tried")
	require.NoError(t, allowed.Close())
}

func TestLoginRefusals(t *testing.T) {
	for rv, reason := range map[hsm.RV]string{
		0xA0: "pin-incorrect", 0xA2: "pin-incorrect", 0xA4: "pin-locked", 0x100: "", 0x104: "", 0x102: "pin-missing",
		0x50: "pin-missing", 0x32: "device-removed", 0x06: "",
	} {
		t.Run(rv.Error(), func(t *testing.T) {
			m := newSpy(t, approverToken(newP256(t)))
			m.fail["C_Login"] = rv
			err := open(t, m, approverURI).Login(t.Context(), fixedPIN("1234"))
			requireRefused(t, err, wire.KeyUnavailable, reason)
			require.ErrorContains(t, err, rv.Error())
			require.Equal(t, 1, m.count("C_Login"))
		})
	}
}

func TestLoginTwiceIsAnError(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	err := token.Login(t.Context(), fixedPIN("anything"))
	requireRefused(t, err, wire.KeyUnavailable, "")
	require.ErrorContains(t, err, "CKR_USER_ALREADY_LOGGED_IN (0x100)")
}

func TestPINPadGetsNull(t *testing.T) {
	key := newP256(t)
	definition := approverToken(key)
	definition.PINPad, definition.PIN = true, ""
	definition.Keys[0].AlwaysAuthenticate = true
	m := newSpy(t, definition)
	m.login = func(_ hsm.UserType, pin []byte) error {
		if pin != nil {
			return hsm.RV(0x07)
		}
		return nil
	}
	token := open(t, m, approverURI)
	require.True(t, token.Info().PINPad)
	require.NoError(t, token.Login(t.Context(), nil))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	requireSigns(t, k, publicOf(t, key))
}

func TestAlwaysAuthenticateLogsInForEachSignature(t *testing.T) {
	key := newP256(t)
	definition := approverToken(key)
	definition.Keys[0].AlwaysAuthenticate = true
	m := newSpy(t, definition)
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, k, publicOf(t, key))
	calls := strings.Join(m.calls, " ")
	require.Equal(t, 2, strings.Count(calls, "C_SignInit C_Login C_Sign"))
	require.Equal(t, 3, m.count("C_Login"))
}

// The PIN is gone once no key needs it, and a key that then does is refused without a login rather than tried with none.
func TestPINIsWipedAndNotMissed(t *testing.T) {
	plain, always := newP256(t), newP256(t)
	definition := approverToken(plain)
	definition.Keys = append(definition.Keys, softtoken.Key{Label: "always", ID: []byte{2}, Private: always, AlwaysAuthenticate: true})
	m := newSpy(t, definition)
	var atModule []byte
	m.login = func(_ hsm.UserType, pin []byte) error { atModule = pin; return nil }
	token := open(t, m, "pkcs11:token=approver;type=private")
	pin := []byte("1234")
	require.NoError(t, token.Login(t.Context(), sourceFunc(func() []byte { return pin })))
	require.Equal(t, make([]byte, 4), atModule, "the module's copy is wiped when C_Login returns")
	require.Equal(t, "1234", string(pin))
	_, err := token.Key(t.Context(), publicOf(t, plain))
	require.NoError(t, err)
	require.Equal(t, make([]byte, 4), pin)
	k, err := token.Key(t.Context(), publicOf(t, always))
	require.NoError(t, err)
	_, err = k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "pin-missing")
	require.Equal(t, 1, m.count("C_Login"))
}

// A key that needs the PIN for each signature keeps it until Close.
func TestCloseWipesPIN(t *testing.T) {
	definition := approverToken(newP256(t))
	definition.Keys[0].AlwaysAuthenticate = true
	token := open(t, newSpy(t, definition), approverURI)
	pin := []byte("1234")
	require.NoError(t, token.Login(t.Context(), sourceFunc(func() []byte { return pin })))
	_, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.Equal(t, "1234", string(pin))
	require.NoError(t, token.Close())
	require.Equal(t, make([]byte, 4), pin)
}

type sourceFunc func() []byte

func (f sourceFunc) PIN(context.Context, hsm.TokenInfo) ([]byte, error) { return f(), nil }
