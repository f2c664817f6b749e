//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/golden"
)

// The whole road with a token: SoftHSM, a key that pkcs11-tool made, and a signature that OpenSSL and Node verify.

const (
	softHSMModule = "/usr/lib/softhsm/libsofthsm2.so"
	tokenKey      = "pkcs11:token=approver;object=k256"
)

// tool runs another program in the session's folder and gives its standard output.
func (s *session) tool(name string, args ...string) string {
	s.t.Helper()
	_, err := exec.LookPath(name)
	require.NoError(s.t, err, "run ./softhsm-test.sh, which installs what these tests need")
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(s.t, err, "%s: %s%s", name, out, &stderr)
	return string(out)
}

// newToken is a session with a SoftHSM token "approver", which has the key "k256", whose public half is k256.pem.pub; the
// PIN is in pin.txt. The calls of the module that counted gives are noted in the file "calls.log".
func newToken(t *testing.T) *session {
	t.Helper()
	s := newSession(t)
	require.FileExists(t, softHSMModule, "run ./softhsm-test.sh, which installs what these tests need")
	require.NoError(t, os.Mkdir(s.path("tokens"), 0o700))
	s.write("softhsm2.conf", fmt.Appendf(nil, "directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n", s.path("tokens")))
	s.env = append(s.env, "SOFTHSM2_CONF="+s.path("softhsm2.conf"), "P11FAULT_REAL="+softHSMModule, "P11FAULT_LOG="+s.path("calls.log"))
	s.tool("softhsm2-util", "--init-token", "--free", "--label", "approver", "--so-pin", "12345678", "--pin", testPIN)
	s.write("pin.txt", []byte(testPIN+"\n"))
	s.keygen("01", "k256")
	return s
}

func (s *session) pkcs11Tool(args ...string) {
	s.t.Helper()
	s.tool("pkcs11-tool", append([]string{"--module", softHSMModule, "--token-label", "approver", "--login", "--pin", testPIN}, args...)...)
}

// keygen makes a key on the token, and the file of its public half.
func (s *session) keygen(id, label string) {
	s.t.Helper()
	s.pkcs11Tool("--keypairgen", "--key-type", "EC:prime256v1", "--id", id, "--label", label, "--usage-sign")
	s.pkcs11Tool("--read-object", "--type", "pubkey", "--label", label, "--output-file", label+".der")
	s.tool("openssl", "pkey", "-pubin", "-inform", "DER", "-in", label+".der", "-out", label+".pem.pub")
}

// counted gives a module over SoftHSM that notes each call.
func (s *session) counted() string {
	s.t.Helper()
	so, err := compileFault()
	require.NoError(s.t, err, "run ./softhsm-test.sh, which installs what these tests need")
	return so
}

// spy gives OpenSC's module that logs PINs.
func (s *session) spy() string {
	s.t.Helper()
	paths, err := filepath.Glob("/usr/lib/*/pkcs11-spy.so")
	require.NoError(s.t, err)
	require.NotEmpty(s.t, paths, "run ./softhsm-test.sh, which installs opensc")
	return paths[0]
}

// logins gives the number of logins that the module has seen since the last call; none where it was not even loaded.
func (s *session) logins() int {
	s.t.Helper()
	log, err := os.ReadFile(s.path("calls.log"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	require.NoError(s.t, err)
	require.NoError(s.t, os.Remove(s.path("calls.log")))
	require.Contains(s.t, string(log), "C_GetSlotList")
	return strings.Count(string(log), "C_Login\n")
}

// signOnToken gives the arguments of batch sign with the key "k256" and the module that counts, unless more names others.
func (s *session) signOnToken(more ...string) []string {
	args := []string{"batch", "sign", "--scope", "ok-415.json", "--now", now, "--yes"}
	for flag, value := range map[string]string{"--module": s.counted(), "--key": tokenKey} {
		if !slices.Contains(more, flag) {
			args = append(args, flag, value)
		}
	}
	return append(args, more...)
}

// refusedToken is refused without a count of the log of calls as something written.
func (s *session) refusedToken(reason string, args ...string) result {
	s.t.Helper()
	r := s.run(append(slices.Clone(args), "--json", "--out", "refused.json")...)
	requireRefusal(s.t, r, "KEY_UNAVAILABLE", reason)
	require.Empty(s.t, r.stdout)
	require.False(s.t, slices.ContainsFunc(s.files(), func(n string) bool { return strings.Contains(n, "refused.json") }))
	return r
}

func TestTokenSigns(t *testing.T) {
	s := newToken(t)
	inherited := func() *os.File {
		read, write, err := os.Pipe()
		require.NoError(t, err)
		_, err = io.WriteString(write, testPIN)
		require.NoError(t, err)
		require.NoError(t, write.Close())
		t.Cleanup(func() { read.Close() })
		return read
	}
	for name, more := range map[string][]string{
		"--pin-file": {"--pin-file", "pin.txt"},
		"--pin-fd":   {"--pin-fd", "3"},
		"pin-source": {"--key", tokenKey + "?pin-source=file:" + s.path("pin.txt")},
	} {
		t.Run(name, func(t *testing.T) {
			s.fds = []*os.File{inherited()}
			out := "sig" + name + ".json"
			r := s.ok(s.signOnToken(append(more, "--pub", "k256.pem.pub", "--out", out)...)...)
			require.Equal(t, 1, s.logins())
			require.Regexp(t, `(?m)^token approver, serial [0-9a-f]+, PIN `, r.stderr)
			s.requireSignature(out, "k256")
			s.requireVerifiesOutside("ok-415.json", out, "k256.pem.pub")
		})
	}
}

// requireVerifiesOutside verifies a signature file with OpenSSL over the signing input, and with Node over the scope.
func (s *session) requireVerifiesOutside(scope, sig, pub string) {
	s.t.Helper()
	s.write("verify.mjs", golden.VerifyScript())
	file, err := quorum.ParseSignatureFile(s.read(sig))
	require.NoError(s.t, err)
	require.Equal(s.t, "ok "+file.KID.String()+"\n", s.tool("node", "verify.mjs", scope, sig, pub))

	var input bytes.Buffer
	part := func(b []byte) { input.Write(append([]byte{0, 0, 0, byte(len(b))}, b...)) }
	number := func(n uint64) (b []byte) {
		for shift := 56; shift >= 0; shift -= 8 {
			b = append(b, byte(n>>shift))
		}
		return b
	}
	for _, p := range [][]byte{[]byte("better-compute/v1"), []byte("batch-approval"), []byte(file.BatchID), file.ScopeRoot[:],
		number(file.ScopeSize), number(file.NotAfter), []byte(file.TrustDomain)} {
		part(p)
	}
	s.write("input", input.Bytes())
	s.write("sig.der", derSignature(file.Sig[:]))
	require.Equal(s.t, "Verified OK\n", s.tool("openssl", "dgst", "-sha256", "-verify", pub, "-signature", "sig.der", "input"))
}

// derSignature gives r and s of 32 bytes each as OpenSSL takes them.
func derSignature(rs []byte) []byte {
	integer := func(b []byte) []byte {
		b = bytes.TrimLeft(b, "\x00")
		if b[0] >= 0x80 {
			b = append([]byte{0}, b...)
		}
		return append([]byte{2, byte(len(b))}, b...)
	}
	body := append(integer(rs[:32]), integer(rs[32:])...)
	return append([]byte{0x30, byte(len(body))}, body...)
}

// The PIN typed on a terminal: it is asked for after the answers, and not shown.
func TestTokenPINTyped(t *testing.T) {
	s := newToken(t)
	line := "exec $approver batch sign --scope ok-2.json --now " + now + " --module " + s.counted() + " --key \"" + tokenKey + "\" --pub k256.pem.pub --out sig.json"
	c := s.onScreen(100, 40, line)
	c.await(question)
	require.NotContains(t, c.text(), "PIN for token")
	c.answer()
	c.await("PIN for token")
	c.say(testPIN)
	require.Zero(t, c.end(), "%s", c.text())
	require.Equal(t, 1, s.logins())
	s.requireSignature("sig.json", "k256")
	require.NoError(t, os.Remove(s.path("sig.json")))

	// A wrong answer costs no try, nor does Enter; a wrong PIN costs one.
	for _, test := range []struct {
		says   string
		logins int
		types  func(*screen)
	}{
		{"INVALID_STATE: not confirmed", 0, func(c *screen) { c.say(""); c.asked(1); c.say(""); c.asked(2); c.say("") }},
		{"KEY_UNAVAILABLE: ", 0, func(c *screen) { c.answer(); c.await("PIN for token"); c.say("") }},
		{"KEY_UNAVAILABLE: ", 0, func(c *screen) { c.answer(); c.await("PIN for token"); c.press("C-c") }},
		{"KEY_UNAVAILABLE: wrong PIN", 1, func(c *screen) { c.answer(); c.await("PIN for token"); c.say(wrongPIN) }},
	} {
		c := s.onScreen(100, 40, line)
		c.await(question)
		test.types(c)
		require.Equal(t, 1, c.end())
		require.Contains(t, c.text(), test.says)
		require.Equal(t, test.logins, s.logins())
		require.NoFileExists(t, s.path("sig.json"))
	}
}

// A wrong PIN costs one try, and no PIN costs none.
func TestTokenPINWrongOrMissing(t *testing.T) {
	s := newToken(t)
	s.write("wrong.txt", []byte(wrongPIN+"\n"))
	s.refusedToken("pin-incorrect", s.signOnToken("--pub", "k256.pem.pub", "--pin-file", "wrong.txt")...)
	require.Equal(t, 1, s.logins(), "tries that a wrong PIN costs")
	r := s.run(s.signOnToken("--pub", "k256.pem.pub", "--pin-file", "wrong.txt")...)
	require.Contains(t, r.stderr, "try: check the PIN before you try again")
	require.Equal(t, 1, s.logins())

	s.refusedToken("pin-missing", s.signOnToken("--pub", "k256.pem.pub")...)
	require.Zero(t, s.logins(), "tries without a PIN")
	for name, pin := range map[string]string{"empty": "", "newline": "\n", "two lines": testPIN + "\nx\n"} {
		s.write("odd.txt", []byte(pin))
		require.Equal(t, 1, s.run(s.signOnToken("--pub", "k256.pem.pub", "--pin-file", "odd.txt")...).status, name)
		require.Zero(t, s.logins(), name)
	}
	s.write("open.txt", []byte(testPIN+"\n"))
	require.NoError(t, os.Chmod(s.path("open.txt"), 0o640))
	require.Equal(t, 1, s.run(s.signOnToken("--pub", "k256.pem.pub", "--pin-file", "open.txt")...).status)
	require.Zero(t, s.logins(), "a PIN file that others can read")
	require.Equal(t, 2, s.run(s.signOnToken("--pub", "k256.pem.pub", "--pin-file", "pin.txt", "--pin-fd", "3")...).status)
	require.Zero(t, s.logins(), "two PINs")

	// It still signs.
	s.ok(s.signOnToken("--pub", "k256.pem.pub", "--pin-file", "pin.txt")...)
	require.Equal(t, 1, s.logins())
}

// A descriptor that nobody handed over is one of the runtime's own: no login is tried on what it gives, and nobody reviews
// anything before that is told. The same for a file that gives no PIN.
func TestTokenPINIsThereBeforeTheReview(t *testing.T) {
	s := newToken(t)
	for fd := 3; fd < 10; fd++ {
		r := s.refusedToken("pin-missing", s.signOnToken("--pub", "k256.pem.pub", "--pin-fd", strconv.Itoa(fd))...)
		require.Equal(t, 1, strings.Count(r.stderr, "\n"), "a review comes before the refusal: %s", r.stderr)
		require.Zero(t, s.logins())
	}
	s.write("empty.txt", []byte("\n"))
	for file, code := range map[string]string{"empty.txt": "KEY_UNAVAILABLE", "absent.txt": "NOT_FOUND", "ok-415.json": "INVALID_INPUT"} {
		for _, pin := range [][]string{{"--pin-file", file}, {"--key", tokenKey + "?pin-source=file:" + s.path(file)}} {
			r := s.run(s.signOnToken(append(pin, "--pub", "k256.pem.pub")...)...)
			require.Equal(t, 1, r.status)
			require.Regexp(t, "^"+code+": ", r.stderr)
			require.Zero(t, s.logins())
		}
	}
}

// Before a bare root is signed with it, too.
func TestTokenKeyUnpinnedUnchecked(t *testing.T) {
	s := newToken(t)
	line := strings.Replace(uncheckedOnScreen, "--key alice.pem", "--key \""+tokenKey+"\" --pin-file pin.txt --module "+softHSMModule, 1)
	for pub, shown := range map[string]bool{"": true, " --pub k256.pem.pub": false} {
		c := s.onScreen(100, 40, line+pub)
		c.await("Type the batch id: ")
		require.Equal(t, shown, strings.Contains(c.text(), "ACKNOWLEDGE key-unpinned: the token says which public key it has"), pub)
		c.say("no")
		require.Equal(t, 1, c.end())
	}
}

// Which key it is comes from the approver, or is a finding.
func TestTokenKeyIsTheExpectedOne(t *testing.T) {
	s := newToken(t)
	s.keygen("02", "other")
	s.refusedToken("key-mismatch", s.signOnToken("--pub", "other.pem.pub", "--pin-file", "pin.txt")...)
	s.refusedToken("key-mismatch", s.signOnToken("--pub", "alice.pem.pub", "--pin-file", "pin.txt")...)
	s.refusedToken("key-mismatch", s.signOnToken("--approvers", "alice.pem.pub,other.pem.pub", "--pin-file", "pin.txt")...)
	s.refusedToken("key-not-found", s.signOnToken("--key", "pkcs11:token=approver;object=absent", "--pin-file", "pin.txt")...)
	s.refusedToken("token-not-found", s.signOnToken("--key", "pkcs11:token=absent;object=k256", "--pin-file", "pin.txt")...)
	s.refusedToken("module", s.signOnToken("--module", "/nowhere/module.so", "--pin-file", "pin.txt")...)

	r := s.ok(s.signOnToken("--pin-file", "pin.txt")...)
	require.Contains(t, r.stderr, "ACKNOWLEDGE key-unpinned")
	r = s.ok(s.signOnToken("--pin-file", "pin.txt", "--pub", "k256.pem.pub")...)
	require.NotContains(t, r.stderr, "key-unpinned")

	// A kid as the object's label is pinned by the set that has it, whatever key the token has under it.
	for id, key := range map[string][2]string{"03": {"alice", "alice"}, "04": {"dave", "bob"}} {
		s.tool("softhsm2-util", "--import", key[0]+".pem", "--token", "approver", "--label", kid(key[1]), "--id", id, "--pin", testPIN)
	}
	pinned := func(name string) []string {
		return s.signOnToken("--key", "pkcs11:token=approver;object="+kid(name), "--approvers", "set.json", "--pin-file", "pin.txt")
	}
	r = s.ok(append(pinned("alice"), "--out", "alice.json")...)
	require.NotContains(t, r.stderr, "key-unpinned")
	s.requireSignature("alice.json", "alice")
	s.refusedToken("key-mismatch", pinned("bob")...)
}
