//go:build linux

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A token with a keypad is given no PIN, and the screen asks for none: it says where the PIN goes, and Esc stops the wait.
func TestScreenOfATokenWithAKeypad(t *testing.T) {
	const keypad = "C_GetTokenInfo 0 0 flags 0x100"
	f := newFaultyToken(t)
	f.set(keypad, "C_Login 0 0 hang 1")
	c := f.onScreen(100, 40, f.screenLine())
	words := c.readsAll()
	c.press("A")
	c.confirms("415", words)
	c.onTop("Signing")
	c.shows("Enter the PIN on the token's own keypad.")
	c.shows(`token     "approver"`)
	require.NotContains(t, c.shown(), "Type the PIN")
	c.press("Escape")
	c.shows("Not signed.")
	require.Zero(t, f.count("C_Sign"))
	c.press("C-c")
	c.end()
	require.NoFileExists(t, f.path("out/sig.json"))

	f.set(keypad, "C_Login 0 0 pinpad "+testPIN)
	c = f.onScreen(100, 40, f.screenLine())
	words = c.readsAll()
	c.press("A")
	c.confirms("415", words)
	c.onTop("Done")
	require.Equal(t, 1, f.count("C_Login"))
	c.press("C-c")
	c.end()
	f.requireSignatureOf("out/sig.json", "k256.pem.pub")
}
