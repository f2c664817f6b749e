package main

import (
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/tui"
)

// lookAt reads a batch that no key is named for: it is reviewed like any other, and can neither be signed nor declined.
func (a *app) lookAt(f *decision) (b *readBatch, err error) {
	b = &readBatch{flags: f}
	if b.decoded, b.policy, err = a.reviewScope(&f.reviewFlags); err != nil {
		return b, err
	}
	b.policy.Other = append(f.media(), f.memory.found...)
	if b.review, err = b.decoded.Review(b.policy); err == nil {
		f.memory.finds(b.review.Document().Findings)
	}
	return b, err
}

// lookAtChange reads a change of the approver set that no key is named for.
func (a *app) lookAtChange(f *approversFlags, domain string, m *memory) (*candidate, error) {
	c := &candidate{memory: m}
	change, inputs, err := a.readChange(f, domain, m)
	if err != nil {
		return c, err
	}
	if c.review, err = f.judge(change, inputs, m); err == nil {
		m.finds(c.review.Document().Findings)
	}
	return c, err
}

// errNoKey is why nothing is signed of what was opened without a key.
var errNoKey = wire.Errorf(wire.InvalidInput, "", "no key is named, by --key or the configuration")

// barApproval notes why what can be read is not approved, and may be declined.
func (r *road) barApproval(o *tui.Opened, why error, more string) {
	r.bar = why
	o.Bar = review.Escape(wire.MessageOf(why) + more)
}

// approvedBefore tells whether something was reviewed, and its approval alone is refused: the key has signed it.
func approvedBefore(r *review.Review, err error) bool {
	return r != nil && wire.ReasonOf(err) == "already-approved"
}
