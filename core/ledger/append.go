package ledger

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"slices"

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
	if err := l.store.folder.holds(l.store.file); err != nil {
		return nil, err
	}
	p := &Pending{l, rec, s}
	var room int
	err = l.store.view(func(at *snapshot) (err error) {
		if err = p.allowed(at); err == nil {
			room, err = roomFor(at, rec, s)
			at.checkFree()
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
func (p *Pending) allowed(s *snapshot) error {
	if p.record.ticks() {
		if err := s.checkClock(p.record.At); err != nil {
			return err
		}
	}
	return s.checkFacts(&p.record.Entry)
}

// roomFor bounds the bytes of the pages that an append may write: the record, the paths down to what changes in each bucket,
// the list of recent batches, and the subjects. A page that has the subjects of a batch has those of up to two others, which are
// written again; where some are let go of, up to five on either side of each may move.
func roomFor(at *snapshot, rec *Record, s Subjects) (int, error) {
	const beside = 5
	room := 64*at.pageSize + 2*(len(rec.Encode())+seqDigits)
	this, ok := rec.recentOf()
	if !ok {
		return room, nil
	}
	list, err := at.recents()
	slices.SortFunc(list, func(a, b recentBatch) int { return cmp.Compare(a.seq, b.seq) })
	moves := make([]bool, len(list))
	for i, r := range list {
		room += 2 * (len(r.key()) + len(r.value()) + elementSize)
		if r.before(this) {
			room += 2 * at.pageSize
			for j := max(0, i-beside); j < min(i+beside+1, len(list)); j++ {
				moves[j] = true
			}
		}
	}
	for i, r := range list {
		if (moves[i] || i+2 >= len(list)) && !r.before(this) {
			room += 2 * int(r.subjects.Count) * len(Hash{})
		}
	}
	return room + 2*s.Len()*len(Hash{}), err
}

// makeRoom writes that many bytes to the disk and frees their pages, which the next transaction then takes. They are random,
// so that no file system makes them fewer.
func (l *Ledger) makeRoom(size int) error {
	room := make([]byte, size)
	rand.Read(room)
	key := []byte("room")
	write := func(change func(b *bolt.Bucket) error) error {
		return l.store.update(func(tx *bolt.Tx, s *snapshot) error {
			s.get(bucketRoom, key)
			return change(tx.Bucket(bucketRoom))
		})
	}
	if err := write(func(b *bolt.Bucket) error { return b.Put(key, room) }); err != nil {
		return err
	}
	return write(func(b *bolt.Bucket) error { return b.Delete(key) })
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
	if err := p.ledger.store.folder.holds(p.ledger.store.file); err != nil {
		return nil, err
	}
	err := p.ledger.store.update(func(tx *bolt.Tx, s *snapshot) error {
		if err := p.allowed(s); err != nil {
			return err
		}
		head, err := s.head()
		if err != nil {
			return err
		}
		rec.Seq, rec.Previous = head.Seq+1, head.Hash
		return put(tx, s, &rec, p.subjects)
	})
	if err != nil {
		return nil, err
	}
	p.ledger.switchBoth()
	return rec.Receipt(), nil
}

// switchBoth has the other of both meta pages name the newest state too. bbolt takes the older one where the newer cannot be
// read: with a bit of it flipped the last record would be gone, and what it knows signed again. Where this fails the record is
// there all the same.
func (l *Ledger) switchBoth() {
	_ = l.store.update(func(*bolt.Tx, *snapshot) error { return nil })
}

// Refuse records a review that the program refused.
func (l *Ledger) Refuse(e Entry, s Subjects) (*Receipt, error) {
	p, err := l.Begin(e, s)
	if err != nil {
		return nil, err
	}
	return p.Append(nil)
}

// put writes a record, the head after it and what the indexes gain by it. The snapshot has read the way to each place that is
// written: what bbolt follows was looked at.
func put(tx *bolt.Tx, s *snapshot, rec *Record, subjects Subjects) error {
	line := rec.Encode()
	head := Head{rec.Seq - 1, rec.Previous}.after(line)
	if s.get(bucketRecords, wire.U64(rec.Seq)) != nil {
		return tampered(rec.Seq, "count", "the ledger has a record %d already", rec.Seq)
	}
	meta := tx.Bucket(bucketMeta)
	err := errors.Join(
		tx.Bucket(bucketRecords).Put(wire.U64(rec.Seq), line),
		meta.Put(keyHead, append(wire.U64(head.Seq), head.Hash[:]...)))
	if rec.ticks() {
		err = errors.Join(err, meta.Put(keyClock, wire.AppendU64(wire.U64(rec.At), rec.Seq)))
	}
	err = errors.Join(err, putFacts(tx, s, rec))
	if r, ok := rec.recentOf(); ok && err == nil {
		err = putRecent(tx, s, r, subjects)
	}
	return err
}

// putRecent adds a signed batch to the recent ones and lets go of those that it has left behind: of its own clock, since a
// time by hand may be any.
func putRecent(tx *bolt.Tx, s *snapshot, r recentBatch, subjects Subjects) error {
	list, err := s.recents() // every page of the bucket
	if err != nil {
		return err
	}
	s.readAll(bucketSubjects)
	recent, lists := tx.Bucket(bucketRecent), tx.Bucket(bucketSubjects)
	kept := []recentBatch{r}
	for _, o := range list {
		if !o.before(r) {
			kept = append(kept, o)
			continue
		}
		err = errors.Join(err, recent.Delete(o.key()), lists.Delete(wire.U64(o.seq)))
	}
	slices.SortFunc(kept, func(a, b recentBatch) int { return bytes.Compare(a.key(), b.key()) })
	sum := sumOfRecents(kept)
	err = errors.Join(err, recent.Put(r.key(), r.value()), tx.Bucket(bucketMeta).Put(keyRecent, sum[:]))
	if subjects.Len() > 0 {
		err = errors.Join(err, lists.Put(wire.U64(r.seq), subjects.bytes()))
	}
	return err
}
