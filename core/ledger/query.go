package ledger

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// CheckClock holds the system's clock against the newest record of what was signed or declined by it: a clock before it is
// wrong, or was then. Refusals do not count, since a wrong clock may be why, and neither do times by hand. The error is
// INVALID_STATE, clock; its details have now and recorded.
func (l *Ledger) CheckClock(now uint64) error {
	return l.store.view(func(tx *bolt.Tx) error { return checkClock(tx, now) })
}

func checkClock(tx *bolt.Tx, now uint64) error {
	newest := tx.Bucket(bucketMeta).Get(keyClock)
	if len(newest) != 8 {
		return tampered(0, "clock", "the ledger does not know the time of its newest record")
	}
	if recorded := binary.BigEndian.Uint64(newest); now < recorded {
		return wire.Errorf(wire.InvalidState, string(review.Clock), "the clock shows %s, and the ledger has a record of %s: one of both is wrong",
			wire.Stamp(now), wire.Stamp(recorded)).With("now", now).With("recorded", recorded)
	}
	return nil
}

// CheckBatch tells whether a key may sign a batch. Errors are CONFLICT where a batch of that id and trust domain with another
// root was signed or declined here, whoever's key it was; and INVALID_STATE, already-approved where the key has signed this
// one. Their details have the seq of that record.
func (l *Ledger) CheckBatch(kid quorum.KID, b Batch) error {
	return l.check(&Entry{Outcome: Signed, What: WhatBatch, Batch: &b, Key: &Key{KID: kid}})
}

// CheckDecline tells whether a batch may be declined: CONFLICT as CheckBatch has it. What was approved or declined before may
// be declined.
func (l *Ledger) CheckDecline(b Batch) error {
	return l.check(&Entry{Outcome: Declined, What: WhatBatch, Batch: &b, Key: &Key{}})
}

// CheckSet tells whether a key may sign an approver-set change. Errors are CONFLICT where another set for that epoch and trust
// domain was signed here, and INVALID_STATE, already-approved where the key has signed this one.
func (l *Ledger) CheckSet(kid quorum.KID, s SetChange) error {
	return l.check(&Entry{Outcome: Signed, What: WhatSet, Set: &s, Key: &Key{KID: kid}})
}

func (l *Ledger) check(e *Entry) error {
	return l.store.view(func(tx *bolt.Tx) error { return checkFacts(tx, e) })
}

// checkFacts holds an entry against what was recorded; each fact is one look-up.
func checkFacts(tx *bolt.Tx, e *Entry) error {
	for _, f := range e.facts() {
		said, seq, ok := f.told(func(bucket string, key []byte) []byte { return tx.Bucket([]byte(bucket)).Get(key) })
		if ok && (f.value == nil || !bytes.Equal(said, f.value)) {
			return e.contradicts(f, said, seq)
		}
	}
	return nil
}

// contradicts words what is in the way of an entry.
func (e *Entry) contradicts(f fact, said []byte, seq uint64) error {
	switch f.bucket {
	case factRoots:
		return wire.Errorf(wire.Conflict, "", "batch %s of %s has root %s here, and had root %x in record %d: an id stands for one batch; find out who made the other",
			e.Batch.ID, e.Batch.TrustDomain, e.Batch.Root, said, seq).With("seq", seq).With("root", e.Batch.Root.String()).With("recorded", hexOf(said))
	case factEpochs:
		return wire.Errorf(wire.Conflict, "", "epoch %d of %s is that of set %s here, and was that of set %x in record %d: an epoch stands for one set; find out who made the other",
			e.Set.Epoch, e.Set.TrustDomain, e.Set.Digest, said, seq).With("seq", seq).With("set", e.Set.Digest.String()).With("recorded", hexOf(said))
	}
	return wire.Errorf(wire.InvalidState, "already-approved", "key %s has signed this before, in record %d; nothing is signed again",
		e.Key.KID, seq).With("seq", seq)
}
