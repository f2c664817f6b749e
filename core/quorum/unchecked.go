package quorum

import (
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// Unchecked is the approval of a bare root: nobody has seen what it admits (batch sign --unchecked). The statement is
// marked, no review is made of it, and the signature file it ends in says so. Errors are INVALID_INPUT for a field not of
// its form.
func Unchecked(batchID string, root merkle.Hash, size, notAfter uint64, trustDomain string) (Statement, error) {
	if err := wire.CheckID("batch id", batchID); err != nil {
		return Statement{}, err
	}
	if err := wire.CheckTrustDomain("trust domain", trustDomain); err != nil {
		return Statement{}, err
	}
	if size < 1 || size > wire.MaxLeaves {
		return Statement{}, wire.Errorf(wire.InvalidInput, "", "the size is %d; wanted: 1 to %d", size, wire.MaxLeaves)
	}
	if notAfter > wire.MaxInteger {
		return Statement{}, wire.Errorf(wire.InvalidInput, "", "notAfter is over 2^53-1")
	}
	s := approvalStatement(batchID, root, size, notAfter, trustDomain)
	s.unchecked = true
	return s, nil
}

// IsUnchecked tells whether the statement is of a bare root.
func (s Statement) IsUnchecked() bool { return s.unchecked }
