//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
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
	c.await("It cannot be signed here: no key is named")
	c.readsParts()
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "it can only be read here: no key is named")
}

// The screen that README begins with, by its very line: without a key, and without a ledger.
func TestScreenOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^go run \./approver (review .*)$`).FindSubmatch(readme)
	require.NotNil(t, line)
	top, err := filepath.Abs("..")
	require.NoError(t, err)
	c := newSession(t).onScreen(100, 40, "cd "+top+"; exec $approver "+string(line[1]))
	c.onTop("Overview")
	c.shows("It can only be read here, not approved:")
	c.press("q")
	require.Equal(t, 1, c.end(), "%s", c.text())
}

// Without a ledger the road ends as it does with one.
func TestScreenSignsWithoutALedger(t *testing.T) {
	for _, how := range []string{"", " --plain"} {
		s := newSession(t)
		c := s.onScreen(100, 40, "exec $approver review ok-2.json --key alice.pem --no-ledger --out sig.json --now "+now+how)
		if how == "" {
			words := c.readsAll()
			c.press("A")
			c.confirms("2", words)
			c.onTop("Done")
			c.press("C-c")
			require.Zero(t, c.end(), "%s", c.text())
			require.FileExists(t, s.path("sig.json"))
			continue
		}
		c.readsParts()
		c.shows("sign or decline")
		c.press("Enter")
		require.Equal(t, 1, c.end())
		require.Contains(t, c.text(), "left without a signature")
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
