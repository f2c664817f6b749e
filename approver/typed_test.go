//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/hsm"
)

// What is typed at a time when nothing asks for it, and Ctrl-Z.

// What is pasted beyond the answers is no line for the shell.
func TestTerminalDropsWhatIsPastedBeyond(t *testing.T) {
	const then = `; read -r line; echo "$line" >rest`
	for name, test := range map[string]struct {
		line  string
		types func(*screen)
		says  string
	}{
		"right answers": {signOnScreen, func(c *screen) {
			word := c.answerButOne()
			c.paste(word + "\npasted beyond\nand more\n")
		}, "signed by "},
		"wrong answers": {signOnScreen, func(c *screen) {
			c.await(question)
			c.paste("1\n2\n3\npasted beyond\nand more\n")
		}, "INVALID_STATE: "},
		"a batch id":       {uncheckedOnScreen, func(c *screen) { c.await("batch id: "); c.paste("batch_ok2\npasted beyond\n") }, "signed by "},
		"a wrong batch id": {uncheckedOnScreen, func(c *screen) { c.await("batch id: "); c.paste("x\npasted beyond\n") }, "INVALID_STATE: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			c := s.onScreen(100, 40, strings.TrimPrefix(test.line, "exec ")+then)
			test.types(c)
			c.await(test.says)
			c.say("what comes next")
			require.Zero(t, c.end())
			require.Equal(t, "what comes next\n", string(s.read("rest")))
		})
	}
}

// Nor is it a PIN: that would cost a try.
func TestTokenPINIsNotWhatIsPastedBeyond(t *testing.T) {
	s := newToken(t)
	c := s.onScreen(100, 40, s.signOnTerminal())
	word := c.answerButOne()
	c.paste(word + "\npasted beyond\n")
	c.await("PIN for token")
	time.Sleep(100 * time.Millisecond)
	require.NoFileExists(t, s.path("status"), "what was pasted was tried: %s", c.text())
	c.say(testPIN)
	require.Zero(t, c.end(), "%s", c.text())
	require.Equal(t, 1, s.logins())
	s.requireSignature("token.json", "k256")
}

// anew types a secret after a ^Z, which is no part of one: it is refused with a word, and typed anew.
func (c *screen) anew(secret string) {
	c.s.t.Helper()
	c.say(secret)
	c.await(hsm.ControlRefused)
	c.listens()
	c.say(secret)
}

// Ctrl-Z stops nothing: a shell that has the terminal meanwhile turns the echo on, under the secret that is being typed.
func TestTerminalIsNotStopped(t *testing.T) {
	s := newToken(t)
	s.env = append(s.env, passphraseVariable+"="+testPassphrase)
	s.ok("batch", "keygen", "--out", "sealed.pem")
	s.env = append(s.env, passphraseVariable+"=")
	sealed := strings.NewReplacer("alice.pem", "sealed.pem", "sig.json", "sealed.json").Replace(signOnScreen)
	for name, test := range map[string]struct {
		line, asks string
		types      func(*screen)
	}{
		"the PIN":        {s.signOnTerminal(), "PIN for token", func(c *screen) { c.answer() }},
		"the passphrase": {sealed, "Passphrase of sealed.pem: ", func(c *screen) { c.answer() }},
		"a new one":      {"exec $approver batch keygen --out new.pem", "new key: ", func(*screen) {}},
		"the question":   {signOnScreen, question, func(*screen) {}},
	} {
		t.Run(name, func(t *testing.T) {
			// A shell with jobs, which goes on when its command stops.
			c := s.onScreen(100, 40, "set -m; "+strings.TrimPrefix(test.line, "exec ")+"; exit $?")
			test.types(c)
			c.await(test.asks)
			time.Sleep(50 * time.Millisecond) // the question stands there just before the echo goes
			c.press("C-z")
			time.Sleep(200 * time.Millisecond)
			require.NoFileExists(t, s.path("status"), "it was stopped: %s", c.text())
			switch name {
			case "the PIN":
				c.anew(testPIN)
			case "the question":
				c.answer()
			case "a new one":
				c.anew(testPassphrase)
				c.await("once more: ")
				c.say(testPassphrase)
			default:
				c.anew(testPassphrase)
			}
			require.Zero(t, c.end(), "%s", c.text())
			require.NotContains(t, c.text(), testPIN)
			require.NotContains(t, c.text(), testPassphrase)
		})
	}
}

// signOnTerminal gives a line that signs with the key "k256", whose PIN is typed.
func (s *session) signOnTerminal() string {
	return "exec $approver batch sign --scope ok-2.json --now " + now + " --module " + s.counted() + " --key \"" + tokenKey + "\" --pub k256.pem.pub --out token.json"
}

// answerButOne gives the right answers but for the last, which it returns.
func (c *screen) answerButOne() (word string) {
	c.s.t.Helper()
	c.await(question)
	c.say(c.size())
	words := c.words()
	c.say(words[c.asked(1)-1])
	return words[c.asked(2)-1]
}
