package ledger

import (
	"bytes"
	"encoding/binary"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// CheckClock holds the system's clock against the newest record of what was signed or declined by it: a clock before it is
// wrong, or was then. Refusals do not count, since a wrong clock may be why, and neither do times by hand. The error is
// INVALID_STATE, clock; its details have now and recorded.
func (l *Ledger) CheckClock(now uint64) error {
	return l.store.view(func(s *snapshot) error { return s.checkClock(now) })
}

// clock gives the newest time of the system's clock, and the seq of its record, 0 for none.
func (s *snapshot) clock() (newest, seq uint64, err error) {
	value := s.get(bucketMeta, keyClock)
	if len(value) != 16 {
		return 0, 0, tampered(0, "clock", "the ledger does not know the time of its newest record")
	}
	newest, seq = binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:])
	if seq == 0 && newest == 0 {
		return 0, 0, nil
	}
	rec, err := s.record(seq)
	if err == nil && (!rec.ticks() || rec.At != newest) {
		err = tampered(seq, "clock", "record %d is not of the time that the ledger says", seq)
	}
	return newest, seq, err
}

func (s *snapshot) checkClock(now uint64) error {
	recorded, seq, err := s.clock()
	if err == nil && now < recorded {
		err = wire.Errorf(wire.InvalidState, string(review.Clock), "the clock shows %s, and record %d of the ledger is of %s: the clock is behind now, or was ahead then",
			wire.Stamp(now), seq, wire.Stamp(recorded)).With("now", now).With("recorded", recorded).With("seq", seq)
	}
	return err
}

// CheckBatch tells whether a key may sign a batch. Errors are CONFLICT where a batch of that id and trust domain with another
// root was signed here, whoever's key it was; and INVALID_STATE, already-approved where the key has signed this one. Their
// details have the seq of that record.
func (l *Ledger) CheckBatch(kid quorum.KID, b Batch) error {
	return l.check(&Entry{Outcome: Signed, What: WhatBatch, Batch: &b, Key: &Key{KID: kid}})
}

// CheckDecline tells whether a batch may be declined: CONFLICT as CheckBatch has it. What was approved or declined before may
// be declined. A root that was declined binds nobody: a forged copy that was declined would keep the true batch out for ever.
func (l *Ledger) CheckDecline(b Batch) error {
	return l.check(&Entry{Outcome: Declined, What: WhatBatch, Batch: &b, Key: &Key{}})
}

// CheckSet tells whether a key may sign an approver-set change. Errors are CONFLICT where another set for that epoch and trust
// domain was signed here, and INVALID_STATE, already-approved where the key has signed this one.
func (l *Ledger) CheckSet(kid quorum.KID, s SetChange) error {
	return l.check(&Entry{Outcome: Signed, What: WhatSet, Set: &s, Key: &Key{KID: kid}})
}

func (l *Ledger) check(e *Entry) error {
	return l.store.view(func(s *snapshot) error { return s.checkFacts(e) })
}

// checkFacts holds an entry against what was recorded; each fact is one look-up.
func (s *snapshot) checkFacts(e *Entry) error {
	for _, f := range e.facts() {
		if before, ok := s.told(f); f.contradicts(before, ok) {
			return e.contradicts(f, before)
		}
	}
	return nil
}

// contradicts words what is in the way of an entry.
func (e *Entry) contradicts(f fact, before told) error {
	said := hexOf(before.value)
	switch f.kind {
	case factRoot, factHeld:
		return wire.Errorf(wire.Conflict, "", "batch %s of %s has root %s here, and had root %s when you signed it in record %d: an id stands for one batch; find out who made the other",
			e.Batch.ID, e.Batch.TrustDomain, e.Batch.Root, said, before.seq).With("seq", before.seq).With("root", e.Batch.Root.String()).With("recorded", said)
	case factEpoch:
		return wire.Errorf(wire.Conflict, "", "epoch %d of %s is that of set %s here, and was that of set %s in record %d: an epoch stands for one set; find out who made the other",
			e.Set.Epoch, e.Set.TrustDomain, e.Set.Digest, said, before.seq).With("seq", before.seq).With("set", e.Set.Digest.String()).With("recorded", said)
	}
	return wire.Errorf(wire.InvalidState, "already-approved", "key %s has signed this before, in record %d; nothing is signed again",
		e.Key.KID, before.seq).With("seq", before.seq)
}

// Earlier is what was said here of a batch before, by whatever key: the newest records, nil where there is none.
type Earlier struct {
	Approved *Record // signed this batch
	Declined *Record // declined it
	Other    *Record // declined its id with another root, and is the newest that declined the id
}

// Earlier looks up what was said of a batch. The error is AUDIT_TAMPERED.
func (l *Ledger) Earlier(b Batch) (e Earlier, err error) {
	err = l.store.view(func(s *snapshot) (err error) {
		if e.Approved, err = s.recordOf(fact{factApproved, b.rootKey(), nil}); err != nil {
			return err
		}
		if e.Declined, err = s.recordOf(fact{factDeclined, b.rootKey(), nil}); err != nil {
			return err
		}
		if e.Other, err = s.recordOf(fact{factOther, b.idKey(), nil}); err == nil && e.Other != nil && e.Other.Batch.Root == b.Root {
			e.Other = nil
		}
		return err
	})
	return e, err
}

// SignedSet gives the record that signed the set of an epoch first, and NewestSet the newest one of the greatest epoch; nil
// where there is none. The error is AUDIT_TAMPERED.
func (l *Ledger) SignedSet(trustDomain string, epoch uint64) (rec *Record, err error) {
	err = l.store.view(func(s *snapshot) (err error) {
		rec, err = s.recordOf(fact{factEpoch, append(wire.U64(epoch), trustDomain...), nil})
		return err
	})
	return rec, err
}

// NewestSet is described at SignedSet.
func (l *Ledger) NewestSet(trustDomain string) (rec *Record, err error) {
	err = l.store.view(func(s *snapshot) (err error) {
		rec, err = s.recordOf(fact{factNewest, []byte(trustDomain), nil})
		return err
	})
	return rec, err
}

// recordOf gives the record that an index names for a fact, held to have said it.
func (s *snapshot) recordOf(f fact) (*Record, error) {
	before, ok := s.told(f)
	if !ok {
		return nil, nil
	}
	rec, err := s.record(before.seq)
	if err != nil {
		return nil, err
	}
	for _, said := range rec.facts() {
		if said.kind == f.kind && bytes.Equal(said.key, f.key) {
			return rec, nil
		}
	}
	return nil, tampered(before.seq, "facts", "record %d does not say what the index has of it", before.seq)
}
