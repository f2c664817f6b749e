package ceremony_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// Only what was opened whole is asked about.
func TestReadChallenge(t *testing.T) {
	r := newReview(t, 3, review.NewFinding(review.NoExpect, review.Escape("no list")))
	g := review.NewReading(r)
	refused := func() {
		c, err := ceremony.NewReadChallenge(g)
		require.Nil(t, c)
		require.Equal(t, wire.InvalidState, wire.CodeOf(err))
		require.ErrorContains(t, err, "still to be opened")
	}
	refused()
	g.OpenOperation(0)
	refused()
	g.OpenFinding(0)
	c, err := ceremony.NewReadChallenge(g)
	require.NoError(t, err)
	_, err = c.Accept(answers(t, r, c))
	require.NoError(t, err)
}

func TestReadChallengeNeedsAReading(t *testing.T) {
	_, err := ceremony.NewReadChallenge(new(review.Reading))
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	r := newReview(t, 1, review.NewFinding(review.Unbound, review.Escape("1 leaf admits any payload")))
	g := review.NewReading(r)
	g.OpenOperation(0)
	_, err = ceremony.NewReadChallenge(g)
	require.Equal(t, wire.UnboundScope, wire.CodeOf(err))
}

func TestDeclineChallengeIsForDeclines(t *testing.T) {
	approval, decline := both(t)
	_, err := ceremony.NewDeclineChallenge(approval)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	c, err := ceremony.NewDeclineChallenge(decline)
	require.NoError(t, err)
	require.Contains(t, c.Questions()[0], "DECLINE")
}
