package golden

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nodeProof runs interop/proof.mjs over a proof in both forms, and an approval.
func nodeProof(t *testing.T, proof, binpb, approval []byte) (output string, verified bool) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(tool(t, "node"), "interop/proof.mjs", file(t, dir, "proof", proof), file(t, dir, "binpb", binpb), file(t, dir, "approval", approval))
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s", out)
	}
	return strings.TrimSpace(string(out)), err == nil
}

// TestNodeVerifiesProofs wants Node to verify every good proof, in both forms, and none that leads elsewhere.
func TestNodeVerifiesProofs(t *testing.T) {
	verified, elsewhere := 0, 0
	var last ProofFile
	for _, v := range BatchProofs().Files {
		var approval struct {
			BatchID   string `json:"batchId"`
			ScopeRoot string `json:"scopeRoot"`
			ScopeSize int    `json:"scopeSize"`
		}
		switch {
		case v.OK():
			require.NoError(t, json.Unmarshal(v.Bytes(), &approval))
			encoded, err := json.Marshal(approval)
			require.NoError(t, err)
			output, ok := nodeProof(t, v.Bytes(), Base64(v.Binpb), encoded)
			require.True(t, ok, "%s: %s", v.Name, output)
			approval.ScopeSize *= 2
			encoded, err = json.Marshal(approval)
			require.NoError(t, err)
			_, ok = nodeProof(t, v.Bytes(), Base64(v.Binpb), encoded)
			require.False(t, ok, "%s: under another size", v.Name)
			verified++
			last = v
		case v.Reason == "not-in-scope":
			require.NoError(t, json.Unmarshal(v.Bytes(), &approval))
			encoded, err := json.Marshal(approval)
			require.NoError(t, err)
			output, ok := nodeProof(t, v.Bytes(), Base64(last.Binpb), encoded)
			require.False(t, ok, "%s: %s", v.Name, output)
			elsewhere++
		}
	}
	require.Greater(t, verified, 9)
	require.Greater(t, elsewhere, 4)
}
