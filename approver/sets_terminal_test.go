//go:build linux

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
)

const (
	declineOnScreen = "exec $approver batch decline --scope ok-2.json --key alice.pem --reason no --now " + now + " --out no.json"
	changeOnScreen  = "exec $approver batch sign-approvers --key alice.pem --epoch 2 --approvers alice.pem.pub,bob.pem.pub,dave.pem.pub " +
		"--threshold 2 --current set.json --trust-domain compute.example.com --out change.json"
	declineQuestion = "the word DECLINE, to say no to the batch scope: "
	changeQuestion  = "number of changes in the approver-set change: "
)

// answerWith types a first answer, and then the words that are asked for.
func (c *screen) answerWith(first string) {
	c.s.t.Helper()
	c.say(first)
	words := c.words()
	for n := range 2 {
		c.say(words[c.asked(n+1)-1])
	}
}

func TestTerminalDeclines(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, declineOnScreen)
	c.await(declineQuestion)
	require.Contains(t, c.text(), "To DECLINE this, type what the review shows.")
	c.answerWith("decline")
	require.Zero(t, c.end(), "%s", c.text())
	file, err := quorum.ParseDeclineFile(s.read("no.json"))
	require.NoError(t, err)
	require.Equal(t, "no", file.Reason)
	require.Equal(t, shownRoot(t, c.text()), file.ScopeRoot.String())
}

// What approves declines nothing, and the other way.
func TestTerminalTellsADeclineFromAnApproval(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, declineOnScreen)
	c.await(declineQuestion)
	c.answerWith("2")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "INVALID_STATE: not confirmed")
	require.NoFileExists(t, s.path("no.json"))

	c = s.onScreen(100, 40, "exec $approver batch sign --scope ok-2.json --key alice.pem --now "+now+" --out sig.json")
	c.await(question)
	c.answerWith("DECLINE")
	require.Equal(t, 1, c.end())
	require.NoFileExists(t, s.path("sig.json"))
}

func TestTerminalSignsAChangeOfTheSet(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, changeOnScreen)
	c.await(changeQuestion)
	text := c.text()
	for _, kid := range []string{kid("carol"), kid("dave")} { // who leaves and who joins
		require.Contains(t, text, kid)
	}
	size := regexp.MustCompile(`(?m)^(\d+) changes; `).FindStringSubmatch(text)
	require.NotNil(t, size, "%s", text)
	c.answerWith(size[1])
	require.Zero(t, c.end(), "%s", c.text())
	file, err := quorum.ParseSetSignatureFile(s.read("change.json"))
	require.NoError(t, err)
	require.EqualValues(t, 2, file.Epoch)
	require.Equal(t, kid("alice"), file.Signature.KID.String())
}

// Whoever answers without looking changes nothing; the refusal is recorded.
func TestTerminalDoesNotSignAChange(t *testing.T) {
	s := newSession(t)
	s.remembers()
	for name, types := range map[string]func(*screen){
		"a bare Enter":    func(c *screen) { c.say(""); c.asked(1); c.say(""); c.asked(2); c.say("") },
		"pasted yes":      func(c *screen) { c.paste(strings.Repeat("yes\n", 50)) },
		"another number":  func(c *screen) { c.answerWith("1") },
		"the end":         func(c *screen) { c.press("C-d") },
		"an interruption": func(c *screen) { c.press("C-c") },
	} {
		c := s.onScreen(100, 40, changeOnScreen)
		c.await(changeQuestion)
		types(c)
		require.Equal(t, 1, c.end(), name)
		require.NoFileExists(t, s.path("change.json"), name)
	}
	log := s.ok("log", "show").stdout
	require.Equal(t, 5, strings.Count(log, " batch sign-approvers: refused INVALID_STATE not-confirmed\n"), "%s", log)
}

// A bare root is recorded as what it is, and its file comes out of the ledger with the mark.
func TestTerminalUncheckedIsRecorded(t *testing.T) {
	s := newSession(t)
	s.remembers()
	c := s.onScreen(100, 40, uncheckedOnScreen)
	c.await("Type the batch id: ")
	c.say("wrong")
	require.Equal(t, 1, c.end())
	c = s.onScreen(100, 40, uncheckedOnScreen)
	c.await("Type the batch id: ")
	c.say("batch_ok2")
	require.Zero(t, c.end(), "%s", c.text())
	log := s.ok("log", "show").stdout
	require.Contains(t, log, "1  2099-12-31 00:00:00 UTC (4102358400000), by hand  batch sign: refused INVALID_STATE not-confirmed\n")
	require.Equal(t, 2, strings.Count(log, "trust domain compute.example.com, UNCHECKED\n"), "%s", log)
	require.Equal(t, string(s.read("sig.json")), s.ok("log", "signature", "2").stdout)
}
