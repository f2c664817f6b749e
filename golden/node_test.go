package golden

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// node runs interop/verify.mjs over a scope, a signature file and a public key.
func node(t *testing.T, scope, sig, pub []byte) (output string, verified bool) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(tool(t, "node"), "interop/verify.mjs", file(t, dir, "scope", scope), file(t, dir, "sig", sig), file(t, dir, "pub", pub))
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s", out)
	}
	return strings.TrimSpace(string(out)), err == nil
}

// signFor signs what a scope file says with a key of the vectors and gives the signature file.
func signFor(t *testing.T, scope []byte, k Key) []byte {
	t.Helper()
	var s struct {
		BatchID     string `json:"batchId"`
		ScopeRoot   string `json:"scopeRoot"`
		ScopeSize   uint64 `json:"scopeSize"`
		NotAfter    uint64 `json:"notAfter"`
		TrustDomain string `json:"trustDomain"`
	}
	require.NoError(t, json.Unmarshal(scope, &s))
	root, err := hex.DecodeString(s.ScopeRoot)
	require.NoError(t, err)
	var input []byte
	for _, part := range [][]byte{[]byte("better-compute/v1"), []byte("batch-approval"), []byte(s.BatchID), root,
		binary.BigEndian.AppendUint64(nil, s.ScopeSize), binary.BigEndian.AppendUint64(nil, s.NotAfter), []byte(s.TrustDomain)} {
		input = append(binary.BigEndian.AppendUint32(input, uint32(len(part))), part...)
	}
	digest := sha256.Sum256(input)
	sig, err := privateKey(t, k).Sign(nil, digest[:], crypto.SHA256)
	require.NoError(t, err)
	var rs struct{ R, S *big.Int }
	_, err = asn1.Unmarshal(sig, &rs)
	require.NoError(t, err)
	raw := append(rs.R.FillBytes(make([]byte, 32)), rs.S.FillBytes(make([]byte, 32))...)
	encoded, err := json.Marshal(map[string]any{"format": "better-compute-batch-signature", "version": 1, "kid": k.KID,
		"sig": base64.RawURLEncoding.EncodeToString(raw), "batchId": s.BatchID, "scopeRoot": s.ScopeRoot, "scopeSize": s.ScopeSize,
		"notAfter": s.NotAfter, "trustDomain": s.TrustDomain})
	require.NoError(t, err)
	return encoded
}

// scopes gives scope files to sign: the examples, the independent cases that pass, and good vectors with every field.
func scopes(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{"small", "415"} {
		data, err := os.ReadFile("../examples/" + name + "/scope.json")
		require.NoError(t, err)
		all["examples/"+name] = data
	}
	_, cases := Cases()
	for _, c := range cases {
		if c.Exit == 0 {
			all[c.File] = c.Content()
		}
	}
	require.Greater(t, len(all), 5)
	return all
}

// TestNodeVerifies wants Node to verify a signature over every scope that passes, from the files alone.
func TestNodeVerifies(t *testing.T) {
	alice := keyNamed(t, "alice")
	for name, scope := range scopes(t) {
		output, verified := node(t, scope, signFor(t, scope, alice), []byte(alice.PublicPEM))
		require.True(t, verified, "%s: %s", name, output)
		require.Equal(t, "ok "+alice.KID, output)
	}
}

// TestNodeVerifiesSignatureFiles wants Node to come to what batch-signature-file.json says of the scope that was signed.
func TestNodeVerifiesSignatureFiles(t *testing.T) {
	alice := keyNamed(t, "alice")
	scope := ScopePolicies()[0]
	require.Equal(t, "nothing given", scope.Name)
	for _, v := range SignatureFiles() {
		if v.OK() {
			output, verified := node(t, scope.Bytes(), v.Bytes(), []byte(alice.PublicPEM))
			require.Equal(t, v.Verifies, verified, "%s: %s", v.Name, output)
		}
	}
}

// TestNodeRefuses changes one thing of the scope, the signature or the key, and wants Node to say which.
func TestNodeRefuses(t *testing.T) {
	alice, bob := keyNamed(t, "alice"), keyNamed(t, "bob")
	scope := scopes(t)["examples/small"]
	sig := signFor(t, scope, alice)
	other := signFor(t, scopes(t)["ok-2.json"], alice)
	relabelled := bytes.Replace(signFor(t, scope, bob), []byte(bob.KID), []byte(alice.KID), 1)
	edit := func(data []byte, old, replacement string) []byte {
		require.Equal(t, 1, bytes.Count(data, []byte(old)), old)
		return bytes.Replace(data, []byte(old), []byte(replacement), 1)
	}
	for _, c := range []struct {
		name       string
		scope, sig []byte
		key        Key
		want       string
	}{
		{"another subject", edit(scope, `"gpu-0418"`, `"gpu-0419"`), sig, alice, "scopeRoot"},
		{"another kind", edit(scope, `"node.reboot"`, `"node.wipe"`), sig, alice, "scopeRoot"},
		{"another payload", edit(scope, `"value":"CgoxMC40MC43LjEyEAM="`, `"value":"CgoxMC40MC43LjEyEAI="`), sig, alice, "leaf 1"},
		{"a leaf more", edit(scope, `"leaves":[`, `"leaves":[{"subject":"x","kind":"node.wipe"},`), sig, alice, "scopeRoot"},
		{"a leaf twice", edit(scope, `"leaves":[`, `"leaves":[`+firstLeaf(t, scope)+`,`), sig, alice, "twice"},
		{"another end", edit(scope, `4102444800000`, `4102444800001`), sig, alice, "notAfter"},
		{"another trust domain", edit(scope, `"compute.example.com"`, `"staging.example.com"`), sig, alice, "trustDomain"},
		{"another batch", edit(scope, `"batch_01k9qf3x8e"`, `"batch_01k9qf3x8f"`), sig, alice, "batchId"},
		{"another scope's signature", scope, other, alice, "batchId"},
		{"another key's signature under this kid", scope, relabelled, alice, "does not verify"},
		{"another key", scope, sig, bob, "the public key is"},
		{"another format", scope, edit(sig, "batch-signature", "batch-decline"), alice, "not a batch signature"},
		{"no leaves", []byte("[]"), sig, alice, "no leaves"},
		{"no JSON", scope, []byte("{"), alice, "JSON"},
	} {
		output, verified := node(t, c.scope, c.sig, []byte(c.key.PublicPEM))
		require.False(t, verified, c.name)
		require.Contains(t, output, c.want, c.name)
	}
}

func firstLeaf(t *testing.T, scope []byte) string {
	t.Helper()
	var s struct {
		Leaves []json.RawMessage `json:"leaves"`
	}
	require.NoError(t, json.Unmarshal(scope, &s))
	return string(s.Leaves[0])
}

// TestNodePeer wants the performance peer to come to the root of the larger example.
func TestNodePeer(t *testing.T) {
	out, err := exec.Command(tool(t, "node"), "peers/verify.mjs", "../examples/415/scope.json").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"total"`)
}
