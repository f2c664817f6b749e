//go:build cgo && unix

package hsm_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// TestProbeChild is what a probe runs: this program, as the hidden command is of ours.
func TestProbeChild(t *testing.T) {
	if os.Getenv("HSM_TEST_PROBE") == "" {
		return
	}
	if err := hsm.AnswerProbe(t.Context(), flag.Arg(0)); err != nil {
		os.Exit(3)
	}
	if pin := os.NewFile(1999, "PIN descriptor"); os.Getenv("HSM_TEST_PROBE") == "pin" {
		if _, err := pin.Stat(); err == nil {
			os.Exit(4)
		}
	}
	os.Exit(0)
}

func TestProbeModule(t *testing.T) {
	f := newSoftHSM(t, "approver").faulty()
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("HSM_TEST_PROBE", "1")
	command := []string{self, "-test.run=^TestProbeChild$"}
	p := hsm.ProbeModule(t.Context(), command, f.module, 0)
	require.True(t, p.OK(), p.Trouble)
	require.Equal(t, f.module, p.Path)
	require.Equal(t, "SoftHSM", p.Manufacturer)
	require.Regexp(t, `^\d+\.\d+$`, p.Version)
	require.Equal(t, 2, p.Tokens, "SoftHSM always has one that is not initialised")
	text := filepath.Join(t.TempDir(), "text.so")
	require.NoError(t, os.WriteFile(text, []byte("no library"), 0o600))
	require.Contains(t, hsm.ProbeModule(t.Context(), command, text, 0).Trouble, text+": file too short")
	require.Contains(t, hsm.ProbeModule(t.Context(), command, "/nowhere/x.so", 0).Trouble, "no such file")
	for fault, trouble := range map[string]string{
		"C_GetFunctionList 0 1 rv 5": "CKR_GENERAL_ERROR",
		"C_Initialize 0 1 rv 5":      "C_Initialize gave CKR_GENERAL_ERROR",
		"C_Initialize 0 1 exit 1":    "crashed the process that tried it: signal: aborted",
		"C_Finalize 0 1 exit 1":      "crashed the process",
		"C_GetSlotList 0 1 rv 0x30":  "C_GetSlotList gave CKR_DEVICE_ERROR",
	} {
		f.set(fault)
		p := hsm.ProbeModule(t.Context(), command, f.module, 0)
		require.Contains(t, p.Trouble, trouble, fault)
		require.False(t, p.OK())
	}
	for rule, signal := range map[string]string{
		"constructor 0 1 exit 1": "aborted", "constructor 0 1 segv 1": "segmentation fault", "C_GetSlotList 0 1 kill 1": "killed",
		"C_Initialize 0 1 exit 1": "aborted", "C_GetInfo 0 1 segv 1": "segmentation fault",
	} {
		f.set(rule)
		require.Contains(t, hsm.ProbeModule(t.Context(), command, f.module, 0).Trouble, "it crashed the process that tried it: signal: "+signal, rule)
	}
	f.set("C_Initialize 0 1 hang 1")
	begun := time.Now()
	require.Contains(t, hsm.ProbeModule(t.Context(), command, f.module, time.Second).Trouble, "did not answer within 1s")
	require.Less(t, time.Since(begun), 30*time.Second)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.Contains(t, hsm.ProbeModule(cancelled, command, f.module, 0).Trouble, "context canceled")
	require.Contains(t, hsm.ProbeModule(t.Context(), []string{"/nowhere/approver"}, f.module, 0).Trouble, "cannot be tried")
	require.Contains(t, hsm.ProbeModule(t.Context(), []string{"/bin/true"}, f.module, 0).Trouble, "without an answer")
	require.Contains(t, hsm.ProbeModule(t.Context(), []string{"/bin/false"}, f.module, 0).Trouble, "exit status 1")
	require.Contains(t, hsm.ProbeModule(t.Context(), []string{"/bin/sh", "-c", "echo '{}' >&3"}, f.module, 0).Trouble, "without an answer")
}

// A module that crashes is told by its signal, whatever it did to standard error before.
func TestProbeModuleThatCrashesSilently(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("HSM_TEST_PROBE", "1")
	for _, before := range []string{"close(2);", "for (int i = 0; i < 9000; i++) dprintf(2, \"SIGN: nothing\\n\");"} {
		dir := t.TempDir()
		source, path := filepath.Join(dir, "m.c"), filepath.Join(dir, "m.so")
		require.NoError(t, os.WriteFile(source, fmt.Appendf(nil, "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint C_GetFunctionList(void **l) { %s abort(); }\n", before), 0o600))
		run(t, "gcc", "-shared", "-fPIC", "-o", path, source)
		p := hsm.ProbeModule(t.Context(), []string{self, "-test.run=^TestProbeChild$"}, path, 0)
		require.Equal(t, "it crashed the process that tried it: signal: aborted", p.Trouble, before)
	}
}

// A PIN that the command was handed on a descriptor is not for a library that is tried.
func TestProbeHasNoPINDescriptor(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("HSM_TEST_PROBE", "pin")
	pin, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer pin.Close()
	p := hsm.ProbeModule(t.Context(), []string{"/bin/bash", "-c", `exec "$@" 1999<` + pin.Name(), "sh", self, "-test.run=^TestProbeChild$"}, newSoftHSM(t, "approver").faulty().module, 0)
	require.True(t, p.OK(), p.Trouble)
}

// Somebody who types the command loads nothing.
func TestAnswerProbeWantsItsDescriptor(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("HSM_TEST_PROBE", "1")
	p, err := os.StartProcess(self, []string{self, "-test.run=^TestProbeChild$", "/nowhere/x.so"}, &os.ProcAttr{Files: []*os.File{nil, nil, nil}})
	require.NoError(t, err)
	state, err := p.Wait()
	require.NoError(t, err)
	require.Equal(t, 3, state.ExitCode())
}
