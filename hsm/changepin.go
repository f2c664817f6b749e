package hsm

import (
	"bytes"
	"context"
	"errors"

	"github.com/better-compute/approver/core/wire"
)

// ChangePIN changes the PIN of whoever logged in: the user's after Login, the security officer's after LoginSO. The old
// one is that of the login, so it was right, and is not asked for again; next is asked for the new one, unless the token
// has a pin pad, which takes both. Errors are INVALID_INPUT for one that the token's bounds do not allow or that is the old
// one, and KEY_UNAVAILABLE. Log in anew to use the token.
func (a *Admin) ChangePIN(ctx context.Context, next PINSource) error {
	user := a.user()
	return a.change(ctx, user, func() error {
		t := a.token
		pin, err := a.nextPIN(ctx, next)
		if err != nil {
			return err
		}
		defer clear(pin)
		if !t.info.PINPad && bytes.Equal(pin, t.pin) {
			return wire.Errorf(wire.InvalidInput, "", "the new PIN is the old one; nothing was changed")
		}
		old, own := bytes.Clone(t.pin), bytes.Clone(pin)
		_, err = finish(ctx, t, "C_SetPIN", nothing(func() error {
			defer clear(old)
			defer clear(own)
			return a.manager.SetPIN(t.session, old, own)
		}))
		if err != nil {
			return a.changeRefusal(ctx, "C_SetPIN", user, err)
		}
		clear(t.pin)
		t.pin = bytes.Clone(pin)
		return nil
	})
}

// SetUserPIN sets the user's PIN, after LoginSO: the first one, or one in the place of a PIN that is locked or forgotten.
func (a *Admin) SetUserPIN(ctx context.Context, next PINSource) error {
	return a.change(ctx, UserSecurityOfficer, func() error {
		pin, err := a.nextPIN(ctx, next)
		if err != nil {
			return err
		}
		own := bytes.Clone(pin)
		clear(pin)
		_, err = finish(ctx, a.token, "C_InitPIN", nothing(func() error {
			defer clear(own)
			return a.manager.InitPIN(a.token.session, own)
		}))
		if err != nil {
			return a.changeRefusal(ctx, "C_InitPIN", UserNormal, err)
		}
		return nil
	})
}

// user is who logged in; the user where nobody did, who is then told.
func (a *Admin) user() UserType {
	<-a.token.turn
	defer a.token.release()
	if a.token.loggedIn {
		return a.token.user
	}
	return UserNormal
}

// nextPIN asks for a new PIN and holds it to the token's bounds; nil is for a pin pad.
func (a *Admin) nextPIN(ctx context.Context, source PINSource) ([]byte, error) {
	return newPIN(ctx, a.token.info, source)
}

func newPIN(ctx context.Context, info TokenInfo, source PINSource) ([]byte, error) {
	if info.PINPad {
		return nil, nil
	}
	if source == nil {
		source = PINMissing{}
	}
	pin, err := source.PIN(ctx, info)
	if err != nil {
		return nil, err
	}
	if len(pin) == 0 || len(pin) < info.MinPIN || len(pin) > info.MaxPIN {
		clear(pin)
		return nil, wire.Errorf(wire.InvalidInput, "", "the new PIN has another length than the token takes (%d to %d bytes); nothing was changed",
			max(info.MinPIN, 1), info.MaxPIN)
	}
	return pin, nil
}

// changeRefusal says what a failed change means. The token is asked for its state, since a wrong PIN costs a try here too.
func (a *Admin) changeRefusal(ctx context.Context, function string, user UserType, err error) error {
	rv, ok := errors.AsType[RV](err)
	if !ok || wire.CodeOf(err) != "" {
		return err
	}
	t := a.token
	record, err := finish(ctx, t, "C_GetTokenInfo", func() (TokenRecord, error) { return t.module.Token(t.info.Slot) })
	if err == nil {
		t.info = newTokenInfo(t.info.Slot, record)
	}
	return triedPIN{user, t.info, ofTPM(context.WithoutCancel(ctx), t.line, t.module, rv)}.newPINRefusal(function, rv)
}
