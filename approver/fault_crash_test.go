//go:build linux

package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// crashes runs a command line whose module ends the process. It never ends as if it had signed. All that is left is the
// temporary file beside the output, empty, which no command reads.
func (f *faultyToken) crashes(args []string, rules ...string) {
	f.t.Helper()
	f.set(rules...)
	cmd := f.prepare(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.Error(f.t, cmd.Run())
	require.NotZero(f.t, cmd.ProcessState.ExitCode())
	requireNoSecret(f.t, stdout.String(), stderr.String())
	require.Empty(f.t, stdout.String())
	require.NotContains(f.t, stderr.String(), "signed by")
	for _, name := range f.left() {
		require.Regexp(f.t, temporaryName, name)
		require.Empty(f.t, f.read("out/"+name), "half an output")
		require.NoError(f.t, os.Remove(f.path("out/"+name)))
	}
}

var temporaryName = regexp.MustCompile(`^\.sig\.json\.tmp-[A-Z2-7]{8}$`)

// A module that ends the process: no half output, no secret in what Go says, and the next run works.
func TestFaultCrash(t *testing.T) {
	f := newFaultyToken(t)
	for _, how := range []string{"exit", "segv", "kill"} {
		for _, function := range append([]string{"C_GetFunctionList"}, signingFunctions...) {
			t.Run(function+" "+how, func(t *testing.T) {
				f := f.in(t)
				f.crashes(f.args(), function+" 0 0 "+how+" 1")
				f.crashes(without(f.args(), "--out"), function+" 0 0 "+how+" 1")
			})
		}
	}
	f.signs(f.args())
}

// Whatever command loads a module that crashes says so in one line of ours and ends with 1: what Go would print holds
// registers, and those may hold a PIN.
func TestFaultCrashPrintsNoRegisters(t *testing.T) {
	f := newFaultyToken(t)
	for name, args := range map[string][]string{
		"sign": f.args(), "doctor": {"doctor", "--login", "--key", tokenKey, "--module", f.module, "--pub", "k256.pem.pub", "--pin-file", "pin.txt"},
		"list": {"hsm", "list", "--login", "--module", f.module, "--pin-file", "pin.txt"},
	} {
		for _, json := range []bool{false, true} {
			f.set("C_Login 0 0 segv 1")
			if json {
				args = append(args, "--json")
			}
			cmd := f.prepare(args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			require.Error(t, cmd.Run())
			require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s: %s", name, stderr.String())
			require.Contains(t, stderr.String(), "crashed, and this program with it", name)
			require.NotContains(t, stderr.String(), "goroutine", name)
			for _, left := range f.left() {
				require.NoError(t, os.Remove(f.path("out/"+left)))
			}
		}
	}
}

// One that crashes when it is left: the signature is whole.
func TestFaultCrashAfterTheSignature(t *testing.T) {
	f := newFaultyToken(t)
	for _, how := range []string{"exit", "segv"} {
		f.set("C_Logout 0 0 " + how + " 1")
		cmd := f.prepare(f.args()...)
		require.Error(t, cmd.Run())
		require.Equal(t, []string{"sig.json"}, f.left())
		f.requireSignature("out/sig.json", "k256")
		require.NoError(t, os.Remove(f.path("out/sig.json")))
	}
}
