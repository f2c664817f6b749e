package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// What a person accepted is signed only while that is what is open: the record, the window and the file are looked at of
// what is open.
func TestOnlyWhatIsOpenIsSigned(t *testing.T) {
	s := newSession(t)
	r := s.road()
	first, err := r.open(t.Context(), s.path("ok-2.json"), func(int64, int64) {})
	require.NoError(t, err)
	accepted, err := ceremony.AcceptUnattended(first.Review)
	require.NoError(t, err)
	second, err := r.open(t.Context(), s.path("ok-415.json"), func(int64, int64) {})
	require.NoError(t, err)
	asked := false
	_, err = r.finish(t.Context(), first, accepted, func(context.Context) (quorum.Signer, error) {
		asked = true
		return nil, errInterrupted
	})
	require.Equal(t, wire.InvalidState, wire.CodeOf(err), "%v", err)
	require.False(t, asked, "the key was opened for what is not open any more")

	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = r.open(stopped, s.path("ok-2.json"), func(int64, int64) {})
	require.Equal(t, errInterrupted, err)
	require.Same(t, second.Review, r.review, "a reading that was stopped before it began took the place of what is open")
}
