package hsm

import (
	"bytes"
	"context"
	"errors"

	"github.com/better-compute/approver/core/wire"
)

// Login logs in as the user, in one attempt. It reads the token's PIN state first: a PIN that is locked
// ("pin-locked"), or on its final try without AllowFinalTry ("pin-final-try"), is neither asked for nor tried. The source
// is not asked where the token has a pin pad, whose login is C_Login with a NULL PIN; a nil source is PINMissing. Errors
// are KEY_UNAVAILABLE, those reasons and "pin-missing", "pin-incorrect", "device-removed", "timeout"; none where somebody
// was logged in already, which is an error because the PIN was not checked. A token whose PIN was wrong can be logged in
// again, when a person says so.
func (t *Token) Login(ctx context.Context, source PINSource) error {
	if err := t.take(ctx); err != nil {
		return err
	}
	defer t.release()
	return t.said(t.loginOnce(ctx, UserNormal, source))
}

// loginOnce is one login of the user or the security officer, after a look at the state of that one's PIN.
func (t *Token) loginOnce(ctx context.Context, user UserType, source PINSource) error {
	record, err := call(ctx, t.line, "C_GetTokenInfo", func() (TokenRecord, error) { return t.module.Token(t.info.Slot) })
	if err != nil {
		return refusal("C_GetTokenInfo", err)
	}
	t.info = newTokenInfo(t.info.Slot, record)
	if err := (triedPIN{user: user, info: t.info}).check(t.options.AllowFinalTry); err != nil {
		return err
	}
	pin, err := t.ask(ctx, source)
	if err != nil {
		return err
	}
	if err := t.login(ctx, user, pin); err != nil {
		clear(pin)
		return err
	}
	clear(t.pin)
	t.loggedIn, t.user, t.pin = true, user, pin
	return nil
}

// ask gives the PIN, or nil for a pin pad.
func (t *Token) ask(ctx context.Context, source PINSource) ([]byte, error) {
	if t.info.PINPad {
		return nil, nil
	}
	if source == nil {
		source = PINMissing{}
	}
	return source.PIN(ctx, t.info)
}

// login calls C_Login, but never without a PIN where the token has no pin pad: that can cost a try. The call has a copy of the PIN of its own, wiped when the module gives it back: one that hangs
// must not see the PIN change under it and take what it sees for a try.
func (t *Token) login(ctx context.Context, user UserType, pin []byte) error {
	if len(pin) == 0 && !t.info.PINPad {
		return wire.Errorf(wire.KeyUnavailable, "pin-missing", "the PIN is empty; no login was tried")
	}
	own := bytes.Clone(pin)
	_, err := call(ctx, t.line, "C_Login", nothing(func() error {
		defer clear(own)
		return t.module.Login(t.session, user, own)
	}))
	rv, ok := errors.AsType[RV](err)
	if !ok || wire.CodeOf(err) != "" {
		t.tried = err != nil
		return err
	}
	record, err := call(ctx, t.line, "C_GetTokenInfo", func() (TokenRecord, error) { return t.module.Token(t.info.Slot) })
	if err == nil {
		t.info = newTokenInfo(t.info.Slot, record)
	}
	return triedPIN{user, t.info, ofTPM(ctx, t.line, t.module, rv)}.refusal("C_Login", rv)
}
