//go:build linux

package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
)

// Without a terminal the review is printed, and nothing is signed; that nobody was asked is recorded.
func TestReviewWithoutATerminal(t *testing.T) {
	s := newSession(t)
	folder := s.remembers()
	before := s.files()
	r := s.run("review", "ok-415.json", "--key", "alice.pem", "--now", now)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stdout, "Root, to compare by voice")
	require.NotContains(t, r.stdout, "SHORTENED")
	require.Contains(t, r.stderr, "INVALID_STATE: not confirmed, nothing is signed; the root is ")
	require.NotContains(t, r.stderr, "--yes", "review has no such flag")
	require.Equal(t, before, s.files())
	l, err := ledger.Open(folder)
	require.NoError(t, err)
	defer l.Close()
	records := 0
	for record, err := range l.Records(1) {
		require.NoError(t, err)
		require.Equal(t, ledger.Refused, record.Entry.Outcome)
		require.Equal(t, "review", record.Entry.Command)
		require.Equal(t, "not-confirmed", record.Entry.Refusal.Reason)
		records++
	}
	require.Equal(t, 1, records)
}

func TestReviewRefusals(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Mkdir(s.path("empty"), 0o700))
	for _, c := range []struct{ args, code, reason string }{
		{"bad-root.json", "SCOPE_MISMATCH", "*"},
		{"policy-unbound.json", "UNBOUND_SCOPE", "*"},
		{"nosuch.json", "NOT_FOUND", "*"},
		{"set.json --trust-domain compute.example.com --current next.json", "NOT_FOUND", "*"},
		{"empty", "INVALID_INPUT", "*"},
		{"alice.pem", "INVALID_INPUT", "*"},
	} {
		args := append([]string{"review"}, strings.Fields(c.args)...)
		s.refused(c.code, c.reason, append(args, "--key", "bob.pem", "--now", now)...)
	}
	for _, args := range []string{"a b", "ok-2.json --watch .", "set.json", "set.json --approvers set.json --trust-domain x.example.com", "ok-2.json --no-ledger --receipt r.json", ""} {
		r := s.run(append(append([]string{"review"}, strings.Fields(args)...), "--key", "bob.pem")...)
		require.Equal(t, 2, r.status, "%s: %s", args, r.stderr)
	}
}

var partsEnd = regexp.MustCompile(`(?m)^End of part (\d+) of (\d+)\. Enter goes on`)

// readsParts reads the parts of a review as lines, one after the other.
func (c *screen) readsParts() {
	c.s.t.Helper()
	for n, all := 1, 1; n <= all; n++ {
		c.until(func() bool {
			m := partsEnd.FindAllStringSubmatch(c.text(), -1)
			if len(m) < n {
				return false
			}
			all, _ = strconv.Atoi(m[n-1][2])
			return m[n-1][1] == strconv.Itoa(n)
		}, "part %d does not come", n)
		time.Sleep(plainGlance + 50*time.Millisecond) // what passes by faster was not read
		c.press("Enter")
	}
}

// As lines the same has to be read before anything can be signed: nothing that was typed ahead, pasted or held down goes on.
func TestReviewPlainWantsEverythingRead(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver review --plain ok-415.json --key alice.pem --now "+now+" --out sig.json")
	c.await("End of part 1 of ")
	c.paste(strings.Repeat("\n", 50))
	for range 20 { // one after the other, as a key that is held down
		c.press("Enter")
	}
	c.say("sign")
	c.await("Nothing done. Enter alone goes on")
	require.NotContains(t, c.text(), "Part 4 of ") // where the machine is slow, one or two may have come late enough
	shown := strings.Count(c.text(), "\nPart ")
	c.say("again")
	c.until(func() bool { return strings.Count(c.text(), "\nPart ") == shown+1 }, "it is not shown again")
	c.say("leave")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "INVALID_STATE: left without a signature")
	require.NotContains(t, c.text(), question)
	require.NoFileExists(t, s.path("sig.json"))
	r := s.onScreen(100, 40, "exec $approver review --plain --json ok-415.json --key alice.pem --now "+now)
	require.Equal(t, 2, r.end())
}

// As lines too a file that changes while the passphrase is waited for is not signed.
func TestReviewPlainSeesAChangedFile(t *testing.T) {
	s := newSession(t)
	s.sealed()
	c := s.onScreen(100, 40, "exec $approver review --plain ok-2.json --key sealed.pem --now "+now+" --out sig.json")
	c.readsParts()
	c.await("Type sign or decline")
	c.say("sign")
	c.answer()
	c.await("Passphrase of sealed.pem: ")
	s.write("ok-2.json", append(s.read("ok-2.json"), '\n'))
	c.say(testPassphrase)
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "SCOPE_CHANGED: the file changed since you read it: ok-2.json")
	require.NoFileExists(t, s.path("sig.json"))
}

// --plain is the same review and questions as lines, with nothing that moves a cursor.
func TestReviewPlain(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver review --plain ok-415.json --key alice.pem --now "+now+" --out sig.json")
	c.readsParts()
	c.await("Type sign or decline, or anything else to leave: ")
	c.requireWhole()
	require.Equal(t, "off", c.alternate())
	c.say("sign")
	c.answer()
	require.Zero(t, c.end(), "%s", c.text())
	require.Equal(t, shownRoot(t, c.text()), s.requireSignature("sig.json", "alice").ScopeRoot.String())

	c = s.onScreen(100, 40, "exec $approver review --plain policy-unbound.json --key alice.pem --now "+now)
	c.await("End of part 1 of ")
	c.say("decline") // one need not read on for that
	c.await("they are signed: ")
	c.say("unbound, and it is late")
	c.await("the word DECLINE, to say no to the batch scope: ")
	words := c.words()
	c.say("DECLINE")
	for n := range 2 {
		c.say(words[c.asked(n+1)-1])
	}
	require.Zero(t, c.end(), "%s", c.text())
	file, err := quorum.ParseDeclineFile(s.read("policy-unbound." + kid("alice")[:8] + ".decline.json"))
	require.NoError(t, err)
	require.Equal(t, "unbound, and it is late", file.Reason)

	for _, answer := range []string{"", "yes", "signed"} {
		c = s.onScreen(100, 40, "exec env TERM=dumb $approver review ok-2.json --key alice.pem --now "+now)
		c.readsParts()
		c.await("anything else to leave: ")
		c.say(answer)
		require.Equal(t, 1, c.end())
		require.Contains(t, c.text(), "INVALID_STATE: left without a signature")
	}
}

// With --plain too a wrong PIN may be typed again.
func TestReviewPlainWrongPIN(t *testing.T) {
	s := newToken(t)
	c := s.onScreen(100, 40, strings.Replace(strings.Replace(tokenLine, "ok-415", "ok-2", 1), "review ", "review --plain ", 1))
	c.readsParts()
	c.await("Type sign or decline")
	c.say("sign")
	c.answer()
	c.await("PIN ready")
	for i, pin := range []string{wrongPIN, testPIN} {
		c.until(func() bool { return strings.Count(c.text(), "PIN for token") > i }, "no question for the PIN")
		time.Sleep(500 * time.Millisecond)
		c.say(pin)
	}
	require.Zero(t, c.end(), "%s", c.text())
	require.Contains(t, c.text(), "The PIN was wrong.")
	s.requireSignatureOf("sig.json", "k256.pem.pub")
}

// A folder is where the choice begins.
func TestReviewOfAFolder(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Mkdir(s.path("stick"), 0o700))
	require.NoError(t, os.Rename(s.path("ok-2.json"), s.path("stick/ok-2.json")))
	c := s.onScreen(100, 40, "exec $approver review stick --now "+now)
	c.onTop("Open a file")
	c.shows("1 file, 1 to review")
	c.press("Down", "Enter")
	c.onTop("Overview")
	c.press("Escape")
	c.onTop("Open a file")
	c.press("q")
	require.Equal(t, 1, c.end())
	c = s.onScreen(100, 40, "exec $approver review --plain stick --now "+now)
	c.await("1: scope, stick/ok-2.json")
	c.press("C-c")
	require.Equal(t, 1, c.end())
	c = s.onScreen(100, 40, "exec $approver review --watch nosuch --now "+now)
	c.shows("The folder does not exist yet.")
	c.press("q")
	require.Equal(t, 1, c.end())
}

// Without a file, --plain lists what there is and asks for a number.
func TestReviewPlainPicks(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Mkdir(s.path("stick"), 0o700))
	require.NoError(t, os.Rename(s.path("ok-2.json"), s.path("stick/ok-2.json")))
	c := s.onScreen(100, 40, "cd stick && exec $approver review --plain --key ../alice.pem --now "+now+" --out sig.json")
	c.await("1: scope, ")
	c.await("Number of the file to review: ")
	c.say("1")
	c.readsParts()
	c.await("Type sign or decline")
	c.say("sign")
	c.answer()
	require.Zero(t, c.end(), "%s", c.text())
	s.requireSignature("stick/sig.json", "alice")
}

// The picker says what each file is, and opens one; the signature lies beside it under a name of its own.
func TestScreenPicks(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver review --key alice.pem --now "+now)
	c.onTop("Open a file")
	c.until(func() bool {
		return strings.Contains(c.shown(), "> folder") || strings.Contains(c.shown(), "> plugged")
	}, "no list")
	for !strings.Contains(c.shown(), "> folder                  "+s.dir) {
		c.press("Down")
		time.Sleep(50 * time.Millisecond)
	}
	c.press("Enter")
	c.shows("In " + s.dir)
	for _, line := range []string{"scope of 2              ok-2.json", "approver set            set.json", "private key             alice.pem", "public key              bob.pem.pub"} {
		c.shows(line)
	}
	for range 60 {
		if strings.Contains(c.shown(), "> scope of 2              ok-2.json") {
			break
		}
		c.press("j")
		time.Sleep(50 * time.Millisecond)
	}
	c.press("Enter")
	words := c.readsAll()
	c.press("A")
	c.confirms("2", words)
	c.onTop("Done")
	c.press("C-c")
	require.Zero(t, c.end(), "%s", c.text())
	s.requireSignature("ok-2."+kid("alice")[:8]+".sig.json", "alice")
}

// --watch waits for a stick: a folder that comes right below the watched one.
func TestScreenWatches(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Mkdir(s.path("media"), 0o700))
	c := s.onScreen(100, 40, "exec $approver review --watch media --key alice.pem --now "+now+" --out sig.json")
	c.shows("Plug the stick in.")
	require.NoError(t, os.Mkdir(s.path("media/stick"), 0o700))
	require.NoError(t, os.WriteFile(s.path("media/stick/scope.json"), s.read("ok-2.json"), 0o600))
	c.onTop("Overview")
	c.press("End")
	c.shows("media/stick/scope.json")
	c.press("q")
	require.Equal(t, 1, c.end())
}
