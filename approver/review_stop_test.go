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

// job gives the process group that the terminal belongs to now.
func (c *screen) job() int {
	c.s.t.Helper()
	pane := strings.TrimSpace(c.tmux("display-message", "-p", "#{pane_pid}"))
	data, err := os.ReadFile("/proc/" + pane + "/stat")
	require.NoError(c.s.t, err)
	stat := string(data)
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	group, err := strconv.Atoi(fields[5])
	require.NoError(c.s.t, err)
	return group
}

// stops are the ways in which a job is stopped.
var stops = map[string]func(c *screen, job int){
	"C-z":     func(c *screen, _ int) { c.press("C-z") },
	"SIGTSTP": func(c *screen, job int) { require.NoError(c.s.t, syscall.Kill(-job, syscall.SIGTSTP)) },
	"SIGSTOP": func(c *screen, job int) { require.NoError(c.s.t, syscall.Kill(-job, syscall.SIGSTOP)) },
}

// A shell stops the screen and lets it go on, at the questions and at the passphrase: the shell has its terminal meanwhile, then
// the screen is raw and drawn anew; nothing that was typed of the passphrase is left, and what comes with the fg is dropped.
func TestScreenGoesOnAfterAStop(t *testing.T) {
	for how, stop := range stops {
		t.Run(how, func(t *testing.T) {
			s := newSession(t)
			s.sealed()
			c := s.onScreen(100, 40, "exec env PS1=shell: bash --norc --noprofile -i")
			c.await("shell:")
			shell := c.job()
			c.tmux("pipe-pane", "exec cat >'"+s.path("drawn")+"'")
			c.say(strings.Replace(strings.TrimPrefix(reviewLine, "exec "), "alice.pem", "sealed.pem", 1))
			words := c.readsAll()
			stopped := 0
			around := func(title string) {
				t.Helper()
				job := c.job()
				require.NotEqual(t, shell, job)
				stop(c, job)
				c.until(func() bool { return c.job() == shell }, "the shell does not get its terminal")
				stopped++
				mark := "settings" + strconv.Itoa(stopped)
				c.say("stty -a >" + mark + "; echo went-$((1+1))-" + mark)
				c.shows("went-2-" + mark)
				if how != "SIGSTOP" { // which nobody hears of
					require.Equal(t, "off", c.alternate())
				}
				require.Contains(t, string(s.read(mark)), " icanon")
				require.Contains(t, string(s.read(mark)), " echo ")
				c.tmux("send-keys", "-l", "fg\r415\r")
				c.onTop(title)
				c.until(func() bool { return c.alternate() == "on" }, "the screen is not drawn on the whole terminal")
			}
			c.press("A")
			c.onTop("Confirm")
			around("Confirm")
			c.confirms("415", words)
			c.onTop("Passphrase")
			c.listens()
			c.types("not")
			c.shows("(hidden)")
			around("Passphrase")
			c.shows("the program stood still meanwhile")
			c.shows("(nothing typed)")
			c.listens()
			c.types(testPassphrase)
			c.press("Enter")
			c.onTop("Done")
			c.listens()
			c.press("q")
			c.await("signed by ")
			c.say("exit")
			require.Zero(t, c.end(), "%s", c.text())
			require.Equal(t, 1+stopped, strings.Count(string(s.read("drawn")), "\x1b[?1049h"), "the whole terminal is taken once at first, and once after each stop")
			s.requireSignature("sig.json", "sealed")
		})
	}
}
