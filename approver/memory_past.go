package main

import (
	"fmt"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// earlierBatches adds the findings of what was said of this very batch before, whose key ever said it, and counts the other
// batches of its trust domain that were signed within 24 hours.
func (m *memory) earlierBatches() (others int, err error) {
	b, declines := *m.entry.Batch, m.entry.Outcome == ledger.Declined
	e, err := m.ledger.Earlier(b)
	if err != nil {
		return 0, err
	}
	rule := review.DeclinedBefore
	if declines {
		rule = review.AlreadyDeclined
	}
	if r := e.Declined; r != nil {
		m.add(rule, fmt.Sprintf("you declined this batch in record %d: %s", r.Seq, r.Reason), r)
	}
	if r := e.Other; r != nil {
		m.add(rule, fmt.Sprintf("you declined ANOTHER batch of this id, of another root, in record %d: %s", r.Seq, r.Reason), r)
	}
	if r := e.Approved; r != nil && declines {
		m.add(review.ApprovedBefore, fmt.Sprintf("your approval in record %d stands, and counts until the window ends", r.Seq), r)
	}
	return m.ledger.RecentBatches(b, m.entry.At, m.entry.Clock)
}

// add adds a finding about a record.
func (m *memory) add(rule review.Rule, says string, r *ledger.Record) {
	place := fmt.Sprintf("record %d, %s, by key %s", r.Seq, wire.Stamp(r.At), r.Key.KID)
	m.found = append(m.found, review.NewFinding(rule, review.Escape(says), review.Escape(place)))
}

// earlierSets holds the set in force that was given against the changes that were signed here. One that was signed here is known;
// one that is older than the newest that was is a finding.
func (m *memory) earlierSets(c *approvers.Change) error {
	if m.ledger == nil {
		return nil
	}
	held, this := c.CurrentEpoch, *m.entry.Set
	if c.Current == nil && c.Epoch > 1 {
		held = c.Epoch - 1
	}
	known, err := m.ledger.SignedSet(this.TrustDomain, held)
	if err != nil {
		return err
	}
	if known != nil && c.Current != nil && known.Set.Digest == ledger.Hash(c.Current.Digest()) && c.CurrentKnown == "" {
		c.CurrentKnown = fmt.Sprintf("you signed it, in record %d", known.Seq)
	}
	newest, err := m.ledger.NewestSet(this.TrustDomain)
	if err == nil && newest != nil && *newest.Set == this { // the other key of two on one machine
		newest, err = m.ledger.SignedSet(this.TrustDomain, this.Epoch-1)
	}
	if err != nil {
		return err
	}
	if newest != nil && newest.Set.Epoch > held {
		says := fmt.Sprintf("you signed the set of epoch %d in record %d; the one that is said to be in force has epoch %d", newest.Set.Epoch, newest.Seq, held)
		if c.Current == nil {
			says = fmt.Sprintf("you signed the set of epoch %d in record %d; this one has epoch %d", newest.Set.Epoch, newest.Seq, c.Epoch)
		}
		m.add(review.CurrentOlder, says, newest)
	}
	return nil
}
