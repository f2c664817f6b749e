//go:build linux

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// The command on a real terminal: tmux, somebody who reads the screen and types.

const signOnScreen = "exec $approver batch sign --scope ok-415.json --key alice.pem --now " + now + " --out sig.json"

// requireWhole finds every subject of ok-415.json on the screen.
func (c *screen) requireWhole() {
	c.s.t.Helper()
	text := c.text()
	for i := range 412 {
		require.Contains(c.s.t, text, "node_0"+strconv.Itoa(1000 + i)[1:], "a subject is not on the screen")
	}
	require.Contains(c.s.t, text, "bmc:node_site1/[fd00::7]")
	require.NotContains(c.s.t, text, "SHORTENED")
	require.NotContains(c.s.t, text, " more\n")
}

// The whole review stands on the screen, and who reads it can sign.
func TestTerminalSigns(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, signOnScreen)
	c.await(question)
	c.requireWhole()
	require.Equal(t, 1, strings.Count(c.text(), "Root, to compare by voice"), "the review is shown once")
	require.NoFileExists(t, s.path("sig.json"))
	c.answer()
	require.Zero(t, c.end(), "%s", c.text())
	file := s.requireSignature("sig.json", "alice")
	require.False(t, file.Unchecked)
	require.Equal(t, file.ScopeRoot.String(), shownRoot(t, c.text()))
}

// The last of 50,000 machines is on the screen before anybody confirms, and in --operations-out.
func TestTerminalShowsTheLast(t *testing.T) {
	s := newSession(t)
	s.fleet(wire.MaxLeaves, false)
	s.ok("batch", "show", "--scope", "fleet.json", "--now", now, "--operations-out", "all.json")
	c := s.onScreen(200, 50, "exec $approver batch sign --scope fleet.json --key alice.pem --now "+now+" --out sig.json")
	c.await(question)
	text := c.text()
	require.NotContains(t, text, "SHORTENED")
	for where, all := range map[string]string{"the screen": text, "the file": string(s.read("all.json"))} {
		seen := make(map[string]bool)
		for _, name := range strings.FieldsFunc(all, func(r rune) bool { return r == ' ' || r == '\n' || r == '"' || r == ',' || r == '[' || r == ']' }) {
			seen[name] = true
		}
		for i := range wire.MaxLeaves {
			require.True(t, seen[machine(i)], "%s is not on %s", machine(i), where)
		}
	}
	c.answer()
	require.Zero(t, c.end())
	s.requireSignature("sig.json", "alice")
}

// The signature goes to standard output also where a terminal asks.
func TestTerminalSignsToStandardOutput(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver batch sign --scope ok-2.json --key alice.pem --now "+now+" >sig.json")
	c.answer()
	require.Zero(t, c.end())
	s.requireSignature("sig.json", "alice")
}

// Whoever answers has the whole review before their eyes, wherever standard error goes.
func TestTerminalShowsTheReviewItself(t *testing.T) {
	for _, to := range []string{"2>/dev/null", "2>review.txt", "2>&-", "--json 2>review.txt"} {
		t.Run(to, func(t *testing.T) {
			s := newSession(t)
			c := s.onScreen(100, 40, signOnScreen+" "+to)
			c.await(question)
			c.requireWhole()
			root := shownRoot(t, c.text())
			if to == "2>review.txt" {
				require.Equal(t, root, shownRoot(t, string(s.read("review.txt"))))
			}
			c.answer()
			require.Zero(t, c.end(), "%s", c.text())
			require.Equal(t, root, s.requireSignature("sig.json", "alice").ScopeRoot.String())
		})
	}
}

// What a person does who does not look.
func TestTerminalDoesNotSign(t *testing.T) {
	for name, types := range map[string]func(*screen){
		"a bare Enter":       func(c *screen) { c.say(""); c.asked(1); c.say(""); c.asked(2); c.say("") },
		"pasted newlines":    func(c *screen) { c.paste(strings.Repeat("\n", 200)) },
		"pasted yes":         func(c *screen) { c.paste(strings.Repeat("yes\n", 200)) },
		"a held key":         func(c *screen) { c.paste(strings.Repeat("y", 600)); c.say(""); c.say(""); c.say("") },
		"a held Enter":       func(c *screen) { c.press("-N", "30", "Enter") },
		"a line without end": func(c *screen) { c.say("415"); c.asked(1); c.paste("x"); c.press("C-d", "C-d") },
		"the end of input":   func(c *screen) { c.press("C-d") },
		"wrong words": func(c *screen) {
			c.say("415")
			for n := range 2 {
				c.asked(n + 1)
				c.say("aardvark")
			}
		},
		"the words of other places": func(c *screen) {
			words := c.words()
			c.say("415")
			for n := range 2 {
				c.say(words[c.asked(n+1)%32])
			}
		},
		"another number": func(c *screen) {
			c.say("414")
			words := c.words()
			for n := range 2 {
				c.say(words[c.asked(n+1)-1])
			}
		},
		"the number for a word": func(c *screen) { c.say("415"); c.asked(1); c.say("415"); c.asked(2); c.say("415") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			c := s.onScreen(100, 40, signOnScreen)
			c.await(question)
			types(c)
			require.Equal(t, 1, c.end())
			require.Contains(t, c.text(), "INVALID_STATE: ")
			require.NotContains(t, c.text(), "signed by")
			require.NoFileExists(t, s.path("sig.json"))
		})
	}
}

// What was typed before the question stood on the screen is no answer to it.
func TestTerminalDropsWhatWasTypedAhead(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "until test -e go; do sleep 0.05; done; "+signOnScreen)
	c.until(func() bool { _, err := os.Stat(s.path("pid")); return err == nil }, "the shell does not start")
	for range 5 {
		c.say("415")
	}
	s.write("go", nil)
	c.await(question)
	time.Sleep(200 * time.Millisecond)
	require.NotContains(t, c.text(), "of the root: ", "what was typed ahead answered the question")
	c.answer()
	require.Zero(t, c.end())
	s.requireSignature("sig.json", "alice")
}

// A stop leaves nothing to confirm.
func TestTerminalDoesNotAskAfterAStop(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver batch sign --scope policy-unbound.json --key alice.pem --now "+now+" --out sig.json")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "UNBOUND_SCOPE: ")
	require.NotContains(t, c.text(), question)
}

func TestTerminalPassphrase(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver batch keygen --out sealed.pem")
	c.await("Passphrase for the new key: ")
	c.say(testPassphrase)
	c.await("The same once more: ")
	c.say(testPassphrase)
	require.Zero(t, c.end())
	require.Contains(t, c.text(), "written sealed.pem")
	require.Contains(t, string(s.read("sealed.pem")), "BEGIN ENCRYPTED PRIVATE KEY")

	line := strings.Replace(signOnScreen, "alice.pem", "sealed.pem", 1)
	c = s.onScreen(100, 40, line)
	c.answer()
	passphrase := func(try int, typed string) {
		c.until(func() bool { return strings.Count(c.text(), "Passphrase of sealed.pem: ") == try }, "it does not ask for try %d", try)
		c.say(typed)
	}
	passphrase(1, "not it")
	passphrase(2, "")
	passphrase(3, "nor this")
	require.Equal(t, 1, c.end())
	require.NotContains(t, c.text(), "not it", "what was typed is shown")
	require.NoFileExists(t, s.path("sig.json"))

	c = s.onScreen(100, 40, line)
	c.answer()
	passphrase(1, "not it")
	passphrase(2, testPassphrase)
	require.Zero(t, c.end())
	s.requireSignature("sig.json", "sealed")
}

// A signal while it waits: it ends with 1, nothing is written, and the terminal shows again what is typed.
func TestTerminalInterrupted(t *testing.T) {
	sealed := newSession(t)
	sealed.env = append(sealed.env, passphraseVariable+"="+testPassphrase)
	sealed.ok("batch", "keygen", "--out", "sealed.pem")
	for where, until := range map[string]struct {
		line string
		wait func(*screen)
	}{
		"the question":   {signOnScreen, func(c *screen) { c.await(question) }},
		"a word":         {signOnScreen, func(c *screen) { c.await(question); c.say("415"); c.asked(1) }},
		"the passphrase": {strings.Replace(signOnScreen, "alice.pem", "sealed.pem", 1), func(c *screen) { c.answer(); c.await("Passphrase of sealed.pem: ") }},
		"a new one":      {"exec $approver batch keygen --out new.pem", func(c *screen) { c.await("Passphrase for the new key: ") }},
		"it once more":   {"exec $approver batch keygen --out new.pem", func(c *screen) { c.await("new key: "); c.say("x"); c.await("once more: ") }},
		"a batch id":     {uncheckedOnScreen, func(c *screen) { c.await("Type the batch id: ") }},
	} {
		for how, signal := range map[string]syscall.Signal{"by C-c": 0, "by SIGTERM": syscall.SIGTERM, "by SIGHUP": syscall.SIGHUP, "by C-\\": syscall.SIGQUIT} {
			t.Run(where+" "+how, func(t *testing.T) {
				s := newSession(t)
				s.write("sealed.pem", sealed.read("sealed.pem"))
				s.write("sealed.pem.pub", sealed.read("sealed.pem.pub"))
				before := s.files()
				c := s.onScreen(100, 40, until.line)
				until.wait(c)
				time.Sleep(20 * time.Millisecond) // the question stands there just before the answer is waited for
				c.interrupt(signal)
				require.Equal(t, 1, c.end())
				require.Contains(t, c.text(), "INVALID_STATE: interrupted")
				for _, name := range []string{"status", "before", "after", "pid", "script.sh"} {
					require.NoError(t, os.Remove(s.path(name)))
				}
				require.Equal(t, before, s.files(), "something was left behind")
			})
		}
	}
}

const uncheckedOnScreen = "exec $approver batch sign --unchecked --batch batch_ok2 --root d8c8a941333d17fb5ecc95c3f54dc2ccb2ff0f92a3bbedf5208fe01504ee869f " +
	"--size 2 --not-after 4102444800000 --trust-domain compute.example.com --key alice.pem --now " + now + " --out sig.json"

// A bare root: the batch id is typed, and the file says that it is unchecked.
func TestTerminalUnchecked(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, uncheckedOnScreen)
	c.await("UNCHECKED: nobody has seen what this root admits. You sign 2 operations blind.")
	c.await("ACKNOWLEDGE clock-by-hand: the time was given with --now: 2")
	c.await("Type the batch id: ")
	c.say("batch_ok2")
	require.Zero(t, c.end(), "%s", c.text())
	require.Contains(t, string(s.read("sig.json")), `,"unchecked":true}`)
	require.True(t, s.requireSignature("sig.json", "alice").Unchecked)
	verify := []string{"batch", "verify", "sig.json", "--scope", "ok-2.json", "--approvers", "set.json", "--trust-domain", "compute.example.com", "--now", now}
	require.Regexp(t, "(?m)^UNCHECKED +"+kid("alice"), s.ok(verify...).stdout)

	for _, typed := range []string{"", "batch_ok", "BATCH_OK2", " batch_ok2", "2", "y"} {
		require.NoError(t, os.RemoveAll(s.path("sig.json")))
		c := s.onScreen(100, 40, uncheckedOnScreen)
		c.await("Type the batch id: ")
		c.say(typed)
		require.Equal(t, 1, c.end())
		require.Contains(t, c.text(), "INVALID_STATE: not confirmed, nothing is signed")
		require.NoFileExists(t, s.path("sig.json"))
	}
}
