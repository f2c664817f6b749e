package hsm

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/better-compute/approver/core/wire"
)

// An InitTarget is what InitToken may initialise: Blank or Erase.
type InitTarget interface {
	slot() SlotID
	check(TokenInfo) error
}

// Blank is the slot of a token that was never initialised. Nothing is on it to lose.
type Blank struct{ Slot SlotID }

// Erase is the slot of a token that was initialised, with the label and serial that a person confirmed: every key on it
// goes. A token that says otherwise by then is left as it is.
type Erase struct {
	Slot          SlotID
	Label, Serial string
}

func (b Blank) slot() SlotID { return b.Slot }
func (e Erase) slot() SlotID { return e.Slot }

func (b Blank) check(info TokenInfo) error {
	if !info.Initialized() && info.Flags&FlagPINInitialized != 0 {
		return wire.Errorf(wire.InvalidState, "",
			"the token says that it was never initialised, and that it has a user PIN: label %q, serial %q; keys may be on it; nothing was changed", info.Label, info.Serial)
	}
	if info.Initialized() {
		return wire.Errorf(wire.InvalidState, "", "token %q (serial %q) was initialised already; nothing was changed", info.Label, info.Serial)
	}
	return nil
}

func (e Erase) check(info TokenInfo) error {
	if !info.Initialized() {
		return wire.Errorf(wire.InvalidState, "", "the token was never initialised, so it is not the one that was confirmed; nothing was changed")
	}
	if info.Label != e.Label || info.Serial != e.Serial {
		return wire.Errorf(wire.InvalidState, "", "the slot has token %q (serial %q), not the confirmed %q (serial %q); nothing was changed",
			info.Label, info.Serial, e.Label, e.Serial)
	}
	return (triedPIN{user: UserSecurityOfficer, info: info}).check(false)
}

// InitToken initialises a token and gives it a label: 1 to 32 bytes of UTF-8 without control characters, and no space at
// its end. soPIN is the security officer's: of a Blank token the one it is to have, of one to Erase the present one, of
// which one entry is tried and which is not tried where the token shows its last try. A pin pad asks itself. The token has
// no user PIN then: OpenAdmin, LoginSO, SetUserPIN. The module is initialised and finalized in here. timeout is that of
// each call; 0 is 60 s. Errors are INVALID_INPUT, INVALID_STATE for a token that is not the target, KEY_UNAVAILABLE.
func InitToken(ctx context.Context, m Module, target InitTarget, label string, soPIN PINSource, timeout time.Duration) (info TokenInfo, err error) {
	manager, err := managerOf(m)
	if err != nil {
		return info, err
	}
	if target == nil {
		return info, wire.Errorf(wire.InvalidInput, "", "there is no token to initialise")
	}
	if label == "" || len(label) > 32 || !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) || strings.HasSuffix(label, " ") {
		return info, wire.Errorf(wire.InvalidInput, "",
			"the label of a token is 1 to 32 bytes of UTF-8 without control characters, and no space at its end")
	}
	err = withModule(ctx, m, timeout, func(l *line) (err error) {
		info, err = initToken(ctx, l, manager, target, label, soPIN)
		return err
	})
	return info, err
}

func initToken(ctx context.Context, l *line, m Manager, target InitTarget, label string, source PINSource) (TokenInfo, error) {
	if _, err := call(ctx, l, "C_GetSlotList", m.Slots); err != nil { // some modules want it before any other call on a slot
		return TokenInfo{}, moduleRefusal("C_GetSlotList", err)
	}
	slot := target.slot()
	look := func(ctx context.Context) (TokenInfo, error) {
		record, err := call(ctx, l, "C_GetTokenInfo", func() (TokenRecord, error) { return m.Token(slot) })
		return newTokenInfo(slot, record), refusal("C_GetTokenInfo", err)
	}
	before, err := look(ctx)
	if err != nil {
		return TokenInfo{}, err
	}
	if err := target.check(before); err != nil {
		return TokenInfo{}, err
	}
	pin, err := newPIN(ctx, before, source)
	if err != nil {
		return TokenInfo{}, err
	}
	own := bytes.Clone(pin)
	clear(pin)
	whole := context.WithoutCancel(ctx) // a token is not left half initialised
	_, err = call(whole, l, "C_InitToken", nothing(func() error {
		defer clear(own)
		return m.InitToken(slot, own, label)
	}))
	after, lookErr := TokenInfo{}, error(nil)
	if wire.ReasonOf(err) != "timeout" {
		after, lookErr = look(whole)
	}
	if rv, ok := errors.AsType[RV](err); ok {
		if lookErr != nil {
			after = before
		}
		return TokenInfo{}, initRefusal(target, rv, triedPIN{UserSecurityOfficer, after, ofTPM(whole, l, m, rv)})
	} else if err != nil {
		return TokenInfo{}, err
	}
	if lookErr == nil && (!after.Initialized() || after.Label != label) {
		lookErr = wire.Errorf(wire.KeyUnavailable, "", "C_InitToken succeeded, yet the token calls itself %q", after.Label)
	}
	return after, lookErr
}

// initRefusal says what a refusal of C_InitToken means. Of a token that was never initialised the PIN is a new one; where it is
// wrong all the same, the maker delivers the token with one (details "delivered").
func initRefusal(target InitTarget, rv RV, p triedPIN) error {
	if _, blank := target.(Blank); !blank || rv != rvPINIncorrect {
		return p.newPINRefusal("C_InitToken", rv)
	}
	return wire.Errorf(wire.KeyUnavailable, "pin-incorrect",
		"wrong PIN: C_InitToken gave %w of a token that was never initialised: its maker delivers it with a security officer's PIN; nothing was changed", rv).
		With("whose", "security officer").With("delivered", true)
}
