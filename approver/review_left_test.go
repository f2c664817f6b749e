//go:build linux

package main

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// Whoever leaves what must not be signed leaves with that, and so it is recorded.
func TestScreenEndsWithTheStop(t *testing.T) {
	s := newSession(t)
	s.remembers()
	c := s.onScreen(100, 40, "exec $approver review ok-2.json --key alice.pem --max-hours 1 --now "+now)
	c.onTop("Overview")
	c.shows("STOP window-long")
	c.press("q")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "INVALID_STATE: the window")
	require.NotContains(t, c.text(), "left without")
	require.Contains(t, s.ok("log", "show").stdout, "window-long")
}

// The last refusal at signing stays, whatever is done after it; that somebody stopped takes nothing back of it.
func TestRoadKeepsTheLastRefusal(t *testing.T) {
	s := newSession(t)
	r := s.road()
	r.flags.key = s.path("alice.pem")
	_, err := r.open(t.Context(), s.path("ok-2.json"), func(int64, int64) {})
	require.NoError(t, err)
	require.Equal(t, errInterrupted, r.leaving(errInterrupted))
	changed := errFileChanged("x")
	for _, err := range []error{errInterrupted, changed, errInterrupted, nil} {
		r.refuses(err)
	}
	require.Equal(t, changed, r.leaving(errInterrupted))
	other := wire.Errorf(wire.IOError, "", "the terminal: gone")
	require.Equal(t, error(other), r.leaving(other))
	r.reset(nil)
	require.Equal(t, errInterrupted, r.leaving(errInterrupted))
}

// A file that is known to be another is refused by what it is.
func TestReviewOfAnotherFile(t *testing.T) {
	s := newSession(t)
	for name, says := range map[string]string{"alice.pem.pub": "is a public key; wanted: a scope", "alice.pem": "is a private key; wanted: a scope"} {
		r := s.run("review", name)
		require.Contains(t, r.stderr, says)
	}
}

// A laptop that slept has a later clock and the monotonic one of before; one whose clock was set back has it the other way round.
func TestTimePassesWhileTheLaptopSleeps(t *testing.T) {
	begun := time.Now()
	apart := func(monotonic, wall time.Duration) time.Time {
		at := begun.Add(wall)
		(*[2]int64)(unsafe.Pointer(&at))[1] += int64(monotonic - wall) // the monotonic reading, as package time keeps it
		require.Equal(t, monotonic, at.Sub(begun))
		require.Equal(t, wall, at.Round(0).Sub(begun.Round(0)))
		return at
	}
	require.Equal(t, time.Second, passed(begun, apart(time.Second, time.Second)))
	require.Equal(t, 8*time.Hour, passed(begun, apart(time.Second, 8*time.Hour)))
	require.Equal(t, time.Minute, passed(begun, apart(time.Minute, -time.Hour)))
	a := &app{now: func() time.Time { return begun }}
	ticks, err := a.ticking("2026-11-30T12:00:00Z")
	require.NoError(t, err)
	a.now = func() time.Time { return begun.Round(0).Add(8 * time.Hour) } // no monotonic reading: what the wall says
	require.Equal(t, "2026-11-30T20:00:00Z", ticks().UTC().Format(time.RFC3339))
}
