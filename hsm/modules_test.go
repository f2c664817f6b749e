//go:build cgo && unix

package hsm_test

import (
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// libraryAt gives the first library of these names that is there. A module that is not fails the test: one that is passed over proves
// nothing.
func libraryAt(t *testing.T, names ...string) string {
	t.Helper()
	for _, root := range []string{"/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib"} {
		for _, dir := range []string{"", "pkcs11", "opencryptoki"} {
			for _, name := range names {
				if found, _ := filepath.Glob(filepath.Join(root, dir, name)); len(found) > 0 {
					return found[0]
				}
			}
		}
	}
	require.Failf(t, "a module is not here", "%v: %s", names, install)
	return ""
}

// A tokenMaker fills a token by pkcs11-tool.
type tokenMaker struct {
	t                  *testing.T
	module, label, pin string
}

func (m tokenMaker) tool(args ...string) string {
	m.t.Helper()
	return run(m.t, "pkcs11-tool", append([]string{"--module", m.module, "--token-label", m.label}, args...)...)
}

// key makes a key pair and reads its public half back, with pkcs11-tool alone.
func (m tokenMaker) key(kind, id, label string, more ...string) suiteKey {
	m.t.Helper()
	m.tool(append([]string{"--login", "--pin", m.pin, "--keypairgen", "--key-type", kind, "--id", id, "--label", label,
		"--usage-sign"}, more...)...)
	file := filepath.Join(m.t.TempDir(), "public")
	m.tool("--read-object", "--type", "pubkey", "--id", id, "--label", label, "--output-file", file)
	data, err := os.ReadFile(file)
	require.NoError(m.t, err)
	if block, _ := pem.Decode(data); block != nil {
		data = block.Bytes
	}
	return suiteKey{Label: label, ID: id, Public: data}
}

// fill gives the token the keys that the suite looks for.
func (m tokenMaker) fill() suite {
	m.t.Helper()
	const p256 = "EC:prime256v1"
	return suite{
		Module: m.module, Token: m.label, PIN: m.pin, WrongPIN: "987654",
		Keys:  []suiteKey{m.key(p256, "01", "k256"), m.key(p256, "0a0b", "other")},
		Twins: []suiteKey{m.key(p256, "22", "castor"), m.key(p256, "22", "pollux")},
	}
}

// softHSMSuite makes a SoftHSM token with every kind of key.
func softHSMSuite(t *testing.T) suite {
	t.Helper()
	h := newSoftHSM(t, "approver", "another one")
	m := tokenMaker{t, h.module, "approver", "1234"}
	s := m.fill()
	s.AfterWrong = hsm.PINCountLow
	always, edwards := m.key("EC:prime256v1", "33", "always", "--always-auth"), suiteKey{Label: "ked", ID: "44"}
	m.tool("--login", "--pin", m.pin, "--keypairgen", "--key-type", "EC:edwards25519", "--id", edwards.ID, "--label", edwards.Label,
		"--usage-sign")
	edwards.Public = edwardsPublic(t, m.tool("--list-objects", "--type", "pubkey", "--id", edwards.ID))
	s.Always, s.Edwards = &always, &edwards
	return s
}

func TestSuiteOnSoftHSM(t *testing.T) { runSuite(t, softHSMSuite) }

func TestSuiteOnFault(t *testing.T) {
	runSuite(t, func(t *testing.T) suite {
		s := softHSMSuite(t)
		s.Module = softHSM{t, s.Module}.faulty().module
		return s
	})
}

// A TPM is swtpm in a folder of its own, with tpm2-pkcs11 over it.
func newTPM(t *testing.T) tokenMaker {
	t.Helper()
	dir := t.TempDir()
	state, store := filepath.Join(dir, "state"), filepath.Join(dir, "store")
	require.NoError(t, os.Mkdir(state, 0o700))
	require.NoError(t, os.Mkdir(store, 0o700))
	port := startTPM(t, state)
	tcti := fmt.Sprintf("swtpm:host=127.0.0.1,port=%d", port)
	for name, value := range map[string]string{
		"TPM2_PKCS11_TCTI": tcti, "TPM2TOOLS_TCTI": tcti, "TPM2_PKCS11_STORE": store, "TPM2_PKCS11_BACKEND": "esysdb",
		"TSS2_LOG": "all+none",
	} {
		t.Setenv(name, value)
	}
	m := tokenMaker{t, libraryAt(t, "libtpm2_pkcs11.so.1", "libtpm2_pkcs11.so"), "approver", "123456"}
	run(t, "pkcs11-tool", "--module", m.module, "--slot-index", "0", "--init-token", "--label", m.label, "--so-pin", "12345678")
	m.tool("--login", "--login-type", "so", "--so-pin", "12345678", "--init-pin", "--new-pin", m.pin)
	run(t, "tpm2_flushcontext", "--transient-object") // the first of these leaves one of the TPM's few
	return m
}

// startTPM gives the port that swtpm answers on. Its control channel has the next one, where tpm2-tss looks for it, so a
// pair that somebody takes meanwhile is tried again.
func startTPM(t *testing.T, state string) int {
	t.Helper()
	program := need(t, "swtpm")
	for range 10 {
		port := freePair(t)
		cmd := exec.Command(program, "socket", "--tpm2", "--tpmstate", "dir="+state, "--flags", "not-need-init,startup-clear",
			"--server", fmt.Sprintf("type=tcp,port=%d,bindaddr=127.0.0.1", port),
			"--ctrl", fmt.Sprintf("type=tcp,port=%d,bindaddr=127.0.0.1", port+1))
		stop := start(t, cmd)
		if answers(port+1, cmd) {
			return port
		}
		stop()
	}
	require.Fail(t, "swtpm does not start")
	return 0
}

// freePair gives a port that is free, as is the next one. It lies below those that clients are given: one that a client had
// is not free for a minute to a server that does not ask for it anyway, as swtpm does not.
func freePair(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(6000)*2
		first, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		second, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port+1))
		first.Close()
		if err == nil {
			second.Close()
			return port
		}
	}
	require.Fail(t, "no two free ports side by side")
	return 0
}

// answers waits until the process has the port, a listener of its own and not somebody else's, or gives it up.
func answers(port int, cmd *exec.Cmd) bool {
	for range 100 {
		time.Sleep(20 * time.Millisecond)
		if cmd.Process.Signal(syscall.Signal(0)) != nil {
			return false
		}
		if c, err := net.Dial("tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			c.Close()
			return true
		}
	}
	return false
}

// start starts a server in a process group of its own. It and its children end with stop, or with the test.
func start(t *testing.T, cmd *exec.Cmd) (stop func()) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	stop = func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

func tpmSuite(t *testing.T) suite {
	t.Helper()
	s := newTPM(t).fill()
	t.Cleanup(func() { // the handles of a TPM are few, and it keeps those that are not given back
		for _, kind := range []string{"handles-transient", "handles-loaded-session"} {
			require.Empty(t, strings.TrimSpace(run(t, "tpm2_getcap", kind)), kind)
		}
	})
	return s
}

func TestSuiteOnTPM(t *testing.T) { runSuite(t, tpmSuite) }

// The TPM knows no CKA_ALWAYS_AUTHENTICATE; p11fault demands its logins of every key there.
func TestSuiteOnFaultOverTPM(t *testing.T) {
	runSuite(t, func(t *testing.T) suite {
		s := tpmSuite(t)
		f := softHSM{t, s.Module}.faulty()
		f.set("C_SignInit 0 0 alwaysauth "+s.PIN, "C_GetAttributeValue 0 0 ecpoint bit")
		s.Module, s.Always = f.module, &s.Keys[0]
		return s
	})
}

// startP11Kit serves a token of SoftHSM on a socket, by p11-kit's server and a child of it for each client.
func startP11Kit(t *testing.T, socket, provider, token string) (stop func()) {
	t.Helper()
	os.Remove(socket)
	stop = start(t, exec.Command(need(t, "p11-kit"), "server", "--foreground", "--provider", provider, "--name", socket,
		"pkcs11:token="+token))
	require.Eventually(t, func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, install)
	return stop
}

func TestSuiteThroughP11Kit(t *testing.T) {
	runSuite(t, func(t *testing.T) suite {
		s := softHSMSuite(t)
		socket := filepath.Join(t.TempDir(), "p11-kit")
		startP11Kit(t, socket, s.Module, s.Token)
		t.Setenv("P11_KIT_SERVER_ADDRESS", "unix:path="+socket)
		s.Module = libraryAt(t, "p11-kit-client.so")
		s.EdwardsRefused = "CKR_MECHANISM_INVALID" // p11-kit passes on only mechanisms that it knows
		return s
	})
}
