//go:build linux

package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
)

// The screen in a real terminal: tmux, and somebody who reads it and presses keys.

const (
	reviewLine = "exec $approver review ok-415.json --key alice.pem --now " + now + " --out sig.json"
	tokenLine  = "exec $approver review ok-415.json --key '\\''" + tokenKey + "'\\'' --module " + softHSMModule + " --now " + now + " --out sig.json"
)

// shown gives what stands on the screen now.
func (c *screen) shown() string { return c.tmux("capture-pane", "-p") }

// shows waits until the screen that is up now shows something.
func (c *screen) shows(text string) {
	c.s.t.Helper()
	c.until(func() bool { return strings.Contains(c.shown(), text) }, "%q does not come on the screen", text)
}

// onTop waits until a screen of that title is up.
func (c *screen) onTop(title string) {
	c.s.t.Helper()
	c.until(func() bool { return strings.HasPrefix(c.shown(), title) }, "the screen %q does not come", title)
}

// types presses the keys of a text one after the other, as a person does.
func (c *screen) types(text string) {
	for _, r := range text {
		c.tmux("send-keys", "-l", string(r))
		time.Sleep(25 * time.Millisecond)
	}
}

// listens waits until a screen that drops what is typed ahead listens: the keyboard was still for a moment.
func (c *screen) listens() { time.Sleep(900 * time.Millisecond) }

// readsAll opens everything that has to be opened, and leaves the Overview up. It gives the words of the root.
func (c *screen) readsAll() (words []string) {
	c.s.t.Helper()
	c.onTop("Overview")
	for range 400 {
		if strings.Contains(firstLine(c.shown()), "nothing left to open") {
			break
		}
		c.press("n")
		time.Sleep(350 * time.Millisecond) // what passes by faster was not read
	}
	c.press("1")
	c.onTop("Overview")
	return c.rootWords()
}

var rootWordOnScreen = regexp.MustCompile(`(?m)(?:^|\s)(\d{1,2}) ([A-Za-z]+)`)

// rootWords reads the 32 words of the root off the screen.
func (c *screen) rootWords() (words []string) {
	c.s.t.Helper()
	var m [][]string
	c.until(func() bool {
		_, after, _ := strings.Cut(c.shown(), "Root")
		list := regexp.MustCompile(`(?m)^ +1 `).FindStringIndex(after)
		if list == nil {
			return false
		}
		m = rootWordOnScreen.FindAllStringSubmatch(after[list[0]:], -1)
		return len(m) >= 32
	}, "the words of the root are not on the screen")
	for i, w := range m[:32] {
		require.Equal(c.s.t, strconv.Itoa(i+1), w[1])
		words = append(words, w[2])
	}
	return words
}

func firstLine(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }

var wordAsked = regexp.MustCompile(`Question \d of 3, word (\d+) of the (?:root|digest)`)

// confirms answers the three questions.
func (c *screen) confirms(first string, words []string) {
	c.s.t.Helper()
	c.onTop("Confirm")
	c.readsOn()
	for question := range 3 {
		answer := first
		c.shows("Question " + strconv.Itoa(question+1) + " of 3")
		if question > 0 {
			asked := wordAsked.FindStringSubmatch(c.shown())
			require.NotNil(c.s.t, asked, "%s", c.shown())
			at, err := strconv.Atoi(asked[1])
			require.NoError(c.s.t, err)
			answer = words[at-1]
		}
		c.types(answer)
		c.shows("> " + answer + "_")
		c.press("Enter")
	}
}

// readsOn pages through what stands above the questions.
func (c *screen) readsOn() {
	c.s.t.Helper()
	c.onTop("Confirm")
	for range 100 {
		if strings.Contains(c.shown(), "Question 1 of 3") {
			break
		}
		c.press("NPage")
		time.Sleep(400 * time.Millisecond) // what passes by faster was not read
	}
	c.listens()
}

// The window closes while the PIN is waited for: nothing is signed.
func TestScreenSignsNothingAfterTheWindow(t *testing.T) {
	s := newToken(t)
	c := s.onScreen(100, 40, strings.Replace(tokenLine, now, "2099-12-31T23:59:20Z", 1))
	words := c.readsAll()
	c.press("A")
	c.confirms("415", words)
	c.onTop("PIN")
	for range 90 { // of forty seconds
		if strings.Contains(c.shown(), "WINDOW CLOSED") {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	c.shows("WINDOW CLOSED")
	c.types(testPIN)
	c.press("Enter")
	c.shows("Not signed.")
	c.shows("the window has closed")
	require.NoFileExists(t, s.path("sig.json"))
	c.press("C-c")
	c.end()
}

// The whole road: everything is opened, the questions answered, a wrong PIN, the right one, and a signature that verifies.
func TestScreenSignsOnAToken(t *testing.T) {
	s := newToken(t)
	c := s.onScreen(100, 40, tokenLine)
	words := c.readsAll()
	c.press("A")
	c.confirms("415", words)
	for _, pin := range []string{wrongPIN, testPIN} {
		c.onTop("PIN")
		c.shows(`token     "approver"`)
		c.listens()
		c.types(pin)
		c.shows("(hidden)")
		require.NotContains(t, c.shown(), pin[:3])
		c.press("Enter")
		if pin == wrongPIN {
			c.shows("The PIN was wrong.")
			c.shows("a wrong PIN was entered since the last login")
		}
	}
	c.onTop("Done")
	c.shows("APPROVED 415 operations: ")
	c.shows("The signature is verified, and written.")
	c.shows("sig.json")
	c.shows("Head of the ledger")
	c.listens()
	c.press("q")
	require.Zero(t, c.end(), "%s", c.text())
	require.Contains(t, c.text(), "signed by "+s.publicKey("k256.pem.pub").KID().String(), "what was signed stands on the screen that was there before")
	require.Equal(t, "off", c.alternate(), "the screen that was there before is back")
	file := s.requireSignatureOf("sig.json", "k256.pem.pub")
	require.Equal(t, uint64(415), file.ScopeSize)
}

// alternate tells whether the terminal shows its other screen.
func (c *screen) alternate() string {
	return map[string]string{"0": "off", "1": "on"}[strings.TrimSpace(c.tmux("display-message", "-p", "#{alternate_on}"))]
}

// requireSignatureOf reads a signature file that verifies under a public key.
func (s *session) requireSignatureOf(name, pub string) *quorum.SignatureFile {
	s.t.Helper()
	file, err := quorum.ParseSignatureFile(s.read(name))
	require.NoError(s.t, err)
	require.True(s.t, file.Verifies(s.publicKey(pub)))
	return file
}

func (s *session) publicKey(pub string) quorum.PublicKey {
	s.t.Helper()
	key, err := quorum.ParsePublicPEM(s.read(pub))
	require.NoError(s.t, err)
	return key
}

// A file that changes between the review and the signature is seen before the key is opened.
func TestScreenSeesAChangedFile(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, reviewLine)
	words := c.readsAll()
	s.write("ok-415.json", append(s.read("ok-415.json"), '\n'))
	c.press("A")
	c.confirms("415", words)
	c.onTop("Signing")
	c.shows("SCOPE_CHANGED: the file changed since you read it: ok-415.json")
	c.press("Escape")
	c.onTop("Open a file") // there is no way back to what it was
	c.press("q")
	require.Equal(t, 1, c.end())
	require.NoFileExists(t, s.path("sig.json"))
}

// Nothing that was typed ahead, pasted or held down passes the questions.
func TestScreenConfirmDropsWhatNobodyTyped(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, reviewLine)
	words := c.readsAll()
	c.press("A")
	c.press("4", "1", "5", "Enter") // ahead of the questions
	c.onTop("Confirm")
	c.shows("typed before")
	c.readsOn()
	c.shows("> _")
	c.press("Enter", "Enter", "Enter")
	c.paste("415\n" + words[0] + "\n" + words[1] + "\n") // without brackets
	time.Sleep(200 * time.Millisecond)
	c.shows("Question 1 of 3")
	c.tmux("set-buffer", "415")
	c.tmux("paste-buffer", "-p")
	c.shows("pasted text is not taken here")
	c.shows("> _")
	require.NotContains(t, c.shown(), "415_")
	c.press("C-c")
	require.Equal(t, 1, c.end())
	require.NoFileExists(t, s.path("sig.json"))
}

// A wrong answer signs nothing and asks anew.
func TestScreenAsksAnewAfterAWrongAnswer(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, reviewLine)
	words := c.readsAll()
	c.press("A")
	c.confirms("414", words)
	c.shows("not confirmed, nothing is signed")
	c.confirms("415", words)
	c.onTop("Done")
	c.press("C-c")
	require.Zero(t, c.end(), "%s", c.text())
	s.requireSignature("sig.json", "alice")
}

// Confirm is not reached before everything was opened.
func TestScreenWantsEverythingOpened(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, reviewLine)
	c.onTop("Overview")
	c.press("A")
	c.shows("not yet: still to be opened")
	c.onTop("Overview")
	c.press("q")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "INVALID_STATE: left without a signature")
	require.Contains(t, c.text(), "run it again once you have decided")
	require.NotContains(t, c.text(), "run it on a terminal", "there is one")
}

// What is not signed can be declined, a stop forbids nothing of that, and a decline is confirmed by itself.
func TestScreenDeclines(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, "exec $approver review policy-unbound.json --key alice.pem --now "+now)
	c.onTop("Overview")
	words := c.rootWords()
	c.press("A")
	c.shows("STOP: this cannot be signed; D declines")
	c.press("D")
	c.onTop("Decline")
	c.listens()
	c.types("not in my night")
	c.shows("> not in my night_")
	c.press("Enter")
	c.confirms("DECLINE", words)
	c.onTop("Done")
	c.shows("DECLINED ")
	c.listens()
	c.press("q")
	require.Zero(t, c.end(), "%s", c.text())
	name := "policy-unbound." + kid("alice")[:8] + ".decline.json"
	require.Contains(t, c.text(), "written   "+name)
	file, err := quorum.ParseDeclineFile(s.read(name))
	require.NoError(t, err)
	require.Equal(t, "not in my night", file.Reason)
}

// A change of the approver set: it is shown, confirmed and signed like a batch, and the signature holds.
func TestScreenSignsAChange(t *testing.T) {
	s := newSession(t)
	s.ok("set", "build", "--approvers", "alice.pem.pub,bob.pem.pub,dave.pem.pub", "--threshold", "2", "--epoch", "2", "--out", "next.json")
	c := s.onScreen(120, 60, "exec $approver review next.json --key alice.pem --current set.json --trust-domain compute.example.com --now "+now+" --out alice.set-sig.json")
	words := c.readsAll()
	size := regexp.MustCompile(`(\d+) changes;`).FindStringSubmatch(c.shown())
	require.NotNil(t, size, "%s", c.shown())
	c.press("D")
	c.shows("cannot be declined")
	c.press("A")
	c.confirms(size[1], words)
	c.onTop("Done")
	c.listens()
	c.press("q")
	require.Zero(t, c.end(), "%s", c.text())
	file, err := quorum.ParseSetSignatureFile(s.read("alice.set-sig.json"))
	require.NoError(t, err)
	require.Equal(t, uint64(2), file.Epoch)

	// the next approver reviews what the first one signed
	c = s.onScreen(120, 60, "exec $approver review alice.set-sig.json --key bob.pem --current set.json --trust-domain compute.example.com --now "+now+" --out bob.set-sig.json")
	words = c.readsAll()
	c.press("A")
	c.confirms(size[1], words)
	c.onTop("Done")
	c.press("C-c")
	require.Zero(t, c.end(), "%s", c.text())
	r := s.ok("batch", "verify-approvers", "--current", "set.json", "--set-signature", "alice.set-sig.json", "--set-signature", "bob.set-sig.json",
		"--trust-domain", "compute.example.com")
	require.Contains(t, r.stdout, "TAKEN")
}

// The smallest terminal that is usable: the whole road in 40 columns and 12 rows.
func TestScreenOfFortyColumns(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(40, 12, strings.Replace(reviewLine, "ok-415", "ok-2", 1))
	c.onTop("Overview")
	for !strings.Contains(firstLine(c.shown()), "nothing left") {
		c.press("n")
		time.Sleep(350 * time.Millisecond)
	}
	c.press("A")
	c.readsOn()
	c.shows("Question 1 of 3")
	words := make(map[int]string)
	for range 40 {
		for _, m := range rootWordOnScreen.FindAllStringSubmatch(c.shown(), -1) {
			if n, _ := strconv.Atoi(m[1]); n > 0 {
				words[n] = m[2]
			}
		}
		if len(words) >= 32 {
			break
		}
		time.Sleep(50 * time.Millisecond)
		c.press("Up")
	}
	require.GreaterOrEqual(t, len(words), 32, "%s", c.shown())
	list := make([]string, 32)
	for n, word := range words {
		if n <= 32 {
			list[n-1] = word
		}
	}
	c.confirms("2", list)
	c.onTop("Done")
	c.shows("APPROVED ")
	c.press("C-c")
	require.Zero(t, c.end(), "%s", c.text())
	s.requireSignature("sig.json", "alice")
}
