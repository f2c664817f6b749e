//go:build cgo && unix

package hsm_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// The tests below run on shared objects: SoftHSM, and p11fault over it. A machine without them fails them, since a test
// that is passed over proves nothing.
const install = "run ./softhsm-test.sh, which installs what the token tests need"

func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	require.NoError(t, err, install)
	return path
}

func softHSMLibrary(t *testing.T) string {
	t.Helper()
	for _, path := range []string{
		"/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so",
		"/usr/local/lib/softhsm/libsofthsm2.so", "/opt/homebrew/lib/softhsm/libsofthsm2.so",
	} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	require.Fail(t, "SoftHSM is not here", install)
	return ""
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(need(t, name), args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// A softHSM is a SoftHSM with tokens of its own, PIN 1234, in a folder that goes with the test.
type softHSM struct {
	t      *testing.T
	module string
}

func newSoftHSM(t *testing.T, labels ...string) softHSM {
	t.Helper()
	dir := t.TempDir()
	tokens, conf := filepath.Join(dir, "tokens"), filepath.Join(dir, "softhsm2.conf")
	require.NoError(t, os.Mkdir(tokens, 0o700))
	require.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, "directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n", tokens), 0o600))
	t.Setenv("SOFTHSM2_CONF", conf)
	for _, label := range labels {
		run(t, "softhsm2-util", "--init-token", "--free", "--label", label, "--so-pin", "12345678", "--pin", "1234")
	}
	return softHSM{t, softHSMLibrary(t)}
}

// tool runs pkcs11-tool, logged in on the token.
func (h softHSM) tool(token string, args ...string) string {
	h.t.Helper()
	return run(h.t, "pkcs11-tool", append([]string{"--module", h.module, "--token-label", token, "--login", "--pin", "1234"}, args...)...)
}

// keygen makes a P-256 key with an id in hex and a label.
func (h softHSM) keygen(token, id, label string, more ...string) {
	h.t.Helper()
	h.tool(token, append([]string{"--keypairgen", "--key-type", "EC:prime256v1", "--id", id, "--label", label, "--usage-sign"}, more...)...)
}

// faultDir is the folder of p11fault.so, once it was compiled.
var faultDir string

// compileFault gives p11fault.so, compiled once.
var compileFault = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "p11fault")
	if err != nil {
		return "", err
	}
	faultDir = dir
	header, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/miekg/pkcs11").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	so := filepath.Join(dir, "p11fault.so")
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-Wl,-z,nodelete", "-I"+strings.TrimSpace(string(header)),
		"-o", so, "testdata/p11fault.c", "-ldl").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gcc: %w: %s", err, out)
	}
	return so, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if faultDir != "" {
		os.RemoveAll(faultDir)
	}
	os.Exit(status)
}

// faults puts p11fault over the SoftHSM. Both are copies of this test's own, so that a module left hanging by one test is
// not in the next one's way.
type faults struct {
	softHSM
	control, log string
}

func (h softHSM) faulty() *faults {
	h.t.Helper()
	so, err := compileFault()
	require.NoError(h.t, err, install)
	dir := h.t.TempDir()
	real := copyFile(h.t, h.module, filepath.Join(dir, "real.so"))
	f := &faults{softHSM{h.t, copyFile(h.t, so, filepath.Join(dir, "p11fault.so"))}, filepath.Join(dir, "control"), filepath.Join(dir, "log")}
	h.t.Setenv("P11FAULT_REAL", real)
	h.t.Setenv("P11FAULT_CTL", f.control)
	h.t.Setenv("P11FAULT_LOG", f.log)
	f.set()
	return f
}

// set replaces the rules.
func (f *faults) set(rules ...string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(f.control, []byte(strings.Join(rules, "\n")+"\n"), 0o600))
}

// count gives how often a function was called.
func (f *faults) count(function string) int {
	f.t.Helper()
	data, err := os.ReadFile(f.log)
	require.NoError(f.t, err)
	return strings.Count("\n"+string(data), "\n"+function+"\n")
}

func copyFile(t *testing.T, from, to string) string {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return to
}

func load(t *testing.T, path string) hsm.Module {
	t.Helper()
	m, err := hsm.LoadModule(t.Context(), path)
	require.NoError(t, err)
	return m
}
