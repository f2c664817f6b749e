//go:build unix

package hsm_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// program runs another program that reads or writes key files, and gives its standard output.
func program(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	_, err := exec.LookPath(name)
	require.NoError(t, err, "run ./softhsm-test.sh, which installs what these tests need")
	var errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "%s %v: %s", name, args, &errs)
	return out
}

func parsePublic(t *testing.T, data []byte) quorum.PublicKey {
	t.Helper()
	p, err := quorum.ParsePublicPEM(data)
	require.NoError(t, err)
	return p
}

func requireReads(t *testing.T, data []byte, expected quorum.PublicKey) {
	t.Helper()
	k, err := hsm.ParseKeyFile(t.Context(), data, givePassphrase)
	require.NoError(t, err)
	require.True(t, k.Public().Equal(expected))
	requireSigns(t, k, expected)
}

func TestReadsWhatOpenSSLWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	program(t, "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path)
	public := parsePublic(t, program(t, "openssl", "pkey", "-in", path, "-pubout"))
	plain, err := os.ReadFile(path)
	require.NoError(t, err)
	requireReads(t, plain, public)
	requireReads(t, program(t, "openssl", "pkey", "-in", path, "-ec_conv_form", "compressed"), public)
	seal := func(args ...string) []byte {
		return program(t, "openssl", append([]string{"pkcs8", "-topk8", "-in", path, "-passout", "pass:" + passphrase}, args...)...)
	}
	requireReads(t, seal(), public)
	requireReads(t, seal("-scrypt"), public)
	requireReads(t, seal("-scrypt", "-scrypt_N", "1024", "-scrypt_r", "4", "-scrypt_p", "2"), public)
	for _, cipher := range []string{"aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des3"} {
		for _, prf := range []string{"hmacWithSHA1", "hmacWithSHA224", "hmacWithSHA256", "hmacWithSHA384", "hmacWithSHA512"} {
			t.Run(cipher+" "+prf, func(t *testing.T) { requireReads(t, seal("-v2", cipher, "-v2prf", prf), public) })
		}
	}
	_, err = hsm.ParseKeyFile(t.Context(), seal("-v1", "PBE-SHA1-3DES"), givePassphrase)
	require.ErrorContains(t, err, "only PBES2 is read")
	sec1 := program(t, "openssl", "ec", "-in", path)
	_, err = hsm.ParseKeyFile(t.Context(), sec1, nil)
	require.ErrorContains(t, err, "SEC 1")
	explicit := program(t, "openssl", "pkey", "-in", path, "-ec_param_enc", "explicit")
	_, err = hsm.ParseKeyFile(t.Context(), explicit, nil)
	require.ErrorContains(t, err, "named curve")
}

func TestOpenSSLReadsWhatIsWritten(t *testing.T) {
	k, err := hsm.GenerateFileKey()
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name string, data []byte, err error) string {
		require.NoError(t, err)
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	plain, err := k.EncodePlaintext()
	plainPath := write("plain", plain, err)
	sealed, err := k.Encode([]byte(passphrase))
	sealedPath := write("sealed", sealed, err)
	require.True(t, parsePublic(t, program(t, "openssl", "pkey", "-in", plainPath, "-pubout")).Equal(k.Public()))
	require.True(t, parsePublic(t, program(t, "openssl", "pkey", "-in", sealedPath, "-passin", "pass:"+passphrase, "-pubout")).Equal(k.Public()))
	program(t, "openssl", "pkey", "-in", plainPath, "-check", "-noout")
}

func TestReadsWhatNodeWrites(t *testing.T) {
	for _, cipher := range []string{"", "aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des-ede3-cbc"} {
		t.Run(cipher, func(t *testing.T) {
			options := "{ type: 'pkcs8', format: 'pem' }"
			if cipher != "" {
				options = fmt.Sprintf("{ type: 'pkcs8', format: 'pem', cipher: '%s', passphrase: '%s' }", cipher, passphrase)
			}
			out := program(t, "node", "-e", fmt.Sprintf(`
const { generateKeyPairSync } = require('crypto')
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
console.log(publicKey.export({ type: 'spki', format: 'pem' }) + '=' + privateKey.export(%s))`, options))
			public, private, found := bytes.Cut(out, []byte("="+"-----BEGIN"))
			require.True(t, found)
			requireReads(t, append([]byte("-----BEGIN"), private...), parsePublic(t, public))
		})
	}
}

// Node reads the file and verifies the signature over the signing input.
func TestNodeReadsWhatIsWritten(t *testing.T) {
	k, err := hsm.GenerateFileKey()
	require.NoError(t, err)
	sealed, err := k.Encode([]byte(passphrase))
	require.NoError(t, err)
	statement := trial(k.Public())
	signature, err := k.Sign(t.Context(), statement)
	require.NoError(t, err)
	out := program(t, "node", "-e", `
const { createPrivateKey, createPublicKey, verify } = require('crypto')
const [key, passphrase, input, sig] = process.argv.slice(1)
const publicKey = createPublicKey(createPrivateKey({ key, passphrase }))
const ok = verify('sha256', Buffer.from(input, 'hex'), { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(sig, 'base64url'))
console.log(ok)`, "--", string(sealed), passphrase, fmt.Sprintf("%x", statement.Input()), signature.Sig.String())
	require.Equal(t, "true\n", string(out))
}
