//go:build linux

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Without a key a scope can be read, not decided.
func TestScreenReadsWithoutAKey(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver review ok-2.json --now "+now)
	c.onTop("Overview")
	c.shows("It can only be read here, not approved:")
	c.shows("no key is named, by --key or the configuration")
	c.press("A")
	c.shows("it can only be read here; the overview says why")
	c.press("D")
	c.shows("this cannot be declined")
	c.press("3", "Enter")
	c.shows("proof    verified")
	c.press("q")
	require.Equal(t, 1, c.end())

	c = s.onScreen(100, 40, "exec $approver review set.json --trust-domain compute.example.com --now "+now)
	c.onTop("Overview: approver set")
	c.shows("It can only be read here, not approved:")
	c.press("A")
	c.shows("it can only be read here; the overview says why")
	c.press("q")
	require.Equal(t, 1, c.end())

	c = s.onScreen(100, 40, "exec $approver review --plain ok-2.json --now "+now)
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "it can only be read here: no key is named")
}

// Without a ledger too the file is hashed, and can be read with a key and without.
func TestScreenReadsWithoutALedger(t *testing.T) {
	s := newSession(t)
	for _, key := range []string{"", " --key alice.pem"} {
		c := s.onScreen(100, 40, "exec $approver review ok-2.json --no-ledger --now "+now+key)
		c.onTop("Overview")
		c.press("End")
		c.shows("SHA-256 ")
		c.press("q")
		require.Equal(t, 1, c.end())
	}
}

// What was signed can be read again, and declined, not approved once more; so can what would be written over.
func TestScreenReadsWhatWasSigned(t *testing.T) {
	s := newSession(t)
	s.remembers()
	review := "exec $approver review ok-2.json --key alice.pem --now " + now
	s.write("ok-2."+kid("alice")[:8]+".sig.json", []byte("another's"))
	c := s.onScreen(100, 40, review)
	c.onTop("Overview")
	c.shows("is there already; nothing is overwritten; --out names another file")
	c.press("q")
	require.Equal(t, 1, c.end())

	c = s.onScreen(100, 40, review+" --out sig.json")
	words := c.readsAll()
	c.press("A")
	c.confirms("2", words)
	c.onTop("Done")
	c.press("C-c")
	require.Zero(t, c.end(), "%s", c.text())

	c = s.onScreen(100, 40, review+" --out again.json")
	c.onTop("Overview")
	c.shows("has signed this before")
	words = c.rootWords()
	c.press("A")
	c.shows("it can only be read here")
	c.press("D")
	c.onTop("Decline")
	c.listens()
	c.types("after all")
	c.press("Enter")
	c.confirms("DECLINE", words)
	c.onTop("Done")
	c.press("C-c")
	require.Zero(t, c.end(), "%s", c.text())
}
