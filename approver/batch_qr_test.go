package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A signature that is there is drawn without signing again: on a stream, as a picture, on a terminal with room for it.
func TestSignatureAsQR(t *testing.T) {
	s := newSession(t)
	s.ok(append(sign("ok-2.json"), "--out", "sig.json")...)
	r := s.ok("batch", "qr", "sig.json")
	requireDraws(t, string(s.read("sig.json")), r.stdout)
	require.Empty(t, r.stderr)

	r = s.ok("batch", "qr", "sig.json", "--png", "sig.png")
	require.Equal(t, "written sig.png\n", r.stderr)
	require.Empty(t, r.stdout)
	s.requirePicture("sig.png", "sig.json")
	before := s.read("sig.png")
	s.refused("IO_ERROR", "", "batch", "qr", "sig.json", "--png", "sig.png")
	require.Equal(t, before, s.read("sig.png"))

	require.Contains(t, s.refused("INVALID_INPUT", "", "batch", "qr", "ok-2.json").stderr, "ok-2.json: ")
	s.refused("NOT_FOUND", "", "batch", "qr", "absent.json")
	for _, args := range [][]string{{"batch", "qr"}, {"batch", "qr", "sig.json", "sig.json"}, {"batch", "qr", "sig.json", "--png", ""}} {
		require.Equal(t, 2, s.run(args...).status, args)
	}
	require.Equal(t, 1, s.sh("$approver batch qr sig.json >/dev/full").status)

	c := s.onScreen(80, 24, "exec $approver batch qr sig.json")
	require.Equal(t, 1, c.end())
	require.Regexp(t, `UNSUPPORTED: the QR code needs a terminal of \d\d columns and \d\d rows; this one has 80 and 24`, c.text())
	require.Contains(t, c.text(), "try: make the terminal larger, or write a picture with --png")
	require.NotContains(t, c.text(), "▀")
	c = s.onScreen(120, 60, "exec $approver batch qr sig.json")
	require.Zero(t, c.end())
	require.Contains(t, c.text(), "▀")
}
