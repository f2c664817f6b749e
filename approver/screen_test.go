package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// A screen is a terminal of tmux, in which a command line runs and somebody types.
type screen struct {
	s      *session
	socket string
}

const question = "number of operations in the batch scope: "

// onScreen starts a shell line on a terminal of that many columns and rows; "$approver" is the command. Its exit status
// goes to the file "status", how the terminal is set before and after it to "before" and "after", and its process id,
// where the line is a single command, to "pid".
func (s *session) onScreen(columns, rows int, line string) *screen {
	s.t.Helper()
	_, err := exec.LookPath("tmux")
	require.NoError(s.t, err, "run ./softhsm-test.sh, which installs what these tests need")
	dir, err := os.MkdirTemp("", "tmux-") // not the session's: the path of a socket is short
	require.NoError(s.t, err)
	for _, name := range []string{"status", "before", "after", "pid"} {
		os.Remove(s.path(name))
	}
	s.write("script.sh", []byte("trap : INT QUIT\nstty -a >before\nsh -c 'echo $$ >pid; "+line+"'\necho $? >status.tmp\nstty -a >after\nmv status.tmp status\nexec sleep 600\n"))
	conf := filepath.Join(dir, "conf")
	require.NoError(s.t, os.WriteFile(conf, []byte("set -g history-limit 100000\nset -g status off\n"), 0o600))
	c := &screen{s, filepath.Join(dir, "socket")}
	cmd := exec.Command("tmux", "-u", "-S", c.socket, "-f", conf, "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "sh script.sh")
	cmd.Dir, cmd.Env = s.dir, append(s.environment(), "approver="+s.command, "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, "%s", out)
	s.t.Cleanup(func() {
		requireNoSecret(s.t, c.text())
		c.tmux("kill-server")
		os.RemoveAll(dir)
	})
	return c
}

func (c *screen) tmux(args ...string) string {
	c.s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", c.socket}, args...)...).CombinedOutput()
	require.NoError(c.s.t, err, "tmux %v: %s", args, out)
	return string(out)
}

// text gives all that was ever on the screen, with wrapped lines joined.
func (c *screen) text() string { return c.tmux("capture-pane", "-p", "-J", "-S", "-") }

// await waits until the screen shows something.
func (c *screen) await(text string) {
	c.s.t.Helper()
	c.until(func() bool { return strings.Contains(c.text(), text) }, "%q does not come on the screen", text)
}

func (c *screen) until(done func() bool, format string, args ...any) {
	c.s.t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			require.Fail(c.s.t, fmt.Sprintf(format, args...), "%s", c.text())
		}
	}
}

// say types a text, as it is, and Enter.
func (c *screen) say(text string) {
	c.s.t.Helper()
	if text != "" {
		c.tmux("send-keys", "-l", "--", text) // a kid can begin with a hyphen
	}
	c.press("Enter")
}

// press presses keys by their names in tmux.
func (c *screen) press(keys ...string) { c.tmux(append([]string{"send-keys"}, keys...)...) }

// paste pastes a text in one go.
func (c *screen) paste(text string) {
	c.tmux("set-buffer", "--", text)
	c.tmux("paste-buffer", "-r")
}

// end waits for the command line to end and gives its exit status.
func (c *screen) end() int {
	c.s.t.Helper()
	c.until(func() bool { _, err := os.Stat(c.s.path("status")); return err == nil }, "the command does not end")
	status, err := strconv.Atoi(strings.TrimSpace(string(c.s.read("status"))))
	require.NoError(c.s.t, err)
	require.Equal(c.s.t, string(c.s.read("before")), string(c.s.read("after")), "the terminal is not set as it was")
	return status
}

var (
	numberedWord = regexp.MustCompile(`(\d+) ([A-Za-z]+)`)
	wordQuestion = regexp.MustCompile(`word (\d+) of the (?:root|digest): `)
	sizeLine     = regexp.MustCompile(`(?m)^([\d,]+) operations? \(`)
)

// words reads the words of the root off the screen, each at its number.
func (c *screen) words() (words []string) {
	c.s.t.Helper()
	_, list, _ := strings.Cut(c.text(), shownRoot(c.s.t, c.text()))
	list, _, _ = strings.Cut(list, "\n\n")
	for i, m := range numberedWord.FindAllStringSubmatch(list, -1) {
		require.Equal(c.s.t, strconv.Itoa(i+1), m[1])
		words = append(words, m[2])
	}
	require.Len(c.s.t, words, 32, "words of the root")
	return words
}

// asked gives the number of the word that was asked for last; n is how many words were asked for by now.
func (c *screen) asked(n int) int {
	c.s.t.Helper()
	var m [][]string
	c.until(func() bool { m = wordQuestion.FindAllStringSubmatch(c.text(), -1); return len(m) >= n }, "no question for a word")
	require.Len(c.s.t, m, n)
	at, err := strconv.Atoi(m[n-1][1])
	require.NoError(c.s.t, err)
	return at
}

// size reads the number of operations off the screen, as it is written there.
func (c *screen) size() string {
	c.s.t.Helper()
	m := sizeLine.FindStringSubmatch(c.text())
	require.NotNil(c.s.t, m, "the number of operations is not on the screen")
	return m[1]
}

// answer gives the right answers to the questions, as somebody who looked at the screen.
func (c *screen) answer() {
	c.s.t.Helper()
	c.await(question)
	c.say(c.size())
	words := c.words()
	for n := range 2 {
		c.say(strings.ToUpper(words[c.asked(n+1)-1]))
	}
}
