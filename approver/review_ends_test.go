//go:build linux

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ctrl-C and the signals at every screen: the terminal is as it was, and nothing is left behind.
func TestScreenInterrupted(t *testing.T) {
	for where, walk := range map[string]func(c *screen){
		"Open a file": nil,
		"Overview":    func(*screen) {},
		"Operations":  func(c *screen) { c.press("2") },
		"Subjects":    func(c *screen) { c.press("3") },
		"Findings":    func(c *screen) { c.press("4") },
		"Keys":        func(c *screen) { c.press("?") },
		"Decline":     func(c *screen) { c.press("D") },
		"Confirm":     func(c *screen) { c.readsAll(); c.press("A") },
		"Passphrase":  func(c *screen) { words := c.readsAll(); c.press("A"); c.confirms("415", words) },
	} {
		for how, signal := range map[string]syscall.Signal{"by C-c": 0, "by SIGTERM": syscall.SIGTERM, "by SIGHUP": syscall.SIGHUP} {
			if signal != 0 && where != "Overview" && where != "Passphrase" {
				continue // they come to the program, whatever is up
			}
			t.Run(where+" "+how, func(t *testing.T) {
				s := newSession(t)
				line := strings.Replace(reviewLine, "alice.pem", "sealed.pem", 1)
				s.sealed()
				if walk == nil {
					line = strings.Replace(line, "ok-415.json ", "", 1)
				}
				before := s.files()
				c := s.onScreen(100, 40, line)
				if walk != nil {
					c.onTop("Overview")
					walk(c)
				}
				c.onTop(where)
				if signal == 0 {
					c.press("C-c")
				} else {
					pid, err := strconv.Atoi(strings.TrimSpace(string(s.read("pid"))))
					require.NoError(t, err)
					require.NoError(t, syscall.Kill(pid, signal))
				}
				require.Equal(t, 1, c.end())
				require.Contains(t, c.text(), "INVALID_STATE: ")
				require.Equal(t, "off", c.alternate())
				for _, name := range []string{"status", "before", "after", "pid", "script.sh"} {
					require.NoError(t, os.Remove(s.path(name)))
				}
				require.Equal(t, before, s.files(), "something was left behind")
			})
		}
	}
}

// sealed makes a key file with a passphrase.
func (s *session) sealed() {
	s.t.Helper()
	env := s.env
	s.env = append(s.env, passphraseVariable+"="+testPassphrase)
	s.ok("batch", "keygen", "--out", "sealed.pem")
	s.env = env
}

// Even a program that is killed leaves the terminal as it was.
func TestScreenKilled(t *testing.T) {
	s := newSession(t)
	line := strings.Replace(reviewLine, "exec ", "", 1)
	c := s.onScreen(100, 40, "sh -c \"echo \\$\\$ >killed; exec "+strings.Replace(line, "$approver", s.command, 1)+"\"; sleep 0.5")
	c.onTop("Overview")
	require.Equal(t, "on", c.alternate())
	pid, err := strconv.Atoi(strings.TrimSpace(string(s.read("killed"))))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	c.end()
	require.Equal(t, "off", c.alternate())
}
