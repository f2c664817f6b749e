//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands on modules other than SoftHSM. Each lives as long as one shell, so the commands are a script of it.

// A moduleScript is a script of commands beside a module of its own.
type moduleScript struct {
	*session
	module string
	steps  []step
}

// A step is one command of the script, and what it should do.
type step struct {
	args         []string
	code, reason string // of its refusal; "" where it does its work
	says         string // on either stream
	check        func(r result)
}

// does adds a command that works.
func (m *moduleScript) does(says string, args ...string) *step {
	m.steps = append(m.steps, step{args: args, says: says})
	return &m.steps[len(m.steps)-1]
}

// refuses adds one that ends with KEY_UNAVAILABLE, or another code before a slash.
func (m *moduleScript) refuses(reason, says string, args ...string) {
	code, reason, ok := strings.Cut(reason, "/")
	if !ok {
		code, reason = "KEY_UNAVAILABLE", code
	}
	m.steps = append(m.steps, step{args: args, code: code, reason: reason, says: says})
}

// run runs the script by a shell line in which "$script" is the command that runs it and "$pin" the PIN.
func (m *moduleScript) run(line string) {
	m.t.Helper()
	script := ""
	for i, s := range m.steps {
		args := append(s.args, "--module", m.module)
		if s.code != "" {
			args = append(args, "--json")
		}
		script += fmt.Sprintf("$approver '%s' >%[2]d.out 2>%[2]d.err; echo $? >%[2]d.status\n", strings.Join(args, "' '"), i)
	}
	m.write("script", []byte(script))
	m.write("so.txt", []byte("76543210\n"))
	m.write("wrong.txt", []byte("999999\n"))
	r := m.sh("pin=$(cat pin.txt); script='sh script'; " + line)
	require.Zero(m.t, r.status, "%s%s", r.stdout, r.stderr)
	for i, s := range m.steps {
		name := strconv.Itoa(i)
		r := result{stdout: string(m.read(name + ".out")), stderr: string(m.read(name + ".err"))}
		r.status, _ = strconv.Atoi(strings.TrimSpace(string(m.read(name + ".status"))))
		requireNoSecret(m.t, r.stdout, r.stderr)
		if s.code == "" {
			require.Zero(m.t, r.status, "%q: %s", s.args, r.stderr)
		} else {
			requireRefusal(m.t, r, s.code, s.reason)
		}
		require.Regexp(m.t, s.says, r.stdout+r.stderr, "%q", s.args)
		if s.check != nil {
			s.check(r)
		}
	}
}

func newModuleScript(t *testing.T, names ...string) *moduleScript {
	t.Helper()
	require.Zero(t, os.Geteuid(), "these modules have servers that want namespaces of their own: ./softhsm-test.sh runs as root")
	m := &moduleScript{session: newSession(t)}
	for _, name := range names {
		if found, _ := filepath.Glob(name); len(found) > 0 {
			m.module = found[0]
		}
	}
	require.NotEmpty(t, m.module, "run ./softhsm-test.sh, which installs what these tests need: %q", names)
	m.write("pin.txt", []byte(testPIN+"\n"))
	return m
}

func testScript(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../hsm/testdata/" + name)
	require.NoError(t, err)
	return path
}

// A TPM's key from its making to a signature that holds; a wrong PIN changes no state that it shows.
func TestCommandsOnTPM(t *testing.T) {
	t.Parallel()
	m := newModuleScript(t, "/usr/lib/*/libtpm2_pkcs11.so.1")
	const key = "pkcs11:token=approver;object=tpm"
	pin := []string{"--pin-file", "pin.txt"}
	m.does("OK.*libtpm2_pkcs11|tpm2", "hsm", "list")
	m.does("kid ", append([]string{"hsm", "keygen", "--token", "approver", "--label", "tpm", "--out", "tpm"}, pin...)...)
	m.refuses("CONFLICT/", "labelled", append([]string{"hsm", "keygen", "--token", "approver", "--label", "tpm", "--out", "twin"}, pin...)...)
	m.does("private key[^\n]*P-256", append([]string{"hsm", "list", "--login", "--token", "approver"}, pin...)...)
	m.does("(?m)^FIT: ", append([]string{"hsm", "check", key, "--pub", "tpm.pub"}, pin...)...)
	m.refuses("INVALID_STATE/unfit-key", "1 of ", append([]string{"hsm", "check", key, "--pub", "alice.pem.pub"}, pin...)...)
	m.refuses("CONFLICT/", "public", append([]string{"hsm", "import", key, "--from", "tpm.pub"}, pin...)...)
	m.does("signed by", append([]string{"batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--key", key, "--pub", "tpm.pub", "--out", "sig.json"}, pin...)...)
	m.refuses("pin-incorrect", "wrong PIN", "batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--key", key, "--pub", "tpm.pub", "--out", "no.json", "--pin-file", "wrong.txt", "--no-ledger") // which knows that this key signed it
	m.does(`PIN +ready \(this module does not show PIN tries\)`, "hsm", "list")
	m.run("unshare --net --pid --fork --kill-child --mount-proc sh " + testScript(t, "tpm.sh") + " " + m.module + " $PWD/tpm 76543210 $pin $script")
	m.ok("batch", "verify", "sig.json", "--scope", "ok-2.json", "--approvers", "tpm.pub", "--threshold", "1", "--trust-domain", "compute.example.com", "--now", now)
	require.NoFileExists(t, m.path("no.json"))
	require.NoFileExists(t, m.path("twin.pub"))
}

// openCryptoki shows each state of a PIN on its way to a lock, and it makes no keys on a curve.
func TestCommandsOnOpenCryptoki(t *testing.T) {
	t.Parallel()
	m := newModuleScript(t, "/usr/lib/*/opencryptoki/libopencryptoki.so", "/usr/lib/*/libopencryptoki.so.0")
	state := func(words string) {
		m.does("", "hsm", "list", "--json").check = func(r result) {
			var listed struct {
				Modules []struct {
					Slots []struct{ Token struct{ PIN string } }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &listed), r.stdout)
			require.Equal(t, words, listed.Modules[0].Slots[0].Token.PIN)
		}
	}
	login := func(file string, more ...string) []string {
		return append([]string{"hsm", "list", "--login", "--token", "approver", "--pin-file", file}, more...)
	}
	state("PIN ready")
	m.does("approver", login("pin.txt")...)
	m.refuses("UNSUPPORTED/", "makes no P-256 keys", "hsm", "keygen", "--token", "approver", "--label", "k", "--out", "k", "--pin-file", "pin.txt")
	m.refuses("pin-incorrect", "wrong PIN", login("wrong.txt")...)
	state("a wrong PIN was entered since the last login")
	m.refuses("pin-incorrect", "one try left", login("wrong.txt")...)
	state("one try left before the PIN locks")
	m.refuses("pin-final-try", "no login was tried", login("pin.txt")...)
	m.does("approver", login("pin.txt", "--allow-final-try")...)
	state("PIN ready")
	m.refuses("pin-incorrect", "", login("wrong.txt")...)
	m.refuses("pin-incorrect", "", login("wrong.txt")...)
	m.refuses("*", "", login("wrong.txt", "--allow-final-try")...)
	state("PIN locked")
	m.refuses("pin-locked", "security officer", login("pin.txt", "--allow-final-try")...)
	m.does("", "hsm", "pin", "unlock", "--token", "approver", "--so-pin-file", "so.txt", "--new-pin-file", "pin.txt")
	m.does("approver", login("pin.txt")...)
	state("PIN ready")
	m.run("unshare --mount --ipc --pid --fork --kill-child --mount-proc sh " + testScript(t, "opencryptoki.sh") + " " + m.module + " 76543210 $pin $script")
	require.NoFileExists(t, m.path("k.pub"))
}
