package scope

import (
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// The window of a scope that is made here, from the moment it is made. It is the platform's own: a batch of which the
// approvals outlive three days is no longer the batch that somebody wanted.
const (
	BuildHours    = 24 // where nothing else is said
	MaxBuildHours = 72
	leastWindow   = time.Minute // a shorter one nobody could review
)

// A Draft is leaves that a scope is to be made of, their payloads encoded. What they say has not been looked at beyond
// their own form. Build is the only way on.
//
//	draft, err := scope.ParseLeaves(f, kinds.Builtin(), 2)        // or NewDraft, from Go values
//	decoded, err := draft.Build(scope.Proposal{
//		BatchID: "batch_01k0", TrustDomain: "compute.example.com", Reason: "kernel roll-out",
//		NotAfter: uint64(now.Add(24 * time.Hour).UnixMilli()), Time: review.Time{Now: now},
//	})
//	err = decoded.Encode(w, scope.Policy{})
//
// A Draft may be built more than once, by one goroutine at a time.
type Draft struct {
	leaves  *Parsed
	kinds   *kinds.Table
	workers int
}

// A Proposal is what a scope says beside its leaves.
type Proposal struct {
	BatchID     string
	TrustDomain string
	Reason      string // 1 to 500 UTF-16 units
	NotAfter    uint64 // Unix milliseconds; 60 s to 72 h after Time
	Time        review.Time
}

// Build makes the scope: the leaves go down the road as those of a file do, so what it gives an approver's Parse and Verify
// take, and Encode writes it. Errors are INVALID_STATE (clock) where the clock cannot be right, INVALID_INPUT for a field of
// the proposal that is not of its form, and those of Parsed.Verify, naming the leaf and its subject.
func (d *Draft) Build(p Proposal) (*Decoded, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	parsed := *d.leaves
	parsed.header = Header{Bare: true, NotAfter: p.NotAfter, TrustDomain: p.TrustDomain, Reason: p.Reason}
	v, err := parsed.Verify(VerifyOptions{Kinds: d.kinds, BatchID: p.BatchID, Workers: d.workers})
	if err != nil {
		return nil, d.withSubject(err)
	}
	return v.Decode(), nil
}

func (p *Proposal) check() error {
	if err := wire.CheckID("the batch id", p.BatchID); err != nil {
		return err
	}
	if err := wire.CheckTrustDomain("the trust domain", p.TrustDomain); err != nil {
		return err
	}
	if !utf8.ValidString(p.Reason) {
		return wire.Errorf(wire.InvalidInput, "", "the reason is not UTF-8")
	}
	if units := len(utf16.Encode([]rune(p.Reason))); units < 1 || units > wire.MaxReasonUnits {
		return wire.Errorf(wire.InvalidInput, "", "the reason has %d UTF-16 units; wanted: 1 to %d", units, wire.MaxReasonUnits)
	}
	return p.checkWindow()
}

func (p *Proposal) checkWindow() error {
	if p.NotAfter > wire.MaxInteger {
		return wire.Errorf(wire.InvalidInput, "", "the window ends at %d; wanted: Unix milliseconds up to 2^53-1", p.NotAfter)
	}
	end := time.UnixMilli(int64(p.NotAfter))
	for _, f := range review.ClockFindings(p.Time, end) {
		if f.Severity == review.Stop {
			return f.Err()
		}
	}
	if open := end.Sub(p.Time.Now); open < leastWindow || open > MaxBuildHours*time.Hour {
		return wire.Errorf(wire.InvalidInput, "", "the window ends at %s, and now is %s; wanted: an end %d s to %d h from now",
			wire.Stamp(p.NotAfter), utc(p.Time.Now), leastWindow/time.Second, MaxBuildHours).
			With("notAfter", p.NotAfter).With("now", p.Time.Now.UnixMilli())
	}
	return nil
}
