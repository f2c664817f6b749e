package golden

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tool gives the path of a program that the tests need.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err, "these tests need %s; ./softhsm-test.sh installs what all tests need", name)
	return path
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// file writes a file of the test.
func file(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func keyNamed(t *testing.T, name string) Key {
	t.Helper()
	for _, k := range Keys() {
		if k.Name == name {
			return k
		}
	}
	require.FailNow(t, "no key "+name)
	return Key{}
}

// der gives r ‖ s as the ASN.1 sequence that OpenSSL verifies.
func der(t *testing.T, sig []byte) []byte {
	t.Helper()
	require.Len(t, sig, 64)
	b, err := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])})
	require.NoError(t, err)
	return b
}

func opensslVerifies(t *testing.T, key Key, input, sig []byte) bool {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(tool(t, "openssl"), "dgst", "-sha256", "-verify", file(t, dir, "key.pub", []byte(key.PublicPEM)),
		"-signature", file(t, dir, "sig", der(t, sig)), file(t, dir, "input", input))
	output, err := cmd.CombinedOutput()
	if err == nil {
		require.Equal(t, "Verified OK\n", string(output))
	}
	return err == nil
}

// TestOpenSSLVerifies wants OpenSSL to verify every signing input, and of the signatures just those that are good.
func TestOpenSSLVerifies(t *testing.T) {
	for _, v := range SigningInputs() {
		sig, err := base64.RawURLEncoding.DecodeString(v.Sig)
		require.NoError(t, err)
		require.True(t, opensslVerifies(t, keyNamed(t, v.Signer), unhex(t, v.Input), sig), v.Name)
	}
	for _, v := range Signatures() {
		if sig := unhex(t, v.Sig); len(sig) == 64 {
			require.Equal(t, v.Want == "ok", opensslVerifies(t, keyNamed(t, v.Key), unhex(t, v.Input), sig), v.Name)
		}
	}
}

// TestOpenSSLReadsKeys wants OpenSSL to give of every private key the SPKI of the vectors, and kid and pin to be its digest.
func TestOpenSSLReadsKeys(t *testing.T) {
	for _, k := range Keys() {
		path := file(t, t.TempDir(), "key", []byte(k.PrivatePEM))
		spki, err := exec.Command(tool(t, "openssl"), "pkey", "-in", path, "-pubout", "-outform", "DER").Output()
		require.NoError(t, err, k.Name)
		require.Equal(t, Base64(k.SPKI), spki, k.Name)
		sum := sha256.Sum256(spki)
		require.Equal(t, k.KID, base64.RawURLEncoding.EncodeToString(sum[:]))
		require.Equal(t, k.Pin, "sha256/"+base64.StdEncoding.EncodeToString(sum[:]))
		block, rest := pem.Decode([]byte(k.PublicPEM))
		require.Equal(t, spki, block.Bytes)
		require.Empty(t, rest)
	}
}

// TestOpenSSLRefusesPoints wants OpenSSL to refuse the encodings that hold no point at all, so that they are bad for the
// reason they name. (It takes compressed and hybrid points and other curves, which WIRE.md §1 does not.)
func TestOpenSSLRefusesPoints(t *testing.T) {
	found := 0
	for _, v := range PublicKeys() {
		switch v.Name {
		case "nothing", "not on the curve", "zero point", "x not reduced", "a byte short", "the bare point":
			path := file(t, t.TempDir(), "key", Base64(v.SPKI))
			require.Error(t, exec.Command(tool(t, "openssl"), "pkey", "-pubin", "-inform", "DER", "-in", path, "-noout").Run(), v.Name)
			found++
		case "compressed point", "hybrid point", "P-384":
			path := file(t, t.TempDir(), "key", Base64(v.SPKI))
			require.NoError(t, exec.Command(tool(t, "openssl"), "pkey", "-pubin", "-inform", "DER", "-in", path, "-noout").Run(), v.Name)
			found++
		}
	}
	require.Equal(t, 9, found)
}

// privateKey reads a key of the vectors for signing.
func privateKey(t *testing.T, k Key) *ecdsa.PrivateKey {
	t.Helper()
	block, _ := pem.Decode([]byte(k.PrivatePEM))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)
	return key.(*ecdsa.PrivateKey)
}
