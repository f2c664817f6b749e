//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// screenLine reviews with the module; what it leaves at its end is looked at a moment later.
func (f *faultyToken) screenLine() string {
	line := strings.Replace(strings.Replace(tokenLine, softHSMModule, f.module, 1), "--out sig.json", "--out out/sig.json; sleep 0.5", 1)
	return strings.Replace(line, "exec ", "", 1)
}

// A module that crashes takes the program with it. The terminal is as it was, and what happened stands on it.
func TestScreenAfterACrash(t *testing.T) {
	for _, how := range []string{"segv", "kill"} {
		t.Run(how, func(t *testing.T) {
			f := newFaultyToken(t)
			c := f.onScreen(100, 40, f.screenLine())
			words := c.readsAll()
			f.set("C_Login 0 0 " + how + " 1")
			c.press("A")
			c.confirms("415", words)
			c.onTop("PIN")
			c.listens()
			c.types(testPIN)
			c.press("Enter")
			c.end()
			require.Equal(t, "off", c.alternate())
			if how == "segv" {
				require.Contains(t, c.text(), "crashed, and this program with it")
			}
			require.NoFileExists(t, f.path("out/sig.json"))
		})
	}
}

// A token that waits, as for a touch: Esc stops it, and nothing is signed; the next try signs.
func TestScreenStopsAWait(t *testing.T) {
	f := newFaultyToken(t)
	c := f.onScreen(100, 40, f.screenLine())
	words := c.readsAll()
	f.set("C_Sign 0 0 hang 1")
	c.press("A")
	c.confirms("415", words)
	c.onTop("PIN")
	c.listens()
	c.types(testPIN)
	c.press("Enter")
	c.shows("Touch the token if it blinks")
	time.Sleep(100 * time.Millisecond)
	c.press("Escape")
	c.shows("Not signed.")
	require.NoFileExists(t, f.path("out/sig.json"))
	c.press("C-c")
	c.end()
	require.Contains(t, c.text(), "INVALID_STATE: ")
	require.NoFileExists(t, f.path("out/sig.json"))
}

// On its last try but one a PIN that was wrong cannot be typed again: the next one would be the final try.
func TestScreenLeavesTheFinalTry(t *testing.T) {
	f := newFaultyToken(t)
	c := f.onScreen(100, 40, f.screenLine())
	words := c.readsAll()
	f.set("C_Login 0 0 rv 0xa0", "C_GetTokenInfo 1 0 flags 0x20000")
	c.press("A")
	c.confirms("415", words)
	c.onTop("PIN")
	c.listens()
	c.types(wrongPIN)
	c.press("Enter")
	c.shows("Not signed.")
	c.shows("one try left before the PIN locks")
	require.Equal(t, 1, f.count("C_Login"))
	c.press("C-c")
	c.end()
	require.Contains(t, c.text(), "KEY_UNAVAILABLE: ", "what was refused is how it ends")
}
