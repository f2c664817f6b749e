package hsm_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

// A flagged is a fake whose token also has these flags and PIN bounds.
type flagged struct {
	*fake
	flags    uint
	min, max uint
}

func (f *flagged) Token(id hsm.SlotID) (hsm.TokenRecord, error) {
	r, err := f.fake.Token(id)
	r.Flags |= f.flags
	r.MinPIN, r.MaxPIN = f.min, f.max
	return r, err
}

func TestSecurityOfficersPINStateIsLookedAtFirst(t *testing.T) {
	for flag, reason := range map[uint]string{hsm.FlagSOPINLocked: "pin-locked", hsm.FlagSOPINFinalTry: "pin-final-try"} {
		f := &flagged{fake: newFake(t, approverToken(newP256(t))), flags: flag}
		a, err := hsm.OpenAdmin(t.Context(), f, hsm.TokenOptions{URI: uri(t, approverURI)})
		require.NoError(t, err)
		err = a.LoginSO(t.Context(), fixedPIN("12345678"))
		requireRefused(t, err, wire.KeyUnavailable, reason)
		require.ErrorContains(t, err, "security officer's PIN")
		require.NoError(t, a.Login(t.Context(), fixedPIN("1234")), "the user's is another PIN")
		require.Equal(t, 1, f.count("C_Login"))
		require.NoError(t, a.Close())

		f = &flagged{fake: newFake(t, approverToken(newP256(t))), flags: flag}
		_, err = hsm.InitToken(t.Context(), f, hsm.Erase{Label: "approver", Serial: "01"}, "new", fixedPIN("12345678"), 0)
		requireRefused(t, err, wire.KeyUnavailable, reason)
		require.Zero(t, f.count("C_InitToken"))
	}
}

func TestNewPINsAreHeldToTheBounds(t *testing.T) {
	f := &flagged{fake: newFake(t, approverToken(newP256(t))), min: 4, max: 8}
	var got []string
	f.setPIN = func(old, next []byte) error {
		got = append(got, string(old)+" "+string(next))
		return nil
	}
	change := func(pin string) error { return changeFrom(t, f, fixedPIN(pin)) }
	for _, pin := range []string{"", "123", "123456789", "1234"} {
		requireRefused(t, change(pin), wire.InvalidInput, "")
	}
	require.Empty(t, got)
	require.NoError(t, change("12345678"))
	require.Equal(t, []string{"1234 12345678"}, got)
	for rv, want := range map[hsm.RV]struct {
		code   wire.Code
		reason string
	}{
		0xA0: {wire.KeyUnavailable, "pin-incorrect"}, 0xA1: {wire.InvalidInput, ""}, 0xA2: {wire.InvalidInput, ""},
		0xA4: {wire.KeyUnavailable, "pin-locked"}, 0x32: {wire.KeyUnavailable, "device-removed"}, 0xB5: {wire.KeyUnavailable, ""},
	} {
		f.setPIN = func([]byte, []byte) error { return rv }
		err := change("8765432")
		requireRefused(t, err, want.code, want.reason)
		require.NotContains(t, err.Error(), "8765432")
	}
	requireRefused(t, changeFrom(t, f, nil), wire.KeyUnavailable, "pin-missing")
}

func changeFrom(t *testing.T, f hsm.Module, source hsm.PINSource) error {
	a, err := hsm.OpenAdmin(t.Context(), f, hsm.TokenOptions{URI: uri(t, approverURI)})
	require.NoError(t, err)
	defer a.Close()
	require.NoError(t, a.Login(t.Context(), fixedPIN("1234")))
	return a.ChangePIN(t.Context(), source)
}

// asking fails the test where somebody is asked.
type asking struct{ t *testing.T }

func (a asking) PIN(context.Context, hsm.TokenInfo) ([]byte, error) {
	a.t.Error("a PIN was asked for")
	return nil, errors.New("asked")
}

func TestPINPadTakesBothPINs(t *testing.T) {
	f := newFake(t, softtoken.Token{Label: "approver", PINPad: true})
	called := false
	f.setPIN = func(old, next []byte) error {
		called = true
		require.Nil(t, old)
		require.Nil(t, next)
		return nil
	}
	a, err := hsm.OpenAdmin(t.Context(), f, hsm.TokenOptions{URI: uri(t, "pkcs11:token=approver")})
	require.NoError(t, err)
	defer a.Close()
	require.NoError(t, a.Login(t.Context(), asking{t}))
	require.NoError(t, a.ChangePIN(t.Context(), asking{t}))
	require.True(t, called)
}

func TestInitTokenAsksNothingOfATokenThatIsNotTheTarget(t *testing.T) {
	f := newFake(t, approverToken(newP256(t)))
	for _, target := range []hsm.InitTarget{hsm.Blank{}, hsm.Erase{Label: "approver", Serial: "02"}, hsm.Erase{Label: "", Serial: "01"}} {
		_, err := hsm.InitToken(t.Context(), f, target, "new", asking{t}, 0)
		requireRefused(t, err, wire.InvalidState, "")
	}
	for _, label := range []string{"", "a\x00", "a\n", "123456789012345678901234567890123", "a ", "\xff"} {
		_, err := hsm.InitToken(t.Context(), f, hsm.Erase{Label: "approver", Serial: "01"}, label, asking{t}, 0)
		requireRefused(t, err, wire.InvalidInput, "")
	}
	_, err := hsm.InitToken(t.Context(), f, nil, "new", asking{t}, 0)
	requireRefused(t, err, wire.InvalidInput, "")
	_, err = hsm.InitToken(t.Context(), f, hsm.Blank{Slot: 7}, "new", asking{t}, 0)
	requireRefused(t, err, wire.KeyUnavailable, "")
	_, err = hsm.InitToken(t.Context(), newSpy(t), hsm.Blank{}, "new", asking{t}, 0)
	requireRefused(t, err, wire.Unsupported, "")
	require.Zero(t, f.count("C_InitToken"))
	require.Equal(t, f.count("C_Initialize"), f.count("C_Finalize"))

	// A token that succeeds and does not say so afterwards has not succeeded.
	f.initToken = func(_ hsm.SlotID, soPIN []byte, label string) error {
		require.Equal(t, "87654321 new", string(soPIN)+" "+label)
		return nil
	}
	_, err = hsm.InitToken(t.Context(), f, hsm.Erase{Label: "approver", Serial: "01"}, "new", fixedPIN("87654321"), 0)
	require.ErrorContains(t, err, `calls itself "approver"`)
	// While a call hangs, nothing more is called.
	begun, hang := make(chan struct{}), make(chan struct{})
	defer close(hang)
	f.initToken = func(hsm.SlotID, []byte, string) error { close(begun); <-hang; return nil }
	before := f.count("C_Finalize")
	_, err = hsm.InitToken(t.Context(), f, hsm.Erase{Label: "approver", Serial: "01"}, "new", fixedPIN("87654321"), 50*time.Millisecond)
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	<-begun
	require.Equal(t, before, f.count("C_Finalize"))
}

// A token that was never initialised and refuses its new SO PIN as wrong was delivered with one.
func TestInitTokenOfADeliveredPIN(t *testing.T) {
	f := newFake(t, approverToken(newP256(t)))
	blank := blankToken{f}
	f.initToken = func(hsm.SlotID, []byte, string) error { return hsm.RV(0xA0) }
	_, err := hsm.InitToken(t.Context(), blank, hsm.Blank{}, "new", fixedPIN("12345678"), 0)
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.ErrorContains(t, err, "its maker delivers it with a security officer's PIN")
	_, err = hsm.InitToken(t.Context(), f, hsm.Erase{Label: "approver", Serial: "01"}, "new", fixedPIN("12345678"), 0)
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.NotContains(t, err.Error(), "delivers")
}

// blankToken is a token that was never initialised, and has no user PIN.
type blankToken struct{ *fake }

func (b blankToken) Token(id hsm.SlotID) (hsm.TokenRecord, error) {
	r, err := b.fake.Token(id)
	r.Flags &^= hsm.FlagTokenInitialized | hsm.FlagPINInitialized
	return r, err
}

// A denying token says that it was never initialised, though it has a user PIN and a key.
type denying struct{ *fake }

func (d denying) Token(id hsm.SlotID) (hsm.TokenRecord, error) {
	record, err := d.fake.Token(id)
	record.Flags &^= hsm.FlagTokenInitialized
	return record, err
}

func TestInitTokenErasesNoTokenThatHasAUserPIN(t *testing.T) {
	f := newFake(t, approverToken(newP256(t)))
	_, err := hsm.InitToken(t.Context(), denying{f}, hsm.Blank{}, "new", asking{t}, 0)
	requireRefused(t, err, wire.InvalidState, "")
	require.ErrorContains(t, err, "keys may be on it")
	require.Zero(t, f.count("C_InitToken"))
}
