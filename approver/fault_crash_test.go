//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// crashes runs a command line whose module crashes, as text and as JSON. It ends with a refusal of ours, and the folder is as it
// was.
func (f *faultyToken) crashes(args []string, rules ...string) {
	f.t.Helper()
	before := f.files()
	r := f.refused("KEY_UNAVAILABLE", "module", args, rules...)
	require.Equal(f.t, before, f.files())
	last := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	require.Equal(f.t, fmt.Sprintf("KEY_UNAVAILABLE: the PKCS#11 module %q crashed, and this program with it; an output is there whole or not at all", f.module), last[len(last)-1])
}

// killed is crashes of a module that kills the process, which then says nothing. What is left is the temporary file beside the
// output, empty, which no command reads.
func (f *faultyToken) killed(args []string, rules ...string) {
	f.t.Helper()
	f.set(rules...)
	cmd := f.prepare(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.Error(f.t, cmd.Run())
	require.Equal(f.t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
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
	for _, function := range append([]string{"constructor", "C_GetFunctionList"}, signingFunctions...) {
		for _, how := range []string{"exit", "leave", "segv"} {
			t.Run(function+" "+how, func(t *testing.T) {
				f := f.in(t)
				f.crashes(f.args("--qr-png", "out/sig.png"), function+" 0 0 "+how+" 0")
				f.crashes(f.args("--operations-out", "out/ops.json"), function+" 0 0 "+how+" 0")
				f.crashes(without(f.args(), "--out"), function+" 0 0 "+how+" 0")
			})
		}
		t.Run(function+" kill", func(t *testing.T) {
			f := f.in(t)
			f.killed(f.args(), function+" 0 0 kill 1")
			f.killed(without(f.args(), "--out"), function+" 0 0 kill 1")
		})
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
			require.Empty(t, f.left())
		}
	}
}

// One that crashes when it is left: the signature is whole.
func TestFaultCrashAfterTheSignature(t *testing.T) {
	f := newFaultyToken(t)
	for _, how := range []string{"exit", "leave", "segv"} {
		f.set("C_Logout 0 0 " + how + " 0")
		cmd := f.prepare(f.args()...)
		require.Error(t, cmd.Run())
		require.Equal(t, 1, cmd.ProcessState.ExitCode())
		require.Equal(t, []string{"sig.json"}, f.left())
		f.requireSignature("out/sig.json", "k256")
		require.NoError(t, os.Remove(f.path("out/sig.json")))
	}
}
