package intent

import (
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A BundleHolder is what a machine keeps: the bundle that it took last, whose roots and version are in force, and its
// quorum, which may be another than that bundle's. It is immutable; Take gives the next one. The zero BundleHolder is a new
// machine without a trust domain, which takes nothing.
type BundleHolder struct {
	held   *TrustBundle // nil on a new machine
	quorum quorum.Holder
}

// NewBundleHolder gives a holder as it was kept: the bundle taken last, nil for none, and the quorum, which has the
// machine's own trust domain.
func NewBundleHolder(held *TrustBundle, q quorum.Holder) BundleHolder { return BundleHolder{held, q} }

// Held gives the bundle taken last, or nil. Its set is the quorum's only where the quorum took it.
func (h BundleHolder) Held() *TrustBundle { return h.held }

// Version gives the version in force, or 0 where no bundle was taken yet.
func (h BundleHolder) Version() uint64 {
	if h.held == nil {
		return 0
	}
	return h.held.Version()
}

// Roots gives the command-signing roots in force, or none.
func (h BundleHolder) Roots() []Root {
	if h.held == nil {
		return nil
	}
	return h.held.Roots()
}

// Quorum gives the quorum in force.
func (h BundleHolder) Quorum() quorum.Holder { return h.quorum }

// An Outcome is what became of one part of a bundle.
type Outcome uint8

// The outcomes; an Outcome of zero is none.
const (
	NothingToDo Outcome = iota + 1 // it is in force already
	Kept                           // what was held stays, and nothing is wrong
	Taken                          // it is in force now
	Refused                        // what was held stays; the part's error says why
)

// String says it as a person reads it.
func (o Outcome) String() string {
	switch o {
	case NothingToDo:
		return "nothing to do"
	case Kept:
		return "kept"
	case Taken:
		return "taken"
	case Refused:
		return "refused"
	}
	return "none"
}

// A Part is what became of one part of a bundle. Err is there exactly for Refused.
type Part struct {
	Outcome Outcome
	Err     error
}

// A Judgement is what became of a bundle: of version and roots, and, apart from them, of the quorum.
type Judgement struct{ Bundle, Quorum Part }

// Take judges a bundle. Version and roots are taken from a newer one; the same content at the same version leaves nothing
// to do; anything else is refused with ACCESS_DENIED, stale-version (details held, offered), and its quorum part is not
// looked at. The quorum part of a newer bundle, or of the one that is held, is judged by quorum.Holder.Take, whose errors
// are the part's. A bundle that says nothing of a set is refused as malformed-set by a holder of one, and kept out by
// others. One that was verified under another trust domain than the holder's is refused with TRUST_DOMAIN_MISMATCH.
func (h BundleHolder) Take(v *VerifiedBundle) (BundleHolder, Judgement) {
	if v.Bundle() == nil {
		none := Part{Refused, wire.Errorf(wire.InvalidInput, "", "there is no verified trust bundle")}
		return h, Judgement{none, none}
	}
	part, current := h.judge(v)
	if !current {
		return h, Judgement{part, Part{Outcome: Kept}}
	}
	next := h
	if part.Outcome == Taken {
		next.held = v.bundle
	}
	var quorumPart Part
	// The quorum of the bundle that is held is judged again, too: a machine that was given another pin takes it then.
	next.quorum, quorumPart = takeQuorum(h.quorum, v.bundle)
	return next, Judgement{part, quorumPart}
}

// judge judges version and roots; current tells whether the bundle is newer than what is held, or the same.
func (h BundleHolder) judge(v *VerifiedBundle) (part Part, current bool) {
	held, offered := h.Version(), v.bundle.Version()
	switch {
	case v.trustDomain != h.quorum.TrustDomain():
		return Part{Refused, wire.Errorf(wire.TrustDomainMismatch, "", "the bundle is for trust domain %q, the machine's is %q", v.trustDomain, h.quorum.TrustDomain()).
			With("file", v.trustDomain).With("own", h.quorum.TrustDomain())}, false
	case offered > held:
		return Part{Outcome: Taken}, true
	case offered == held && v.bundle.ContentDigest() == h.held.ContentDigest():
		return Part{Outcome: NothingToDo}, true
	}
	return Part{Refused, wire.Errorf(wire.AccessDenied, "stale-version", "the bundle has version %d; one of version %d is held, and only a newer one is taken", offered, held).
		With("held", held).With("offered", offered)}, false
}

func takeQuorum(q quorum.Holder, b *TrustBundle) (quorum.Holder, Part) {
	offer, err := b.Offer()
	if err != nil {
		return q, Part{Refused, err}
	}
	if offer.Set == nil && q.Set() == nil {
		return q, Part{Outcome: Kept}
	}
	next, taken, err := q.Take(offer)
	if err != nil {
		return q, Part{Refused, err}
	}
	return next, Part{Outcome: map[quorum.Taken]Outcome{
		quorum.NothingToDo: NothingToDo, quorum.Kept: Kept, quorum.TookSet: Taken,
	}[taken]}
}
