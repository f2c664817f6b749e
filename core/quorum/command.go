package quorum

import (
	"crypto/sha256"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// A BatchedCommand is what a machine reads off a command that names a batch: what is to be done, before anybody is asked
// whether it may. Subject is the one that the command itself gives (kinds.Kind.Subject), never one that came beside it.
type BatchedCommand struct {
	BatchID, Subject, Kind string
	Payload                []byte // the payload's value as sent
}

// An Admission is why a command is admitted.
type Admission struct {
	Approvers []KID       // in the order of their signatures
	Leaf      merkle.Hash // which a machine uses once
	Bound     bool        // the leaf is for exactly this payload; otherwise it is for any of this kind and subject
}

// Verify tells whether an approval and a proof that came with the command admit it on a machine of trustDomain that holds
// the set, at now, Unix milliseconds (the verifyBatchCommand of the platform's own primitives, WIRE.md §6). Root and size
// are those that were signed. The leaf that is bound to the payload and the one that admits any payload both do; whether
// the latter is enough for the kind is the machine's to say, as is whether the leaf was used. Errors are ACCESS_DENIED:
// no-approval, no-proof, other-batch, malformed-approval, expired, too-few-approvals, not-in-scope.
func (c BatchedCommand) Verify(a *Approval, p *merkle.Proof, set *Set, trustDomain string, now uint64) (*Admission, error) {
	switch {
	case a == nil:
		return nil, wire.Errorf(wire.AccessDenied, "no-approval", "the command names batch %q and brings no approval", c.BatchID)
	case p == nil:
		return nil, wire.Errorf(wire.AccessDenied, "no-proof", "the command names batch %q and brings no proof", c.BatchID)
	case a.BatchID != c.BatchID:
		return nil, wire.Errorf(wire.AccessDenied, "other-batch", "the command names batch %q, the approval %q", c.BatchID, a.BatchID)
	}
	approvers, err := a.Verify(set, trustDomain, now)
	if err != nil {
		return nil, err
	}
	digest, root := sha256.Sum256(c.Payload), merkle.Hash(a.ScopeRoot)
	bound := LeafHash(c.BatchID, c.Subject, c.Kind, digest[:])
	if p.Verify(bound, a.ScopeSize, root) == nil {
		return &Admission{approvers, bound, true}, nil
	}
	unbound := LeafHash(c.BatchID, c.Subject, c.Kind, nil)
	if err := p.Verify(unbound, a.ScopeSize, root); err != nil {
		return nil, wire.Errorf(wire.AccessDenied, "not-in-scope", "neither %s of %q with this payload nor with any is proven to be in the approved scope: %w",
			c.Kind, c.Subject, err)
	}
	return &Admission{approvers, unbound, false}, nil
}
