package main

import (
	"fmt"
	"time"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// concluded gives the records of what was signed or declined here, oldest first. The error is AUDIT_TAMPERED where one cannot
// be read.
func (m *memory) concluded(each func(*ledger.Record)) error {
	for r, err := range m.ledger.Records(1) {
		if err != nil {
			return err
		}
		if r.Outcome != ledger.Refused {
			each(r)
		}
	}
	return nil
}

// earlierBatches adds the findings of what was said of this very batch before, whose key ever said it, and counts the other
// batches of its trust domain that were signed within 24 hours.
func (m *memory) earlierBatches() (others int, err error) {
	b := m.entry.Batch
	var declined, signed []*ledger.Record
	seen := map[string]bool{b.ID: true}
	err = m.concluded(func(r *ledger.Record) {
		switch is := r.Batch; {
		case is == nil || is.TrustDomain != b.TrustDomain:
		case is.ID == b.ID && is.Root == b.Root && r.Outcome == ledger.Declined:
			declined = append(declined, r)
		case is.ID == b.ID && is.Root == b.Root:
			signed = append(signed, r)
		case r.Outcome == ledger.Signed && !seen[is.ID] && recent(r.At, m.entry.At):
			seen[is.ID] = true
			others++
		}
	})
	declines := m.entry.Outcome == ledger.Declined
	if n := len(declined); n > 0 {
		rule, last := review.DeclinedBefore, declined[n-1]
		if declines {
			rule = review.AlreadyDeclined
		}
		m.add(rule, fmt.Sprintf("you declined this batch in record %d: %s", last.Seq, last.Reason), declined)
	}
	if n := len(signed); n > 0 && declines {
		m.add(review.ApprovedBefore, fmt.Sprintf("your approval in record %d stands, and counts until the window ends", signed[n-1].Seq), signed)
	}
	return others, err
}

// recent tells whether something was within the 24 hours before now.
func recent(at, now uint64) bool { return at <= now && now-at <= uint64(24*time.Hour/time.Millisecond) }

// add adds a finding about records.
func (m *memory) add(rule review.Rule, says string, records []*ledger.Record) {
	var places []review.Text
	for _, r := range records {
		place := fmt.Sprintf("record %d, %s, by key %s", r.Seq, wire.Stamp(r.At), r.Key.KID)
		places = append(places, review.Escape(place))
	}
	m.found = append(m.found, review.NewFinding(rule, review.Escape(says), places...))
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
	var newest, known *ledger.Record
	err := m.concluded(func(r *ledger.Record) {
		switch is := r.Set; {
		case is == nil || is.TrustDomain != this.TrustDomain || *is == this:
		case c.Current != nil && is.Epoch == held && is.Digest == ledger.Hash(c.Current.Digest()):
			known = r
		case is.Epoch > held && (newest == nil || is.Epoch >= newest.Set.Epoch):
			newest = r
		}
	})
	if known != nil && c.CurrentKnown == "" {
		c.CurrentKnown = fmt.Sprintf("you signed it, in record %d", known.Seq)
	}
	if newest != nil {
		says := fmt.Sprintf("you signed the set of epoch %d in record %d; the one that is said to be in force has epoch %d", newest.Set.Epoch, newest.Seq, held)
		if c.Current == nil {
			says = fmt.Sprintf("you signed the set of epoch %d in record %d; this one has epoch %d", newest.Set.Epoch, newest.Seq, c.Epoch)
		}
		m.add(review.CurrentOlder, says, []*ledger.Record{newest})
	}
	return err
}
