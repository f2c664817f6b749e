package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// build gives the arguments of batch build at the clock of the cases.
func build(leaves string, more ...string) []string {
	return append([]string{"batch", "build", leaves, "--batch", "batch_b1", "--reason", "x", "--trust-domain", "compute.example.com", "--now", now}, more...)
}

// example copies a file of examples/ into the session's folder.
func (s *session) example(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", filepath.FromSlash(name)))
	require.NoError(s.t, err)
	return s.write(filepath.Base(name), data)
}

// The leaves of the examples give the roots of the scopes beside them, which another program made.
func TestBuildGivesTheExamplesRoots(t *testing.T) {
	for dir, batch := range map[string]string{"small": "batch_01k9qf3x8e", "415": "batch_01k9qh7m2r"} {
		s := newSession(t)
		var declared struct{ ScopeRoot string }
		require.NoError(t, json.Unmarshal(s.read(s.example(dir+"/scope.json")), &declared))
		r := s.ok("batch", "build", s.example(dir+"/leaves.json"), "--batch", batch, "--reason", "x", "--trust-domain", "compute.example.com",
			"--now", "2099-12-31T12:00:00Z", "--hours", "12", "--out", "built.json")
		require.Contains(t, r.stderr, "\nroot          "+declared.ScopeRoot+"\n")
		s.ok("batch", "show", "--scope", "built.json", "--now", now, "--root", declared.ScopeRoot, "--expect", s.example(dir+"/expected.json"))
	}
}

// Kinds of an installation are encoded by its own table, and by no other.
func TestBuildOfInstallationKinds(t *testing.T) {
	s := newSession(t)
	s.example("kinds/acme.binpb")
	table := s.example("kinds/kinds.toml")
	s.write("leaves.json", []byte(`[{"subject":"gpu-0001","kind":"acme.drain","payload":{"json":{"priority":-1,"reason":"replaced"}}}]`))
	r := s.refused("INVALID_INPUT", "", build("leaves.json", "--out", "scope.json")...)
	require.Contains(t, r.stderr, `leaf 0 (gpu-0001): kind "acme.drain" is in no table`)
	r = s.ok(build("leaves.json", "--kinds", table, "--out", "scope.json")...)
	require.NotContains(t, r.stderr, "WARNING")
	require.Contains(t, r.stderr, "\nnext: approver batch show --scope scope.json --trust-domain compute.example.com --kinds kinds.toml\n")
	r = s.ok("batch", "show", "--scope", "scope.json", "--kinds", table, "--now", now)
	require.Regexp(t, `(?m)^ +priority +-1$`, r.stdout)
	require.NotContains(t, r.stdout, "STOP")

	s.write("own.toml", []byte("kinds = \"kinds.toml\"\n")) // what comes next needs the same kinds
	r = s.ok(build("leaves.json", "--config", "own.toml", "--out", "configured.json")...)
	require.Contains(t, r.stderr, "\nnext: approver batch show --scope configured.json --trust-domain compute.example.com --config own.toml\n")
}

// The largest batch there may be takes seconds and bounded memory.
func TestBuildOfTheLargestBatch(t *testing.T) {
	s := newSession(t)
	var b bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&b, `,{"subject":"%s","kind":"node.reimage","payload":{"json":{"image":"ubuntu-24.04-gpu","wipeDisks":true,`+
			`"userData":"#!/bin/sh\nhostnamectl set-hostname gpu-node-%06d\nsystemctl enable bcd\n"}}}`+"\n", machine(i), i)
	}
	s.write("leaves.json", append(append([]byte("["), b.Bytes()[1:]...), ']'))
	r := s.measured(build("leaves.json", "--out", "scope.json")...)
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stderr, "\nsize          50000 (50000 distinct)\n")
	require.Less(t, r.maxRSS, int64(128<<20))
	t.Logf("%v, %v of processor time, %d MiB", r.took, r.cpu, r.maxRSS>>20)
}

// Nothing is written where standard output is closed, or full.
func TestBuildOnStandardOutput(t *testing.T) {
	s := newSession(t)
	s.write("leaves.json", []byte(`[{"subject":"n","kind":"node.reboot","payload":{"json":{}}}]`))
	for _, redirected := range []string{">&-", ">/dev/full"} {
		r := s.sh(`"$approver" batch build leaves.json --batch b --reason x --trust-domain d --now ` + now + " " + redirected)
		require.Equal(t, 1, r.status, redirected)
		require.Regexp(t, "(?m)^IO_ERROR: ", r.stderr, redirected)
	}
}
