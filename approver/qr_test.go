package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"rsc.io/qr"
)

// The QR code is drawn beside the signature, whole, with its white border, in colours of its own.
func TestQR(t *testing.T) {
	s := newSession(t)
	r := s.ok(append(sign("ok-2.json"), "--qr")...)
	requireDraws(t, r.stdout, r.stderr)
}

// requireDraws reads the modules off the half blocks and holds them against the code of the data.
func requireDraws(t *testing.T, data, text string) {
	t.Helper()
	code, err := qr.Encode(data, qr.L)
	require.NoError(t, err)
	const on, off, border = "\x1b[30;47m", "\x1b[0m", 4
	y := -border
	for line := range strings.SplitSeq(text, "\n") {
		line, ok := strings.CutPrefix(line, on)
		if !ok {
			continue
		}
		line, ok = strings.CutSuffix(line, off)
		require.True(t, ok, "the colours go on after the line")
		require.Len(t, []rune(line), code.Size+2*border)
		for x, r := range []rune(line) {
			want := map[[2]bool]rune{{false, false}: ' ', {true, false}: '▀', {false, true}: '▄', {true, true}: '█'}[[2]bool{code.Black(x-border, y), code.Black(x-border, y+1)}]
			require.Equal(t, string(want), string(r), "column %d, rows %d and %d", x, y, y+1)
		}
		y += 2
	}
	require.GreaterOrEqual(t, y, code.Size+border, "rows are missing")
}

// A terminal that is too small is told the size that is needed; the signature is written all the same.
func TestQRNeedsRoom(t *testing.T) {
	s := newSession(t)
	line := "exec $approver batch sign --scope ok-2.json --key alice.pem --yes --qr --now " + now + " --out sig.json"
	c := s.onScreen(80, 24, line)
	require.Zero(t, c.end())
	require.Regexp(t, `the QR code needs a terminal of \d\d columns and \d\d rows; this one has 80 and 24`, c.text())
	require.Contains(t, c.text(), "--qr-png FILE writes it as a picture")
	require.NotContains(t, c.text(), "▀")
	s.requireSignature("sig.json", "alice")

	s = newSession(t)
	c = s.onScreen(120, 60, line)
	require.Zero(t, c.end())
	require.NotContains(t, c.text(), "needs a terminal")
	require.Contains(t, c.text(), "▀")
}
