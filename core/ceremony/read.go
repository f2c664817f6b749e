package ceremony

import (
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// NewReadChallenge is NewChallenge for a person who opened everything that has to be opened. Errors are the review's first
// stop, and INVALID_STATE (not-confirmed), which counts what is left.
func NewReadChallenge(g *review.Reading) (*Challenge, error) {
	if g.Review() == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "nothing was read")
	}
	if stop := g.Review().Stop(); stop != nil {
		return nil, stop
	}
	if !g.Complete() {
		left := g.Left()
		return nil, notConfirmed("still to be opened: %d operations, %d summaries, %d findings", left.Operations, left.Summaries, left.Findings)
	}
	return NewChallenge(g.Review())
}

// NewDeclineChallenge is NewChallenge for saying no, which approves nothing and needs nothing opened. The error is
// INVALID_INPUT for the review of anything but a decline.
func NewDeclineChallenge(r *review.Review) (*Challenge, error) {
	if !r.Document().Declines() {
		return nil, wire.Errorf(wire.InvalidInput, "", "the %s would be approved, not declined", r.Document().What)
	}
	return NewChallenge(r)
}
