//go:build cgo && unix

package hsm_test

import (
	"bufio"
	"crypto/ecdsa"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// Signing beside what it is made of, in turns, on SoftHSM, as medians:
//
//	go test ./hsm -run '^$' -bench Sign -benchtime 200x

const (
	benchModule = "/usr/lib/softhsm/libsofthsm2.so"
	benchPIN    = "83641907"
	signatures  = 32 // of one turn, as many as testdata/bench_sign.c makes
)

// newBenchToken makes a SoftHSM with a token "approver" that has the key "k256", its PIN in the file "pin.txt" and the
// public half in "k256.pem.pub", and gives the folder.
func newBenchToken(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	require.NoError(b, os.Mkdir(filepath.Join(dir, "tokens"), 0o700))
	conf := filepath.Join(dir, "softhsm2.conf")
	require.NoError(b, os.WriteFile(conf, fmt.Appendf(nil, "directories.tokendir = %s/tokens\nobjectstore.backend = file\nlog.level = ERROR\n", dir), 0o600))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "pin.txt"), []byte(benchPIN+"\n"), 0o600))
	b.Setenv("SOFTHSM2_CONF", conf)
	tool := func(name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s: %s (%s)", name, out, install)
	}
	tool("softhsm2-util", "--init-token", "--free", "--label", "approver", "--so-pin", "12345678", "--pin", benchPIN)
	p11 := []string{"--module", benchModule, "--token-label", "approver", "--login", "--pin", benchPIN}
	tool("pkcs11-tool", append(p11, "--keypairgen", "--key-type", "EC:prime256v1", "--id", "01", "--label", "k256", "--usage-sign")...)
	tool("pkcs11-tool", append(p11, "--read-object", "--type", "pubkey", "--label", "k256", "--output-file", "k256.der")...)
	tool("openssl", "pkey", "-pubin", "-inform", "DER", "-in", "k256.der", "-out", "k256.pem.pub")
	return dir
}

// rawSigner starts testdata/bench_sign.c; what it gives has it make one turn's signatures and tells how long that took.
func rawSigner(b *testing.B) func() time.Duration {
	b.Helper()
	header, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/miekg/pkcs11").Output()
	require.NoError(b, err)
	program := filepath.Join(b.TempDir(), "bench_sign")
	out, err := exec.Command("gcc", "-O2", "-I"+strings.TrimSpace(string(header)), "-o", program, "testdata/bench_sign.c", "-ldl").CombinedOutput()
	require.NoError(b, err, "%s (%s)", out, install)
	cmd := exec.Command(program, benchModule, "approver", "k256", benchPIN)
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	cmd.Stderr = os.Stderr
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		require.NoError(b, cmd.Wait())
	})
	lines := bufio.NewReader(stdout)
	return func() time.Duration {
		_, err := io.WriteString(in, "g")
		require.NoError(b, err)
		line, err := lines.ReadString('\n')
		require.NoError(b, err)
		nanoseconds, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(b, err)
		return time.Duration(nanoseconds)
	}
}

// BenchmarkSign measures a signature by an open token, on one processor as the command makes it: on two, every call into the
// module and back wakes a thread, at about 10 µs each:
//
//	binding/C_Sign      C_SignInit and C_Sign through Module, beside the two called from C
//	unverified/C_Sign   a signature without its verification, beside the two called from C: at most 1.25
//	Sign/parts          a signature beside one without its verification and 1.1 times ecdsa.Verify after it: at most 1
func BenchmarkSign(b *testing.B) {
	b.Cleanup(func(processors int) func() { return func() { runtime.GOMAXPROCS(processors) } }(runtime.GOMAXPROCS(1)))
	newBenchToken(b)
	raw := rawSigner(b)
	raw() // SoftHSM writes to the token's files at a login, and shows no token meanwhile
	m, token, key := openBenchToken(b)
	defer token.Close()
	session, handle := hsm.BenchHandles(key)
	statement := quorum.KeyTrial(key.Public(), [32]byte{1})
	digest := statement.Digest()
	signature, err := key.Sign(b.Context(), statement)
	require.NoError(b, err)
	verify := verification(b, key.Public(), statement, signature)
	direct := func() {
		require.NoError(b, m.SignInit(session, hsm.MechanismECDSA, handle))
		_, err := m.Sign(session, digest[:])
		require.NoError(b, err)
	}
	unverified := func() {
		_, err := key.SignUnverified(b.Context(), statement)
		require.NoError(b, err)
	}
	whole := func() {
		_, err := key.Sign(b.Context(), statement)
		require.NoError(b, err)
	}

	var cSign, verified []float64
	ratios := make(map[string][]float64)
	for turn := 0; b.Loop(); turn++ {
		c := float64(raw())
		var d, u float64 // each alone, as in C, and each first in every other turn
		for i := range 2 {
			if (turn+i)%2 == 0 {
				d = took(signatures, direct)
			} else {
				u = took(signatures, unverified)
			}
		}
		var parts, v, w float64
		for range signatures { // in turns: what was done before is in the caches
			parts += took(1, unverified)
			v += took(1, func() { require.True(b, verify()) })
			w += took(1, whole)
		}
		cSign, verified = append(cSign, c), append(verified, v)
		for name, ratio := range map[string]float64{"binding/C_Sign": d / c, "unverified/C_Sign": u / c, "Sign/parts": w / (parts + 1.1*v)} {
			ratios[name] = append(ratios[name], ratio)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(cSign)/signatures/1e3, "C_Sign-µs")
	b.ReportMetric(median(verified)/signatures/1e3, "verify-µs")
	for name, values := range ratios {
		b.ReportMetric(median(values), name)
	}
}

// openBenchToken opens the token, logs in and gives its key.
func openBenchToken(b *testing.B) (hsm.Module, *hsm.Token, *hsm.TokenKey) {
	b.Helper()
	m, err := hsm.LoadModule(b.Context(), benchModule)
	require.NoError(b, err)
	u, err := hsm.ParseURI(approverURI)
	require.NoError(b, err)
	token, err := hsm.OpenToken(b.Context(), m, hsm.TokenOptions{URI: u})
	require.NoError(b, err)
	require.NoError(b, token.Login(b.Context(), fixedPIN(benchPIN)))
	key, err := token.Key(b.Context(), quorum.PublicKey{})
	require.NoError(b, err)
	return m, token, key
}

// took gives how long f takes n times, in nanoseconds.
func took(n int, f func()) float64 {
	begun := time.Now()
	for range n {
		f()
	}
	return float64(time.Since(begun))
}

// verification gives one P-256 verification by the standard library, of a digest that is there.
func verification(b *testing.B, key quorum.PublicKey, s quorum.Statement, signature quorum.Signature) func() bool {
	b.Helper()
	public := key.ECDSA()
	digest := s.Digest()
	r, t := new(big.Int).SetBytes(signature.Sig[:32]), new(big.Int).SetBytes(signature.Sig[32:])
	return func() bool { return ecdsa.Verify(public, digest[:], r, t) }
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
