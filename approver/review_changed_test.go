//go:build linux

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that changes while the PIN is waited for is seen before anything is signed with it.
func TestScreenSeesAFileThatChangesAtThePIN(t *testing.T) {
	s := newToken(t)
	c := s.onScreen(100, 40, tokenLine)
	words := c.readsAll()
	c.press("A")
	c.confirms("415", words)
	c.onTop("PIN")
	s.write("ok-415.json", append(s.read("ok-415.json"), '\n'))
	c.listens()
	c.types(testPIN)
	c.press("Enter")
	c.shows("SCOPE_CHANGED: the file changed since you read it: ok-415.json")
	c.press("Escape")
	c.onTop("Open a file")
	c.shows("In " + s.dir)
	c.press("q")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "SCOPE_CHANGED: the file changed since you read it: ok-415.json", "what was refused is how it ends")
	require.NoFileExists(t, s.path("sig.json"))
}
