package ledger

import (
	"crypto/rand"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A Pending is a record that has its room on the disk and is not there yet. One that is never appended leaves nothing but
// that room.
type Pending struct {
	ledger   *Ledger
	record   *Record
	subjects Subjects
}

// Begin gets everything ready that can fail, before a key is used: the entry is held to its rules and to what is recorded
// (CheckClock, but for a refusal; CheckBatch, CheckDecline or CheckSet), and the room that the record and its index need is
// written to the disk and synced. Errors are INVALID_INPUT, INVALID_STATE, CONFLICT, and IO_ERROR where the disk is full or
// read-only.
func (l *Ledger) Begin(e Entry, s Subjects) (*Pending, error) {
	rec, err := newRecord(e, s)
	if err != nil {
		return nil, err
	}
	if l.store.readOnly {
		return nil, wire.Errorf(wire.IOError, "", "the ledger is open for reading only")
	}
	p := &Pending{l, rec, s}
	var room int
	err = l.store.view(func(tx *bolt.Tx) (err error) {
		if err = p.allowed(tx); err == nil {
			room, err = roomFor(tx, len(rec.Encode())+seqDigits, &rec.Entry, s)
		}
		return err
	})
	if err == nil {
		err = l.makeRoom(room)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// seqDigits is how much longer a record may become by its place in the chain.
const seqDigits = 16

// newRecord gives the record of an entry as the first of a chain, with a signature of zeros where one will stand. The error is
// INVALID_INPUT.
func newRecord(e Entry, s Subjects) (*Record, error) {
	rec := &Record{Seq: 1, Entry: e.plain(), Subjects: s.List()}
	rec.PolicySHA256 = policyDigest(rec.Policy)
	if e.Outcome != Refused {
		rec.Signature = new(quorum.Sig)
	}
	if err := rec.check(); err != nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "the review cannot be recorded: %s", wire.MessageOf(err))
	}
	if size := len(rec.Encode()) + seqDigits; size > MaxRecordBytes {
		return nil, wire.Errorf(wire.InvalidInput, "", "the review cannot be recorded: %d bytes; at most %d are taken", size, MaxRecordBytes)
	}
	return rec, nil
}

// allowed holds the record against what the ledger knows.
func (p *Pending) allowed(tx *bolt.Tx) error {
	if p.record.ticks() {
		if err := checkClock(tx, p.record.At); err != nil {
			return err
		}
	}
	return checkFacts(tx, &p.record.Entry)
}

// roomFor bounds the bytes of the pages that an append may write: the record, the paths down to what changes in each bucket,
// and the subjects. Those spread over their whole index, whose pages may be half full: either all of its pages are written
// anew, or one for each subject that comes or goes.
func roomFor(tx *bolt.Tx, record int, e *Entry, s Subjects) (int, error) {
	list, err := recents(tx, 0)
	all, moved := uint64(s.Len()), uint64(s.Len())
	for _, r := range list {
		all += r.subjects
		if r.before(recentBatch{at: e.At, byHand: e.Clock == ClockByHand}) {
			moved += r.subjects
		}
	}
	const entry = len(Hash{}) + 8 + 16 // key and page element
	page := tx.DB().Info().PageSize
	return 64*page + 2*record + min(5*entry*int(all)/2, 2*page*int(moved)), err
}

// makeRoom writes that many bytes to the disk and frees their pages, which the next transaction then takes. They are random,
// so that no file system makes them fewer.
func (l *Ledger) makeRoom(size int) error {
	room := make([]byte, size)
	rand.Read(room)
	key := []byte("room")
	if err := l.store.update(func(tx *bolt.Tx) error { return tx.Bucket(bucketRoom).Put(key, room) }); err != nil {
		return err
	}
	return l.store.update(func(tx *bolt.Tx) error { return tx.Bucket(bucketRoom).Delete(key) })
}

// Append records what was begun, with the signature that was made over it (nil for a refusal). It is durable when it returns;
// a signature leaves the caller's hands only then. Errors are those of Begin, and the ledger is then as it was.
func (p *Pending) Append(signature *quorum.Signature) (*Receipt, error) {
	rec := *p.record
	if (signature != nil) != (rec.Outcome != Refused) || signature != nil && signature.KID != rec.Key.KID {
		return nil, wire.Errorf(wire.InvalidInput, "", "the signature is not by the key of the record, or is of a refusal")
	}
	if signature != nil {
		rec.Signature = new(signature.Sig)
	}
	err := p.ledger.store.update(func(tx *bolt.Tx) error {
		if err := p.allowed(tx); err != nil {
			return err
		}
		head, err := headOf(tx)
		if err != nil {
			return err
		}
		rec.Seq, rec.Previous = head.Seq+1, head.Hash
		return put(tx, &rec, p.subjects)
	})
	if err != nil {
		return nil, err
	}
	return receiptOf(&rec), nil
}

// Refuse records a review that the program refused.
func (l *Ledger) Refuse(e Entry, s Subjects) (*Receipt, error) {
	p, err := l.Begin(e, s)
	if err != nil {
		return nil, err
	}
	return p.Append(nil)
}

// put writes a record, the head after it and what the indexes gain by it.
func put(tx *bolt.Tx, rec *Record, s Subjects) error {
	line := rec.Encode()
	head := Head{rec.Seq - 1, rec.Previous}.after(line)
	meta := tx.Bucket(bucketMeta)
	err := errors.Join(
		tx.Bucket(bucketRecords).Put(wire.U64(rec.Seq), line),
		meta.Put(keyHead, append(wire.U64(head.Seq), head.Hash[:]...)))
	if rec.ticks() {
		err = errors.Join(err, meta.Put(keyClock, wire.U64(rec.At)))
	}
	for _, f := range rec.facts() {
		if b := tx.Bucket([]byte(f.bucket)); b.Get(f.key) == nil {
			err = errors.Join(err, b.Put(f.key, f.stored(rec.Seq)))
		}
	}
	if r, ok := rec.recentOf(); ok && err == nil {
		err = putRecent(tx, r, s)
	}
	return err
}

// putRecent adds a signed batch to the recent ones and lets go of those that it has left behind: of its own clock, since a
// time by hand may be any.
func putRecent(tx *bolt.Tx, r recentBatch, s Subjects) error {
	list, err := recents(tx, 0)
	if err != nil {
		return err
	}
	old := make(map[uint64]bool)
	bucket := tx.Bucket(bucketRecent)
	for _, o := range list {
		if o.before(r) {
			old[o.seq] = o.subjects > 0
			err = errors.Join(err, bucket.Delete(o.key()))
		}
	}
	subjects := tx.Bucket(bucketSubjects)
	err = errors.Join(err, bucket.Put(r.key(), r.value()), dropSubjects(subjects, old))
	for i := range s.hashes {
		err = errors.Join(err, subjects.Put(subjectKey(s.hashes[i], r.seq), nil))
	}
	return err
}

// dropSubjects removes the subjects of batches that are no longer recent.
func dropSubjects(b *bolt.Bucket, old map[uint64]bool) error {
	any := false
	for _, has := range old {
		any = any || has
	}
	if !any {
		return nil
	}
	var keys [][]byte
	c := b.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if len(k) == len(Hash{})+8 && old[seqOfSubject(k)] {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
