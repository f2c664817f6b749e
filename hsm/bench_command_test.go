//go:build cgo && unix

package hsm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/better-compute/approver/golden"
	"github.com/stretchr/testify/require"
)

// BenchmarkSignCommand measures a signature as one command, from its start to its end, beside pkcs11-tool, which shows and
// verifies nothing:
//
//	approver/pkcs11-tool          on standard output: at most 1.3
//	approver--out/pkcs11-tool     in a file, which is synced, named and read back
//
//	go test ./hsm -run '^$' -bench SignCommand -benchtime 100x
func BenchmarkSignCommand(b *testing.B) {
	dir := newBenchToken(b)
	program := filepath.Join(b.TempDir(), "approver")
	out, err := exec.Command("go", "build", "-o", program, "../approver").CombinedOutput()
	require.NoError(b, err, "%s", out)
	require.NoError(b, os.WriteFile(filepath.Join(dir, "scope.json"), golden.Independent("scopes/ok-2.json"), 0o600))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "digest"), make([]byte, 32), 0o600))
	run := func(name string, args ...string) func() {
		return func() {
			cmd := exec.Command(name, args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "HOME=/nonexistent", "APPROVER_CONFIG=", "XDG_CONFIG_HOME=")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
			require.NoError(b, cmd.Run(), "%s %v", name, args)
		}
	}
	ours := []string{"batch", "sign", "--scope", "scope.json", "--now", "2099-12-31T00:00:00Z", "--yes", "--module", benchModule,
		"--key", approverURI, "--pub", "k256.pem.pub", "--pin-file", "pin.txt", "--no-ledger"} // pkcs11-tool remembers nothing either
	toStdout, toFile := run(program, ours...), run(program, append(ours, "--out", "sig.json")...)
	peer := run("pkcs11-tool", "--module", benchModule, "--token-label", "approver", "--login", "--pin", benchPIN,
		"--sign", "--mechanism", "ECDSA", "--id", "01", "--input-file", "digest", "--output-file", "sig")
	start := run(program, "--version")
	toStdout()
	peer()

	ratios := make(map[string][]float64)
	var times []float64
	for b.Loop() {
		p, s := took(1, peer), took(1, toStdout)
		f := took(1, toFile)
		require.NoError(b, os.Remove(filepath.Join(dir, "sig.json")))
		times = append(times, p)
		for name, ratio := range map[string]float64{"approver/pkcs11-tool": s / p, "approver--out/pkcs11-tool": f / p, "start/pkcs11-tool": took(1, start) / p} {
			ratios[name] = append(ratios[name], ratio)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(times)/1e6, "pkcs11-tool-ms")
	for name, values := range ratios {
		b.ReportMetric(median(values), name)
	}
}
