//go:build cgo && linux

package hsm_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// TestCrashChild is the process that a module crashes.
func TestCrashChild(t *testing.T) {
	path := os.Getenv("HSM_TEST_CRASH")
	if path == "" {
		return
	}
	hsm.CatchCrashes("it crashed\n")
	if path == "go" {
		var token *hsm.Token
		token.Info()
	}
	hsm.ListSlots(t.Context(), load(t, path), 0)
	os.Exit(0)
}

// A library that crashes leaves what was prepared on standard error, status 1 and no registers; a fault of Go's own is
// reported as Go does.
func TestCatchCrashes(t *testing.T) {
	f := newSoftHSM(t, "approver").faulty()
	self, err := os.Executable()
	require.NoError(t, err)
	crash := func(path string) (status int, said string) {
		c := exec.Command(self, "-test.run=^TestCrashChild$")
		c.Env = append(os.Environ(), "HSM_TEST_CRASH="+path)
		var stderr bytes.Buffer
		c.Stdout, c.Stderr = &stderr, &stderr
		c.Run()
		return c.ProcessState.ExitCode(), stderr.String()
	}
	status, said := crash(f.module)
	require.Equal(t, 0, status, said)
	for _, function := range []string{"C_Initialize", "C_GetTokenInfo", "C_Finalize"} {
		f.set(function + " 0 1 exit 1")
		status, said = crash(f.module)
		require.Equal(t, 1, status, said)
		require.Equal(t, "it crashed\n", said, function)
		if hsm.ExitIsOurs {
			continue
		}
		f.set(function + " 0 1 leave 0") // exit(0) is no success
		status, said = crash(f.module)
		require.Equal(t, 1, status, said)
		require.Equal(t, "it crashed\n", said, function)
	}
	status, said = crash("go")
	require.Equal(t, 2, status)
	require.Contains(t, said, "nil pointer dereference")
	require.NotContains(t, said, "it crashed")
}
