package ledger

import (
	"encoding/binary"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/wire"
)

// storeVersion numbers the layout of the store, which no other program reads. Another layout is another version.
const storeVersion = "1"

// The buckets. u64 seq gives a record; the others are made of the records (room apart) and found with one look-up.
//
//	meta      version, head = u64 seq ‖ hash, clock = u64 newest time of what was signed or declined by the system's clock
//	records   u64 seq → record
//	roots     lp(batch id) ‖ trust domain → root ‖ u64 seq            of what was signed or declined, the first seq
//	epochs    u64 epoch ‖ trust domain → set digest ‖ u64 seq         of what was signed
//	signed    "b" ‖ kid ‖ root ‖ trust domain → u64 seq               the key has signed that batch
//	          "s" ‖ kid ‖ u64 epoch ‖ digest ‖ trust domain → u64 seq  or that change
//	recent    u64 at ‖ u64 seq → u8 by hand ‖ u64 size ‖ u64 subjects ‖ lp(batch id) ‖ trust domain   batches signed in the last 24 h
//	subjects  SHA-256(subject) ‖ ^u64 seq → nothing                   theirs, the newest of a subject first
//	room      what Begin writes to have the space
var (
	bucketMeta     = []byte("meta")
	bucketRecords  = []byte("records")
	bucketRecent   = []byte("recent")
	bucketSubjects = []byte("subjects")
	bucketRoom     = []byte("room")
	buckets        = []string{"meta", "records", factRoots, factEpochs, factSigned, "recent", "subjects", "room"}

	keyVersion = []byte("version")
	keyHead    = []byte("head")
	keyClock   = []byte("clock")
)

// recently is how far the subjects and sizes of signed batches are looked back for, and kept.
const recently = uint64(24 * time.Hour / time.Millisecond)

func makeBuckets(tx *bolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	if err := meta.Put(keyVersion, []byte(storeVersion)); err != nil {
		return err
	}
	if err := meta.Put(keyClock, wire.U64(0)); err != nil {
		return err
	}
	return meta.Put(keyHead, make([]byte, 8+len(Hash{})))
}

// A fact is what a record says once and for all: nothing that contradicts it is signed later.
type fact struct {
	bucket string
	key    []byte
	value  []byte // what a later record may say again, or nil where it may not
}

const (
	factRoots  = "roots"
	factEpochs = "epochs"
	factSigned = "signed"
)

// facts gives the facts of an entry. A refusal has none: its file may say anything.
func (e *Entry) facts() (list []fact) {
	if e.Outcome == Refused {
		return nil
	}
	kid := e.Key.KID.String()
	switch {
	case e.Batch != nil:
		b := e.Batch
		list = append(list, fact{factRoots, append(wire.AppendLP(nil, b.ID), b.TrustDomain...), b.Root[:]})
		if e.Outcome == Signed {
			list = append(list, fact{factSigned, slices.Concat([]byte("b"+kid), b.Root[:], []byte(b.TrustDomain)), nil})
		}
	case e.Set != nil && e.Outcome == Signed:
		s := e.Set
		list = append(list,
			fact{factEpochs, append(wire.U64(s.Epoch), s.TrustDomain...), s.Digest[:]},
			fact{factSigned, slices.Concat([]byte("s"+kid), wire.U64(s.Epoch), s.Digest[:], []byte(s.TrustDomain)), nil})
	}
	return list
}

// told gives the seq of the record that said a fact first, and what it said; ok is false where none did.
func (f fact) told(get func(bucket string, key []byte) []byte) (value []byte, seq uint64, ok bool) {
	b := get(f.bucket, f.key)
	if len(b) < 8 {
		return nil, 0, false
	}
	return b[:len(b)-8], binary.BigEndian.Uint64(b[len(b)-8:]), true
}

// stored gives the value under which a fact is kept.
func (f fact) stored(seq uint64) []byte { return wire.AppendU64(slices.Clone(f.value), seq) }

// A recentBatch is a batch that was signed within the last 24 hours.
type recentBatch struct {
	at, seq  uint64
	byHand   bool
	size     uint64
	subjects uint64
	id       string
	domain   string
}

// recentOf gives what a record adds to the recent batches; ok is false for any but a signed batch.
func (rec *Record) recentOf() (r recentBatch, ok bool) {
	if rec.Outcome != Signed || rec.Batch == nil {
		return recentBatch{}, false
	}
	r = recentBatch{at: rec.At, seq: rec.Seq, byHand: rec.Clock == ClockByHand, size: rec.Batch.Size, id: rec.Batch.ID, domain: rec.Batch.TrustDomain}
	if rec.Subjects != nil {
		r.subjects = rec.Subjects.Count
	}
	return r, true
}

func (r recentBatch) key() []byte { return wire.AppendU64(wire.U64(r.at), r.seq) }

// before tells whether a batch is no longer recent once a later one was signed.
func (r recentBatch) before(later recentBatch) bool {
	return r.byHand == later.byHand && r.at+recently < later.at
}

func (r recentBatch) value() []byte {
	value := []byte{0}
	if r.byHand {
		value[0] = 1
	}
	return append(value, append(wire.AppendLP(wire.AppendU64(wire.U64(r.size), r.subjects), r.id), r.domain...)...)
}

// parseRecent takes an entry of the bucket apart; ok is false where it is none of ours.
func parseRecent(key, value []byte) (r recentBatch, ok bool) {
	if len(key) != 16 || len(value) < 21 || value[0] > 1 {
		return recentBatch{}, false
	}
	byHand := value[0] == 1
	value = value[1:]
	n := binary.BigEndian.Uint64
	rest := value[20:]
	id := uint64(binary.BigEndian.Uint32(value[16:]))
	if id > uint64(len(rest)) {
		return recentBatch{}, false
	}
	return recentBatch{n(key), n(key[8:]), byHand, n(value), n(value[8:]), string(rest[:id]), string(rest[id:])}, true
}

// recents gives the batches signed at a time or later, oldest first by their time.
func recents(tx *bolt.Tx, since uint64) (list []recentBatch, err error) {
	c := tx.Bucket(bucketRecent).Cursor()
	for k, v := c.Seek(wire.U64(since)); k != nil; k, v = c.Next() {
		r, ok := parseRecent(k, v)
		if !ok {
			return nil, tampered(0, "index", "an entry of the recent batches is none of ours")
		}
		list = append(list, r)
	}
	return list, nil
}

// subjectKey is where a subject stands in the index; a later seq sorts before an earlier one.
func subjectKey(subject Hash, seq uint64) []byte {
	return wire.AppendU64(append(make([]byte, 0, len(subject)+8), subject[:]...), ^seq)
}

// seqOfSubject gives the seq of an entry of the index.
func seqOfSubject(key []byte) uint64 { return ^binary.BigEndian.Uint64(key[len(Hash{}):]) }
