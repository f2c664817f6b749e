package ceremony

import (
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// An UncheckedChallenge asks for the batch id of a bare root to be typed, since nothing else of it can be checked.
type UncheckedChallenge struct {
	statement quorum.Statement
	batchID   string
}

// NewUncheckedChallenge takes a statement of quorum.Unchecked. Any other is INVALID_INPUT: it is to be reviewed.
func NewUncheckedChallenge(s quorum.Statement, batchID string) (*UncheckedChallenge, error) {
	if !s.IsUnchecked() {
		return nil, wire.Errorf(wire.InvalidInput, "", "only a bare root is signed unchecked")
	}
	return &UncheckedChallenge{s, batchID}, nil
}

// Accept takes the typed batch id. The error is INVALID_STATE, not-confirmed.
func (c *UncheckedChallenge) Accept(typed string) (*Accepted, error) {
	if typed != c.batchID {
		return nil, notConfirmed("the batch id that was typed is not %s", c.batchID)
	}
	return &Accepted{c.statement}, nil
}
