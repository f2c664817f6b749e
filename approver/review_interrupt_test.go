//go:build linux

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// leavesNothing ends with Ctrl-C where it is: the terminal is as it was, and the folder as it was but for what is named.
func (c *screen) leavesNothing(before []string, status int, more ...string) {
	t := c.s.t
	t.Helper()
	c.press("C-c")
	require.Equal(t, status, c.end(), "%s", c.text())
	require.Equal(t, "off", c.alternate())
	for _, name := range []string{"status", "before", "after", "pid", "script.sh"} {
		require.NoError(t, os.Remove(c.s.path(name)))
	}
	want := append(slices.Clone(before), more...)
	slices.Sort(want)
	require.Equal(t, want, c.s.files())
}

// Ctrl-C at the screens that are deeper in.
func TestScreenInterruptedWithin(t *testing.T) {
	for title, keys := range map[string][]string{
		"Leaf": {"3", "Enter"}, "Which subjects to show": {"3", "f"}, "Finding: ": {"4", "Enter"}, "Operation 1 of ": {"2", "Enter"},
		"Summary of ": {"2", "Home", "Enter"},
	} {
		t.Run(title, func(t *testing.T) {
			s := newSession(t)
			s.fleet(60, title == "Summary of ")
			before := s.files()
			c := s.onScreen(100, 40, strings.Replace(reviewLine, "ok-415", "fleet", 1))
			c.onTop("Overview")
			for _, key := range keys {
				was := firstLine(c.shown())
				c.press(key) // two letters that arrive together are a paste, and no keys
				if key != "Home" {
					c.until(func() bool { return firstLine(c.shown()) != was }, "%q leads nowhere", key)
				}
			}
			c.onTop(title)
			c.leavesNothing(before, 1)
			require.Contains(t, c.text(), "INVALID_STATE: ")
		})
	}
}

// Ctrl-C while it waits for a stick.
func TestScreenInterruptedWatching(t *testing.T) {
	s := newSession(t)
	before := s.files()
	c := s.onScreen(100, 40, "exec $approver review --watch nosuch --now "+now)
	c.onTop("Waiting for a file to review")
	c.leavesNothing(before, 1)
}

// Ctrl-C once it is signed: the signature is there, and said.
func TestScreenInterruptedWhenDone(t *testing.T) {
	s := newSession(t)
	before := s.files()
	c := s.onScreen(100, 40, reviewLine)
	words := c.readsAll()
	c.press("A")
	c.confirms("415", words)
	c.onTop("Done")
	c.leavesNothing(before, 0, "sig.json")
	require.Contains(t, c.text(), "signed by "+kid("alice"))
	s.requireSignature("sig.json", "alice")
}

// Ctrl-C while a token is looked for, at its PIN, and while it signs: the token is left, or not called any more, and nothing is
// written.
func TestScreenInterruptedAtAToken(t *testing.T) {
	for title, walk := range map[string]func(f *faultyToken, c *screen){
		"Reading": func(*faultyToken, *screen) {},
		"PIN to APPROVE": func(f *faultyToken, c *screen) {
			words := c.readsAll()
			c.press("A")
			c.confirms("415", words)
			c.onTop("PIN")
			c.listens()
			c.types(testPIN[:4])
			c.shows("(hidden)")
		},
		"Signing": func(f *faultyToken, c *screen) {
			words := c.readsAll()
			f.set("C_Sign 0 0 hang 1")
			c.press("A")
			c.confirms("415", words)
			c.onTop("PIN")
			c.listens()
			c.types(testPIN)
			c.press("Enter")
			c.shows("Touch the token")
			c.until(func() bool { return f.count("C_Sign") == 1 }, "the token is not asked to sign")
		},
	} {
		t.Run(title, func(t *testing.T) {
			f := newFaultyToken(t)
			if title == "Reading" {
				f.set("C_OpenSession 0 0 hang 1")
			}
			before := f.files()
			c := f.onScreen(100, 40, f.screenLine())
			if title == "Reading" {
				c.until(func() bool { return f.count("C_OpenSession") == 1 }, "the token is not asked")
			}
			walk(f, c)
			c.onTop(title)
			c.leavesNothing(before, 0) // of the line, which waits a moment at its end
			require.Contains(t, c.text(), "INVALID_STATE: ")
			require.Empty(t, f.left())
		})
	}
}
