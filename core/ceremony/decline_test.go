package ceremony_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// both gives the review of an approval and that of a decline of one batch.
func both(t *testing.T, findings ...review.Finding) (approval, decline *review.Review) {
	scope, err := quorum.NewScope("batch_1", []quorum.Entry{{Subject: "node_0", Kind: "node.wipe"}})
	require.NoError(t, err)
	statement, err := scope.Decline(4102444800000, "compute.example.com", "not my machine")
	require.NoError(t, err)
	approval = newReview(t, 1, findings...)
	decline, err = review.New(statement, *approval.Document())
	require.NoError(t, err)
	return approval, decline
}

// What is typed to approve declines nothing, and the other way round: their first answers have nothing in common.
func TestAnApprovalIsNoDecline(t *testing.T) {
	approval, decline := both(t)
	question, answer := decline.Confirmation()
	require.Contains(t, question, "DECLINE")
	for range 50 {
		a, err := ceremony.NewChallenge(approval)
		require.NoError(t, err)
		d, err := ceremony.NewChallenge(decline)
		require.NoError(t, err)
		toApprove, toDecline := answers(t, approval, a), answers(t, decline, d)
		toDecline[0] = strings.ToLower(answer)
		for _, typed := range [][]string{toApprove, toDecline} {
			words := append([]string{typed[0]}, answers(t, decline, d)[1:]...)
			accepted, err := d.Accept(words)
			require.Equal(t, typed[0] == "decline", err == nil)
			require.Equal(t, err == nil, accepted != nil)
			words = append([]string{typed[0]}, answers(t, approval, a)[1:]...)
			_, err = a.Accept(words)
			require.Equal(t, typed[0] == "1", err == nil)
		}
	}
}

// A stop forbids an approval and no decline of the same batch; what comes of it is a decline.
func TestAStopDoesNotForbidADecline(t *testing.T) {
	approval, decline := both(t, review.NewFinding(review.Unbound, review.Escape("1 leaf admits any payload")))
	_, err := ceremony.AcceptUnattended(approval)
	require.Equal(t, wire.UnboundScope, wire.CodeOf(err))
	accepted, err := ceremony.AcceptUnattended(decline)
	require.NoError(t, err)
	key := newKey(t)
	signed, err := accepted.Sign(t.Context(), key)
	require.NoError(t, err)
	file, ok := signed.File().(*quorum.DeclineFile)
	require.True(t, ok)
	require.Equal(t, "not my machine", file.Reason)
	require.True(t, file.Verifies(key.public))
}
