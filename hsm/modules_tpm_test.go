//go:build cgo && unix

package hsm_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/stretchr/testify/require"
)

// Processes that end within a signature leave their handles to the TPM, until it has no room. Then a signature is refused
// like one of a token that is gone, not waited for and not made; with the handles flushed the next run signs.
func TestTPMWithoutRoom(t *testing.T) {
	if text := os.Getenv(childVariable); text != "" {
		var s suite
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		m := &spy{Module: load(t, s.Module)}
		token := s.login(t, m, ";object=k256")
		defer token.Close()
		signer, err := token.Key(t.Context(), quorum.PublicKey{})
		require.NoError(t, err)
		s.Keys[0].requireSignsAs(t, signer)
		return
	}
	m := newTPM(t)
	s := suite{Token: m.label, PIN: m.pin, Keys: []suiteKey{m.key("EC:prime256v1", "01", "k256")}}
	f := softHSM{t, m.module}.faulty()
	s.Module = f.module
	text, err := json.Marshal(s)
	require.NoError(t, err)

	f.set("C_Sign 0 0 kill 1")
	full := ""
	for range 20 {
		out, err := childOf(t, string(text)).CombinedOutput()
		require.IsType(t, &exec.ExitError{}, err, "%s", out)
		if err.(*exec.ExitError).Exited() { // by itself, and not by the signal of the rule
			full = string(out)
			break
		}
	}
	require.Contains(t, full, "KEY_UNAVAILABLE: ")
	require.Contains(t, full, "CKR_GENERAL_ERROR (0x05)")
	require.NotContains(t, full, "PASS")

	f.set()
	for _, kind := range []string{"--transient-object", "--loaded-session", "--saved-session"} {
		run(t, "tpm2_flushcontext", kind)
	}
	out, err := childOf(t, string(text)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestTPMWithoutRoom (")
}
