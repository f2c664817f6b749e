package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two outputs in one place are told before anything is reviewed or signed, however they are spelled.
func TestOutputsInOnePlace(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Symlink(".", s.path("self")))
	require.NoError(t, os.Mkdir(s.path("folder"), 0o755))
	before := s.files()
	for _, args := range []string{
		"--out x --qr-png x", "--out x --qr-png ./x", "--out self/x --qr-png x", "--out x --operations-out x",
		"--out x --operations-out .//x", "--operations-out folder/../x --qr-png self/self/x",
	} {
		r := s.run(append(sign("ok-2.json"), strings.Fields(args)...)...)
		require.Equal(t, 2, r.status, args)
		require.Contains(t, r.stderr, "names the file of another output", args)
		require.Equal(t, before, s.files(), args)
	}
	s.ok(append(sign("ok-2.json"), "--out", "x", "--qr-png", "folder/x", "--operations-out", "folder/y")...)
}
