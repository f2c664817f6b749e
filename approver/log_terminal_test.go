//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What others wrote moves no cursor of a terminal: a decline is written with its reason escaped, as its readers take it, and an
// export, which must stay as it is, goes to a file.
func TestTerminalShowsNoForeignText(t *testing.T) {
	s := newSession(t)
	s.remembers()
	s.write("reason", []byte("no \u202e \u009b way"))
	c := s.onScreen(120, 60, `$approver batch decline --scope ok-2.json --key alice.pem --now `+now+` --yes --reason "$(cat reason)" 2>/dev/null`)
	require.Zero(t, c.end(), "%s", c.text())
	require.Contains(t, strings.ReplaceAll(c.text(), "\n", ""), `no \u202e \u009b way`)
	for _, args := range []string{"export", "receipt 1", "signature 1"} {
		c = s.onScreen(120, 60, "$approver log "+args)
		require.Equal(t, 2, c.end(), "%s", c.text())
		require.Contains(t, c.text(), "this is for a file, not for a terminal")
	}
	require.Contains(t, s.ok("log", "export").stdout, "\u202e", "elsewhere it is as it was")
	require.Contains(t, s.ok("log", "signature", "1").stdout, "\u202e")
}
