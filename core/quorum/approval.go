package quorum

import (
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// Approval is the statement that approves this scope: until notAfter, Unix milliseconds, on machines of trustDomain. The
// error is INVALID_INPUT where either is not of its form.
func (s *Scope) Approval(notAfter uint64, trustDomain string) (Statement, error) {
	if err := wire.CheckTrustDomain("trust domain", trustDomain); err != nil {
		return Statement{}, err
	}
	if notAfter > wire.MaxInteger {
		return Statement{}, wire.Errorf(wire.InvalidInput, "", "notAfter is over 2^53-1")
	}
	return approvalStatement(s.batchID, s.Root(), uint64(s.Size()), notAfter, trustDomain), nil
}

func approvalStatement(batchID string, root merkle.Hash, size, notAfter uint64, trustDomain string) Statement {
	return Statement{purpose: PurposeBatchApproval, parts: [][]byte{
		[]byte(batchID), root[:], wire.U64(size), wire.U64(notAfter), []byte(trustDomain),
	}}
}

// An Approval is a BatchApproval as it comes from outside: claims and signatures, nothing of it verified (WIRE.md §3).
type Approval struct {
	BatchID    string
	ScopeRoot  []byte // 32 bytes when well formed
	ScopeSize  uint64
	NotAfter   uint64 // Unix milliseconds
	Signatures []UnverifiedSignature
}

// An UnverifiedSignature is a kid and a signature as they came, of any length.
type UnverifiedSignature struct {
	KID string
	Sig []byte
}

// Approvers tells which keys of the set approved: for each kid of the set, once, the first of its signatures that
// verifies under the verifier's own trust domain at now (Unix milliseconds). Signatures that share one r count once. It
// is the rule of WIRE.md §3 short of the threshold. Errors are ACCESS_DENIED: malformed-approval, expired.
func (a *Approval) Approvers(set *Set, trustDomain string, now uint64) ([]KID, error) {
	if len(a.ScopeRoot) != len(merkle.Hash{}) || a.ScopeSize < 1 || a.ScopeSize > wire.MaxLeaves ||
		len(a.Signatures) > wire.MaxSignatures {
		return nil, wire.Errorf(wire.AccessDenied, "malformed-approval",
			"the approval is not of its form: root of %d bytes, size %d, %d signatures", len(a.ScopeRoot), a.ScopeSize, len(a.Signatures))
	}
	if now > a.NotAfter {
		return nil, wire.Errorf(wire.AccessDenied, "expired", "the window ended at %s, now is %s", wire.Stamp(a.NotAfter), wire.Stamp(now)).
			With("notAfter", a.NotAfter).With("now", now)
	}
	statement := approvalStatement(a.BatchID, merkle.Hash(a.ScopeRoot), a.ScopeSize, a.NotAfter, trustDomain)
	var approvers []KID
	for i, outcome := range set.Tally(statement, a.Signatures) {
		if outcome == Counted {
			approvers = append(approvers, KID{a.Signatures[i].KID})
		}
	}
	return approvers, nil
}

// Verify tells whether the approval holds for the set: as Approvers, and at least the required approvals for its size,
// never below 1. It gives the approving kids in the order of their signatures. The error is ACCESS_DENIED with reason
// malformed-approval, expired or too-few-approvals, the latter with details required and approvers.
func (a *Approval) Verify(set *Set, trustDomain string, now uint64) ([]KID, error) {
	approvers, err := a.Approvers(set, trustDomain, now)
	if err != nil {
		return nil, err
	}
	required := max(1, set.RequiredApprovals(a.ScopeSize))
	if uint64(len(approvers)) < uint64(required) {
		return nil, wire.Errorf(wire.AccessDenied, "too-few-approvals", "%d of %d required approvals by keys of the set verify",
			len(approvers), required).With("required", required).With("approvers", approvers)
	}
	return approvers, nil
}
