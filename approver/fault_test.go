//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tokens that fail, through the command as a process: its status, its streams and the folder it writes to.

// compileFault makes p11fault.so once, in the folder of the command.
var compileFault = sync.OnceValues(func() (string, error) {
	header, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/miekg/pkcs11").Output()
	if err != nil {
		return "", err
	}
	so := filepath.Join(filepath.Dir(built), "p11fault.so")
	return so, exec.Command("gcc", "-shared", "-fPIC", "-Wl,-z,nodelete", "-I"+strings.TrimSpace(string(header)),
		"-o", so, "../hsm/testdata/p11fault.c", "-ldl").Run()
})

// A faultyToken is the token of newToken behind a module that fails by rule and notes every call. Signatures go to the
// folder "out", which has nothing else in it; the PIN is in pin.txt.
type faultyToken struct {
	*session
	module, control, log string
}

func newFaultyToken(t *testing.T) *faultyToken {
	t.Helper()
	so, err := compileFault()
	require.NoError(t, err, "run ./softhsm-test.sh, which installs what these tests need")
	dir := t.TempDir()
	f := &faultyToken{newToken(t), so, filepath.Join(dir, "control"), filepath.Join(dir, "log")}
	require.NoError(t, os.Mkdir(f.path("out"), 0o700))
	f.env = append(f.env, "P11FAULT_REAL="+softHSMModule, "P11FAULT_CTL="+f.control, "P11FAULT_LOG="+f.log)
	f.set()
	return f
}

// in gives the token to a subtest.
func (f *faultyToken) in(t *testing.T) *faultyToken {
	s, sub := *f.session, *f
	s.t, sub.session = t, &s
	return &sub
}

// set replaces the rules, and empties the log.
func (f *faultyToken) set(rules ...string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(f.control, []byte(strings.Join(rules, "\n")+"\n"), 0o600))
	require.NoError(f.t, os.WriteFile(f.log, nil, 0o600))
}

// calls gives the names of the C functions that were called since the rules were set.
func (f *faultyToken) calls() []string {
	f.t.Helper()
	data, err := os.ReadFile(f.log)
	require.NoError(f.t, err)
	return strings.Fields(string(data))
}

func (f *faultyToken) count(function string) (n int) {
	for _, c := range f.calls() {
		if c == function {
			n++
		}
	}
	return n
}

// args gives batch sign with the key "k256"; what more names replaces what is said here.
func (f *faultyToken) args(more ...string) []string {
	args := []string{"batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes"}
	for _, given := range [][2]string{{"--module", f.module}, {"--key", tokenKey}, {"--pub", "k256.pem.pub"}, {"--pin-file", "pin.txt"}, {"--out", "out/sig.json"}} {
		if !slices.Contains(more, given[0]) {
			args = append(args, given[0], given[1])
		}
	}
	return append(args, more...)
}

// without gives the arguments without a flag and its value.
func without(args []string, flag string) []string {
	at := slices.Index(args, flag)
	return slices.Delete(slices.Clone(args), at, at+2)
}

// left gives what is in the folder of signatures.
func (f *faultyToken) left() (names []string) {
	f.t.Helper()
	entries, err := os.ReadDir(f.path("out"))
	require.NoError(f.t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// fails runs a command line under rules, which must end with KEY_UNAVAILABLE and that reason, as text and as JSON, and write
// nothing at all.
func (f *faultyToken) fails(reason string, args []string, rules ...string) result {
	f.t.Helper()
	return f.refused("KEY_UNAVAILABLE", reason, args, rules...)
}

// refused is fails with any code. The calls counted afterwards are those of one run.
func (f *faultyToken) refused(code, reason string, args []string, rules ...string) result {
	f.t.Helper()
	f.set(rules...)
	r := f.run(append(slices.Clone(args), "--json")...)
	requireRefusal(f.t, r, code, reason)
	require.Empty(f.t, r.stdout)
	f.set(rules...)
	r = f.run(args...)
	require.Equal(f.t, 1, r.status, "%s", r.stderr)
	require.Regexp(f.t, `(?m)^`+code+`: `, r.stderr)
	require.NotContains(f.t, r.stderr, "signed by")
	require.Empty(f.t, r.stdout)
	require.Empty(f.t, f.left(), "something was written")
	return r
}

// signs runs a command line under rules, which must sign, takes the signature away and checks it.
func (f *faultyToken) signs(args []string, rules ...string) result {
	f.t.Helper()
	f.set(rules...)
	r := f.ok(args...)
	require.Equal(f.t, []string{"sig.json"}, f.left())
	f.requireSignature("out/sig.json", "k256")
	require.NoError(f.t, os.Remove(f.path("out/sig.json")))
	return r
}

// requireLeft holds the end of the calls against how a token is left: logged out, its session closed, the module finalized.
func (f *faultyToken) requireLeft() {
	f.t.Helper()
	calls := f.calls()
	require.NotContains(f.t, calls[:len(calls)-1], "C_Finalize", "a call after C_Finalize: %v", calls)
	want := []string{"C_CloseSession", "C_Finalize"}
	if slices.Contains(calls, "C_Login") {
		want = append([]string{"C_Logout"}, want...)
	}
	require.GreaterOrEqual(f.t, len(calls), len(want))
	require.Equal(f.t, want, calls[len(calls)-len(want):])
}
