package tui

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// What a token calls itself, where a key file lies and what a module says come from outside as well: no screen that shows
// them shows a dangerous rune.
func TestNoTokenShowsADangerousRune(t *testing.T) {
	for name, s := range dangerous {
		t.Run(name, func(t *testing.T) { eachOfAToken(t, s, requireSafe) })
	}
	eachOfAToken(t, "harmless", func(t require.TestingT, view string, width, _ int) { // they are on the screen
		if width > 40 { // where no row breaks them
			require.Contains(t, view, "aharmlessb")
		}
	})
}

// eachOfAToken draws each screen that shows what a token or module says, and holds each drawing against a wish.
func eachOfAToken(t *testing.T, s string, holds func(t require.TestingT, view string, width, height int)) {
	x := review.Escape("a" + s + "b")
	token := Token{Label: x, Serial: x, State: "PIN ready", Wrong: true}
	keypad, file := token, Token{Label: x, File: true, Wrong: true}
	keypad.Keypad = true
	refused := wire.Errorf(wire.KeyUnavailable, "", "the module says: %s", "a"+s+"b")
	recorded := wire.Errorf(wire.IOError, "", "no place: %s", "a"+s+"b").With("signed", true)
	done := doneOf(t)
	done.Written, done.Ledger, done.File = x, x, make([]byte, 4000) // which no QR code holds: that has colours of its own
	for _, on := range map[string]screen{
		"PIN": newPIN(newPINQuestion(token), aPurpose), "passphrase": newPIN(newPINQuestion(file), aPurpose),
		"touch": &signing{touch: &token, purpose: aPurpose}, "keypad": &signing{touch: &keypad, purpose: aPurpose},
		"refused": &signing{failed: refused}, "recorded": &signing{failed: recorded}, "a plain error": &signing{failed: errors.New("a" + s + "b")},
		"done": newDone(&done, aPurpose, ""),
	} {
		o := smallBatch(t)()
		o.Path, o.Bar, o.Out, o.Key = x, x, x, "kid"
		d := driveOpened(t, o)
		d.m.session.road.Hint = func(error) string { return "try again" }
		d.m.stack = append(d.m.stack, on)
		for _, size := range sizes {
			holds(t, d.size(size[0], size[1]).view(), size[0], size[1])
		}
	}
}
