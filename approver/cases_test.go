package main

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/golden"
)

// Every independent scope file, through the command.
func TestCases(t *testing.T) {
	at, cases := golden.Cases()
	require.Equal(t, now, time.UnixMilli(int64(at)).UTC().Format(time.RFC3339))
	lifted := 0
	for _, c := range cases {
		t.Run(strings.TrimSuffix(c.File, ".json"), func(t *testing.T) {
			s := newSession(t)
			scope := s.write("case.json", c.Content())
			if c.Exit == 0 {
				s.requireSigns(sign(scope)...)
				return
			}
			require.Equal(t, 1, c.Exit)
			reason := cmp.Or(c.Reason, "*")
			s.refused(c.Code, reason, sign(scope)...)
			s.refused(c.Code, reason, append(sign(scope), "--out", "sig.json")...)
			s.refused(c.Code, reason, "batch", "show", "--scope", scope, "--now", now, "--scope-out", "again.json", "--operations-out", "all.json")
			if _, flag, ok := strings.Cut(c.Note, "passes with "); ok {
				lifted++
				s.requireSigns(append(sign(scope), flag)...)
			}
		})
	}
	require.Equal(t, 2, lifted, "cases that a flag lets pass")
}

// requireSigns runs batch sign by alice: the signature alone is on standard output, and it verifies.
func (s *session) requireSigns(args ...string) *quorum.SignatureFile {
	s.t.Helper()
	r := s.ok(args...)
	file, err := quorum.ParseSignatureFile([]byte(r.stdout))
	require.NoError(s.t, err)
	require.Equal(s.t, r.stdout, string(file.Encode()))
	s.requireVerifies(file, "alice")
	require.Contains(s.t, r.stderr, "Root, to compare by voice")
	return file
}

// requireVerifies holds a signature file against a key by name.
func (s *session) requireVerifies(file *quorum.SignatureFile, name string) {
	s.t.Helper()
	public, err := quorum.ParsePublicPEM(s.read(name + ".pem.pub"))
	require.NoError(s.t, err)
	require.True(s.t, file.Verifies(public), "the signature does not verify")
}

// requireSignature reads the signature file, by that key.
func (s *session) requireSignature(path, name string) *quorum.SignatureFile {
	s.t.Helper()
	file, err := quorum.ParseSignatureFile(s.read(path))
	require.NoError(s.t, err)
	s.requireVerifies(file, name)
	return file
}
