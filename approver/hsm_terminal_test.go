//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a security officer types.

// hsmLine gives a shell line of an hsm command on SoftHSM.
func hsmLine(args string) string { return "exec $approver hsm " + args + " --module " + softHSMModule }

// asks waits for a question that was not there before, and answers it.
func (c *screen) answers(asked, typed string) {
	c.s.t.Helper()
	c.await(asked)
	time.Sleep(100 * time.Millisecond) // the question stands there just before the answer is waited for
	c.say(typed)
}

const soPIN = "12345678"

func TestTerminalInitialises(t *testing.T) {
	s := newToken(t)
	c := s.onScreen(120, 40, hsmLine("init --label fresh"))
	c.await("never initialised. It becomes token fresh.")
	c.answers("Type the new label: ", "fresh")
	c.typesNewPIN(newSOPINAsked, soPIN)
	c.typesNewPIN(newPINAsked, testPIN)
	require.Zero(t, c.end(), "%s", c.text())
	require.Regexp(t, `(?m)^uri pkcs11:token=fresh;serial=[0-9a-f]+$`, c.text())
	require.NotContains(t, c.text(), soPIN)
	s.ok("hsm", "keygen", "--token", "fresh", "--label", "k", "--out", "fresh", "--module", softHSMModule, "--pin-file", "pin.txt")

	c = s.onScreen(120, 40, hsmLine("init --label fresh --so-pin-file pin.txt --new-pin-file pin.txt"))
	c.await("warning: token fresh, serial " + s.serialOf("fresh") + ", has that label already")
	c.answers("Type the new label: ", "fres")
	require.Equal(t, 1, c.end())

	// Once more over what is on it: another label, the same PIN of the security officer.
	serial := s.serialOf("fresh")
	s.write("so.txt", []byte(soPIN+"\n"))
	erase := hsmLine("init --label again --token fresh --so-pin-file so.txt --new-pin-file pin.txt")
	for _, wrong := range [][2]string{{"", ""}, {"again", ""}, {"fresh", ""}, {"fresh", "fresh"}, {"FRESH", ""}, {"y", ""}, {"fresh", serial[1:]}} {
		c := s.onScreen(120, 40, erase)
		c.await("EVERYTHING ON IT IS DESTROYED")
		c.answers("Type the label of the token that is erased: ", wrong[0])
		asked := "label"
		if wrong[0] == "fresh" {
			asked = "serial"
			c.answers("Type the serial of the token that is erased: ", wrong[1])
		}
		require.Equal(t, 1, c.end())
		require.Contains(t, c.text(), "INVALID_STATE: not confirmed, nothing was changed: what was typed is not the "+asked+" asked for\n"+
			"try: run it again, and type what stands on the screen")
	}
	c = s.onScreen(120, 40, erase)
	c.erases("fresh", serial, "fresh") // which is the old label
	require.Equal(t, 1, c.end())
	s.ok("hsm", "check", "pkcs11:token=fresh;object=k", "--module", softHSMModule, "--pin-file", "pin.txt")
	c = s.onScreen(120, 40, erase)
	c.await("public key, P-256, label k")
	c.erases("fresh", serial, "again")
	require.Zero(t, c.end(), "%s", c.text())
	require.Equal(t, 1, s.run("hsm", "check", "pkcs11:token=fresh;object=k", "--module", softHSMModule, "--pin-file", "pin.txt").status)
	r := s.ok("hsm", "list", "--module", softHSMModule, "--token", "again", "--login", "--pin-file", "pin.txt")
	require.NotContains(t, r.stdout, "key, ")

	// A wrong PIN of the security officer erases nothing; nor does one of the user that the token would not take.
	s.ok("hsm", "keygen", "--token", "again", "--label", "k", "--out", "again", "--module", softHSMModule, "--pin-file", "pin.txt")
	s.write("wrong.txt", []byte(wrongPIN+"\n"))
	s.write("short.txt", []byte("12\n"))
	for files, says := range map[string]string{"--so-pin-file wrong.txt --new-pin-file pin.txt": "KEY_UNAVAILABLE: ", "--so-pin-file so.txt --new-pin-file short.txt": "INVALID_INPUT: "} {
		c := s.onScreen(120, 40, hsmLine("init --label x --token again "+files))
		c.erases("again", s.serialOf("again"), "x")
		require.Equal(t, 1, c.end(), "%s", c.text())
		require.Contains(t, c.text(), says)
		s.ok("hsm", "check", "pkcs11:token=again;object=k", "--module", softHSMModule, "--pin-file", "pin.txt")
	}
}

// A maker can deliver a token that was never initialised with a PIN of the security officer. Another is refused with what to do,
// and the right one is to be changed next.
func TestTerminalInitialisesADeliveredToken(t *testing.T) {
	f := newFaultyToken(t)
	line := strings.ReplaceAll(hsmLine("init --label fresh --so-pin-file pin.txt --new-pin-file pin.txt"), softHSMModule, f.module)
	f.set("C_InitToken 0 1 rv 0xa0")
	c := f.onScreen(80, 40, line)
	c.answers("Type the new label: ", "fresh")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "\ntry: this maker delivers it with an SO PIN: enter that\n")
	require.Contains(t, c.text(), ", serial (blank)\n")
	f.set("C_GetTokenInfo 0 0 flags 0x800000")
	c = f.onScreen(200, 40, line)
	c.answers("Type the new label: ", "fresh")
	require.Zero(t, c.end(), "%s", c.text())
	require.Contains(t, c.text(), "\nnext: approver hsm pin change --so --token fresh --module "+f.module+"\n")
}

// erases types what names a token that is erased, and what it becomes.
func (c *screen) erases(label, serial, next string) {
	c.s.t.Helper()
	c.answers("Type the label of the token that is erased: ", label)
	c.answers("Type the serial of the token that is erased: ", serial)
	c.answers("Type the new label: ", next)
}

// What is asked for a PIN.
const (
	pinAsked      = "PIN for token"
	soPINAsked    = "Security officer's PIN for token"
	newPINAsked   = "New PIN for token"
	newSOPINAsked = "New security officer's PIN for token"
	againAsked    = "The same again: "
)

// typesNewPIN types a new PIN twice.
func (c *screen) typesNewPIN(asked, pin string) {
	c.s.t.Helper()
	before := strings.Count(c.text(), againAsked)
	c.answers(asked, pin)
	c.until(func() bool { return strings.Count(c.text(), againAsked) > before }, "it is not asked for again")
	time.Sleep(100 * time.Millisecond)
	c.say(pin)
}

// serialOf gives the serial of the token with a label.
func (s *session) serialOf(label string) string {
	s.t.Helper()
	r := s.ok("hsm", "list", "--module", softHSMModule, "--token", label)
	_, after, ok := strings.Cut(r.stdout, "    serial   ")
	require.True(s.t, ok, "%s", r.stdout)
	serial, _, _ := strings.Cut(after, "\n")
	return serial
}

func TestTerminalDeletes(t *testing.T) {
	s := newToken(t)
	s.keygen("02", "other")
	line := hsmLine("delete '\\''" + tokenKey + "'\\'' --pin-file pin.txt")
	require.Contains(t, s.ok("hsm", "list", "--module", softHSMModule).stdout, "k256")
	const asked = "Type the first 8 characters of its kid, or its label: "
	kid := s.kidOf("k256")
	for _, wrong := range []string{"", "y", "yes", "K256", "k25", "other", kid[:7], kid[1:9], s.kidOf("other")[:8], kid + "x"} {
		c := s.onScreen(120, 40, line)
		c.await(asked)
		require.Contains(t, c.text(), "THIS IS DESTROYED on token approver, serial ")
		require.Contains(t, c.text(), "private key, P-256, label k256, id 01, kid "+kid)
		require.Contains(t, c.text(), "public key, P-256, label k256, id 01, kid "+kid)
		c.answers(asked, wrong)
		require.Equal(t, 1, c.end(), wrong)
		require.Contains(t, c.text(), "INVALID_STATE: not confirmed, nothing was changed")
	}
	require.Len(t, s.keysOnToken(), 4)
	for label, typed := range map[string]string{"k256": kid[:8], "other": "other"} {
		c := s.onScreen(120, 40, hsmLine("delete '\\''pkcs11:token=approver;object="+label+"'\\'' --pin-file pin.txt"))
		c.answers(asked, typed)
		require.Zero(t, c.end(), "%s", c.text())
		require.Contains(t, c.text(), "deleted 2 objects")
	}
	require.Empty(t, s.keysOnToken())
	c := s.onScreen(120, 40, line)
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "KEY_UNAVAILABLE: ")
}

// A label draws no row of its own, and its length pushes nothing off the screen.
func TestTerminalDrawsLabelsAsTheyAre(t *testing.T) {
	s := newToken(t)
	posing := "x" + strings.Repeat(" ", 70) + "private key, P-256, label k256, id 01"
	for id, label := range map[string]string{"11": posing, "12": strings.Repeat("y", 3000)} {
		s.pkcs11Tool("--keypairgen", "--key-type", "EC:prime256v1", "--id", id, "--label", label, "--usage-sign")
	}
	c := s.onScreen(80, 40, hsmLine("delete '\\''pkcs11:token=approver;id=%11'\\'' --pin-file pin.txt"))
	c.await("or its label: ")
	require.Equal(t, 1, strings.Count(c.text(), "private key, "), "%s", c.text())
	require.Regexp(t, `label x\s+<U\+0020>`, c.text())
	require.Regexp(t, fmt.Sprintf(`\(cut: it has\s+%d\s+bytes\)`, len(posing)), c.text())
	c.say("x")
	require.Equal(t, 1, c.end())
	c = s.onScreen(80, 40, hsmLine("delete '\\''pkcs11:token=approver;id=%12'\\'' --pin-file pin.txt"))
	c.await("or its label: ")
	require.Less(t, strings.Count(strings.TrimRight(c.text(), "\n"), "\n"), 12, "%s", c.text())
	require.Regexp(t, `\(cut: it has\s+3000\s+bytes\)`, c.text())
	c.answers("or its label: ", strings.Repeat("y", mostLabelCells))
	require.Zero(t, c.end(), "%s", c.text())
}

func TestShownLabel(t *testing.T) {
	for label, want := range map[string]string{
		"k256": "k256", "a b": "a b", "a  b": "a <U+0020>b", " a": "<U+0020>a", "a ": "a<U+0020>", "a\nb": "a<U+000A>b", "": "",
	} {
		shown, cut := shownLabel(label)
		require.Equal(t, want, shown)
		require.False(t, cut)
	}
	shown, cut := shownLabel(strings.Repeat("é", 40))
	require.Equal(t, strings.Repeat("é", 32), shown)
	require.True(t, cut)
}

// A public half of another key under the id of this one: its kid does not name this key.
func TestTerminalDeletesBesideAForeignHalf(t *testing.T) {
	s := newToken(t)
	s.keygen("02", "other")
	s.pkcs11Tool("--delete-object", "--type", "pubkey", "--id", "01")
	s.pkcs11Tool("--write-object", "other.der", "--type", "pubkey", "--id", "01", "--label", "k256")
	const asked = "Type its label: "
	for _, answer := range []string{s.kidOf("other")[:8], s.kidOf("other")} {
		c := s.onScreen(120, 40, hsmLine("delete '\\''"+tokenKey+"'\\'' --pin-file pin.txt"))
		c.await(asked)
		require.Contains(t, c.text(), "private key, P-256, label k256, id 01\n")
		require.Contains(t, c.text(), "did not sign for the public half beside it")
		c.answers(asked, answer)
		require.Equal(t, 1, c.end())
		require.Contains(t, c.text(), "INVALID_STATE: not confirmed, nothing was changed")
	}
}

// kidOf gives the kid of the key whose public half lies in the session's folder.
func (s *session) kidOf(label string) string {
	s.t.Helper()
	key, err := readPublicKey(filepath.Join(s.dir, label+".pem.pub"))
	require.NoError(s.t, err)
	return key.KID().String()
}

func TestTerminalPINs(t *testing.T) {
	const next = "72615038"
	s := newToken(t)
	c := s.onScreen(120, 40, hsmLine("pin change --token approver"))
	c.answers(pinAsked, testPIN)
	c.typesNewPIN(newPINAsked, next)
	require.Zero(t, c.end(), "%s", c.text())
	require.NotContains(t, c.text(), next)

	c = s.onScreen(120, 40, hsmLine("pin unlock --token approver"))
	c.answers(soPINAsked, soPIN)
	c.typesNewPIN(newPINAsked, testPIN)
	require.Zero(t, c.end(), "%s", c.text())
	require.NotContains(t, c.text(), soPIN)

	// Two that differ change nothing, nor does Enter.
	for _, typed := range [][2]string{{next, next[1:]}, {"", ""}} {
		c := s.onScreen(120, 40, hsmLine("pin change --token approver"))
		c.answers(pinAsked, testPIN)
		c.answers(newPINAsked, typed[0])
		if typed[0] != "" {
			c.answers(againAsked, typed[1])
		}
		require.Equal(t, 1, c.end(), "%s", c.text())
	}
	require.Len(t, s.keysOnToken(), 2, "the PIN is another one")

	// A wrong PIN makes no key, and the right one makes it.
	for _, test := range []struct {
		pin    string
		status int
	}{{wrongPIN, 1}, {testPIN, 0}} {
		c := s.onScreen(120, 40, hsmLine("keygen --token approver --label new --out new"))
		c.answers(pinAsked, test.pin)
		require.Equal(t, test.status, c.end(), "%s", c.text())
		if test.status == 0 {
			require.FileExists(t, s.path("new.proof"))
		} else {
			require.NoFileExists(t, s.path("new.pub"))
		}
	}
}

// A signal at any question: it ends with 1, nothing has changed, and the terminal shows again what is typed.
func TestTerminalHSMInterrupted(t *testing.T) {
	token := newToken(t)
	for name, test := range map[string]struct {
		line  string
		until func(*screen)
	}{
		"a PIN":          {hsmLine("keygen --token approver --label new --out new"), func(c *screen) { c.await(pinAsked) }},
		"a PIN to check": {hsmLine("check '\\''" + tokenKey + "'\\''"), func(c *screen) { c.await(pinAsked) }},
		"a new PIN":      {hsmLine("pin change --token approver --pin-file pin.txt"), func(c *screen) { c.await(newPINAsked) }},
		"it once more": {hsmLine("pin change --token approver --pin-file pin.txt"), func(c *screen) {
			c.answers(newPINAsked, testPIN)
			c.await(againAsked)
		}},
		"the SO's PIN": {hsmLine("pin unlock --token approver"), func(c *screen) { c.await(soPINAsked) }},
		"a deletion":   {hsmLine("delete '\\''" + tokenKey + "'\\'' --pin-file pin.txt"), func(c *screen) { c.await("or its label: ") }},
		"an erasure":   {hsmLine("init --label x --token approver"), func(c *screen) { c.await("Type the label") }},
		"a blank token": {hsmLine("init --label x"), func(c *screen) {
			c.answers("Type the new label: ", "x")
			c.await(newSOPINAsked)
		}},
	} {
		for how, signal := range map[string]syscall.Signal{"by C-c": 0, "by SIGTERM": syscall.SIGTERM, "by C-\\": syscall.SIGQUIT} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := *token
				s.t = t
				before := s.ok("hsm", "list", "--module", softHSMModule).stdout
				c := s.onScreen(120, 40, test.line)
				test.until(c)
				time.Sleep(100 * time.Millisecond)
				c.interrupt(signal)
				require.Equal(t, 1, c.end(), "%s", c.text())
				if strings.HasSuffix(name, "new PIN") || name == "it once more" || name == "a blank token" {
					require.Contains(t, c.text(), "; nothing was changed")
				}
				require.Equal(t, before, s.ok("hsm", "list", "--module", softHSMModule).stdout)
				for _, name := range []string{"new.pub", "new.proof"} {
					_, err := os.Lstat(s.path(name))
					require.ErrorIs(t, err, os.ErrNotExist)
				}
				require.Equal(t, []string{"private key k256", "public key k256"}, s.keysOnToken())
			})
		}
	}
}
