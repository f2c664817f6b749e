//go:build linux

package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
)

// A file that never ends is refused, and holds nobody: what comes off a stick may be of any size.
func TestReviewOfAnEndlessFile(t *testing.T) {
	s := newSession(t)
	for name, head := range map[string]string{"set": `{"format":"better-compute-approver-set","x":"`} {
		s.write(name+".json", []byte(head))
		require.NoError(t, os.Truncate(s.path(name+".json"), 1<<40))
		a := osApp()
		a.configured = &config.Settings{}
		r := &road{app: a, flags: &screenFlags{}}
		r.flags.ticks = time.Now
		r.flags.command, r.flags.noLedger = "review", true
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, err = r.open(t.Context(), s.path(name+".json"), func(int64, int64) {})
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			require.FailNow(t, "it is read for ever", name)
		}
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%v", err)
	}
}

// Whoever stops does not wait for the file.
func TestHashingEndsWithItsContext(t *testing.T) {
	s := newSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := hashFile(ctx, s.path("ok-415.json"))
	require.Equal(t, errInterrupted, err)
}
