package main

import (
	"crypto/sha256"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
)

// Without a ledger the file is known by its digest all the same: it is held against it before anything is signed.
func TestReviewWithoutALedger(t *testing.T) {
	s := newSession(t)
	for _, key := range []string{"", s.path("alice.pem")} {
		r := s.road()
		r.flags.key = key
		o, err := r.open(t.Context(), s.path("ok-2.json"), func(int64, int64) {})
		require.NoError(t, err)
		require.Equal(t, sha256.Sum256(s.read("ok-2.json")), o.SHA256)
	}
}

// road is one as a screen has it, with the flags of these tests.
func (s *session) road() *road {
	a := osApp()
	a.configured = &config.Settings{}
	f := &screenFlags{}
	f.reviewFlags.registerPolicy(&cobra.Command{})
	f.signatureFlags.registerKey(&cobra.Command{})
	f.command, f.key, f.now, f.noLedger, f.trustDomain = "review", s.path("alice.pem"), now, true, "compute.example.com"
	var err error
	f.ticks, err = a.ticking(now)
	require.NoError(s.t, err)
	return &road{app: a, flags: f}
}
