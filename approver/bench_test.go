package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// The command as a process beside the programs it is measured against, in turns, as the median of the ratios of each turn:
//
//	go test ./approver -run '^$' -bench . -benchtime 15x

// BenchmarkShowProcess measures batch show on 50,000 leaves against a program on node:crypto that does less: it computes
// the root, and shows nothing.
func BenchmarkShowProcess(b *testing.B) {
	for name, distinct := range map[string]bool{"four-payloads": false, "distinct-payloads": true} {
		b.Run(name, func(b *testing.B) {
			s := newSession(b)
			s.fleet(wire.MaxLeaves, distinct)
			args := []string{"batch", "show", "--scope", "fleet.json", "--now", now}
			peer, err := exec.LookPath("node")
			require.NoError(b, err)
			var t turns
			var peak, peerPeak int64
			for b.Loop() {
				ours := s.measured(args...)
				require.Zero(b, ours.status, "%s", ours.stderr)
				theirs := s.with(peer).measured(peerScript(b), "fleet.json")
				require.Zero(b, theirs.status, "%s", theirs.stderr)
				t.add(ours.took, theirs.took)
				peak, peerPeak = max(peak, ours.maxRSS), max(peerPeak, theirs.maxRSS)
			}
			t.report(b, "node-time/ours")
			b.ReportMetric(float64(peak)/(1<<20), "MiB")
			b.ReportMetric(float64(peerPeak)/(1<<20), "node-MiB")
		})
	}
}

// BenchmarkHelp measures approver --help against ssh-keygen -?, that is how long it takes to start.
func BenchmarkHelp(b *testing.B) {
	s := newSession(b)
	peer, err := exec.LookPath("ssh-keygen")
	require.NoError(b, err)
	var t turns
	for b.Loop() {
		ours := s.measured("--help")
		require.Zero(b, ours.status)
		theirs := s.with(peer).measured("-?")
		require.Contains(b, theirs.stderr, "usage: ssh-keygen")
		t.add(ours.took, theirs.took)
	}
	t.report(b, "ssh-keygen-time/ours")
}

// with gives the session with another program as its command.
func (s *session) with(program string) *session {
	other := *s
	other.command = program
	return &other
}

// turns are the times of both programs, turn by turn.
type turns struct{ ours, ratios []float64 }

func (t *turns) add(ours, theirs time.Duration) {
	t.ours = append(t.ours, float64(ours))
	t.ratios = append(t.ratios, float64(theirs)/float64(ours))
}

func (t *turns) report(b *testing.B, ratio string) {
	b.ReportMetric(0, "ns/op") // the time of both together says nothing
	b.ReportMetric(median(t.ours)/1e6, "ms")
	b.ReportMetric(median(t.ratios), ratio)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// peerScript is the program on node:crypto.
func peerScript(b *testing.B) string {
	path, err := filepath.Abs("../golden/peers/verify.mjs")
	require.NoError(b, err)
	require.FileExists(b, path)
	return path
}
