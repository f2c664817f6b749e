//go:build linux && cgo

package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// program builds a program of the module and gives its path.
func program(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	out, err := exec.Command("go", "build", "-o", path, "../"+name).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// alone is the environment without what would change what the commands do.
func alone(more ...string) []string {
	return append(os.Environ(), append([]string{"HOME=/nonexistent", "XDG_CONFIG_HOME=", "APPROVER_CONFIG=",
		"BETTER_COMPUTE_APPROVER_KEYS=", "BETTER_COMPUTE_APPROVER_THRESHOLD=", "BETTER_COMPUTE_UNBATCHED_PER_HOUR=",
		"BETTER_COMPUTE_APPROVER_SET_SIGNATURES=", "BETTER_COMPUTE_TRUST_VERSION="}, more...)...)
}

func run(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, alone()
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestReview(t *testing.T) {
	review := program(t, "examples/review")
	out, err := run(t, ".", review, "415/scope.json", "compute.example.com", "2099-12-31T12:00:00Z", "415/expected.txt")
	require.NoError(t, err, out)
	require.Contains(t, out, "    1 × node.reimage\n")
	require.Contains(t, out, "root 86d0a75d34c88ef9df856be594ed3300fd03f6a38c5c0bef8488db7b6f2db73a\n")

	out, err = run(t, ".", review, "415/scope.json", "compute.example.com", "2099-12-31T12:00:00Z", "small/expected.txt")
	require.Error(t, err)
	require.Contains(t, out, "SCOPE_UNEXPECTED")
}

func TestCeremony(t *testing.T) {
	bin := filepath.Dir(program(t, "approver"))
	c := exec.Command("./ceremony.sh", t.TempDir())
	configured := filepath.Join(t.TempDir(), "config.toml") // for another deployment: no concern of the script's
	require.NoError(t, os.WriteFile(configured, []byte("trust_domain = \"other.example.com\"\n"), 0o600))
	c.Env = alone("APPROVER_CONFIG="+configured, "BETTER_COMPUTE_APPROVER_THRESHOLD=2", "PATH="+bin+":"+os.Getenv("PATH"), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "HOLDS: 2 of 2 required approvals")
	require.Contains(t, string(out), "admitted: node.firmware gpu-0417")
	require.True(t, strings.HasSuffix(string(out), "--- done\n"), "%s", out)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// A key that crypto11 opened signs, and what it signed holds for the command; a root that nobody reviewed is not signed, and
// nothing is left of the attempt.
func TestCrypto11(t *testing.T) {
	const module = "/usr/lib/softhsm/libsofthsm2.so"
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	require.NoError(t, os.Mkdir(tokens, 0o700))
	require.NoError(t, os.WriteFile(tokens+".conf", []byte("directories.tokendir = "+tokens+"\nobjectstore.backend = file\nlog.level = ERROR\n"), 0o600))
	t.Setenv("SOFTHSM2_CONF", tokens+".conf")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pin"), []byte("1234\n"), 0o600))
	for _, command := range []string{
		"softhsm2-util --init-token --free --label approver --so-pin 12345678 --pin 1234",
		"pkcs11-tool --module " + module + " --token-label approver --login --pin 1234 --keypairgen --key-type EC:prime256v1 --id 01 --label k256 --usage-sign",
		"pkcs11-tool --module " + module + " --token-label approver --read-object --type pubkey --id 01 --output-file k256.der",
		"openssl pkey -pubin -inform DER -in k256.der -out k256.pub",
	} {
		words := strings.Fields(command)
		out, err := run(t, dir, words[0], words[1:]...)
		require.NoError(t, err, out)
	}
	approver, sign := program(t, "approver"), program(t, "examples/crypto11")
	leaves, err := filepath.Abs("small/leaves.json")
	require.NoError(t, err)
	out, err := run(t, dir, approver, "batch", "build", "--batch", "batch_c11", "--trust-domain", "compute.example.com",
		"--reason", "crypto11", leaves, "--out", "scope.json")
	require.NoError(t, err, out)
	root := rootOf(t, filepath.Join(dir, "scope.json"))

	args := []string{"scope.json", "compute.example.com", root, module, "approver", "k256", "k256.pub", "pin", "sig.json"}
	out, err = run(t, dir, sign, args...)
	require.NoError(t, err, out)
	require.Contains(t, out, "signed by ")
	out, err = run(t, dir, approver, "batch", "verify", "sig.json", "--scope", "scope.json", "--approvers", "k256.pub",
		"--threshold", "1", "--trust-domain", "compute.example.com")
	require.NoError(t, err, out)
	require.Contains(t, out, "HOLDS: 1 of 1 required approvals")

	args[2], args[8] = strings.Repeat("0", 64), "other.json"
	out, err = run(t, dir, sign, args...)
	require.Error(t, err)
	require.Contains(t, out, "SCOPE_CHANGED")
	left, err := filepath.Glob(filepath.Join(dir, "*other.json*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func rootOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(data), `"scopeRoot":"`)
	require.True(t, found)
	return rest[:64]
}
