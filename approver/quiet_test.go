//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// No command asks the terminal anything as it starts: one that gives no answer would hold it for five seconds.
func TestTerminalIsNotAsked(t *testing.T) {
	s := newSession(t)
	begun := time.Now()
	c := s.onScreen(100, 40, `TERM=xterm-256color script -qec "$approver --version" out >/dev/null </dev/null`)
	require.Zero(t, c.end())
	require.Less(t, time.Since(begun), 4*time.Second)
	require.NotContains(t, string(s.read("out")), "\x1b")
}
