//go:build linux

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// The window is looked at before the PIN is asked for, and once it was given.
func TestSignAcceptedSignsNothingAfterTheWindow(t *testing.T) {
	closes := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	statement, err := quorum.Unchecked("batch_1", merkle.Hash{1}, 2, uint64(closes.UnixMilli()), "compute.example.com")
	require.NoError(t, err)
	challenge, err := ceremony.NewUncheckedChallenge(statement, "batch_1")
	require.NoError(t, err)
	accepted, err := challenge.Accept("batch_1")
	require.NoError(t, err)
	for _, c := range []struct {
		name          string
		before, after time.Duration // of the end of the window, as the PIN is asked for and once it was given
		asked, late   bool
	}{
		{"in time", -time.Second, 0, true, false},
		{"while the PIN is waited for", -time.Second, time.Millisecond, true, true},
		{"before the PIN", time.Millisecond, time.Second, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			now, asked := closes.Add(c.before), false
			refused := wire.Errorf(wire.KeyUnavailable, "", "another key")
			s := &signing{accepted: accepted, candidate: &candidate{closes: closes, now: func() time.Time { return now },
				check: func(quorum.PublicKey) error { return refused }}}
			s.open = func(context.Context) (quorum.Signer, error) {
				asked, now = true, closes.Add(c.after)
				return noSigner{}, nil
			}
			_, err := new(app).signAccepted(t.Context(), s)
			require.Equal(t, c.asked, asked)
			if c.late {
				require.Equal(t, "window-closed", wire.ReasonOf(err))
			} else {
				require.Equal(t, refused, err, "it did not come as far as the key")
			}
		})
	}
}

type noSigner struct{ quorum.Signer }

func (noSigner) Public() quorum.PublicKey { return quorum.PublicKey{} }

// So it is wherever something is signed: the window closes while the passphrase is waited for.
func TestTerminalSignsNothingAfterTheWindow(t *testing.T) {
	const seconds = 6
	for name, c := range map[string]struct {
		line   string
		answer func(*screen)
	}{
		"sign":      {signOnScreen, (*screen).answer},
		"unchecked": {uncheckedOnScreen, func(c *screen) { c.await("Type the batch id: "); c.say("batch_ok2") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.sealed()
			end := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).Add(-seconds * time.Second)
			line := strings.Replace(strings.Replace(c.line, "alice.pem", "sealed.pem", 1), now, end.Format(time.RFC3339), 1)
			sc := s.onScreen(100, 40, line)
			c.answer(sc)
			const asks = "Passphrase of sealed.pem: "
			sc.until(func() bool { return strings.Contains(sc.text(), asks) || strings.Contains(sc.text(), "INVALID_STATE") }, "nothing comes")
			if strings.Contains(sc.text(), asks) { // else it took too long to come here
				time.Sleep(seconds * time.Second)
				sc.say(testPassphrase)
			}
			require.Equal(t, 1, sc.end())
			require.Contains(t, sc.text(), "INVALID_STATE: the window has closed while you read; nothing is signed")
			require.NoFileExists(t, s.path("sig.json"))
		})
	}
}
