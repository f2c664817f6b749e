package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/wire"
)

// storeVersion numbers the layout of the store, which no other program reads. Another layout is another version.
const storeVersion = "1"

// The buckets. u64 seq gives a record; the others are made of the records (room apart).
//
//	meta      version, head = u64 seq ‖ hash, clock = u64 newest time of what ticks ‖ u64 its seq, recent = SHA-256 of that bucket
//	records   u64 seq → record
//	facts     SHA-256(lp(kind) ‖ key) → the next of these ‖ u64 seq ‖ value ‖ sum (facts.go)
//	recent    u64 at ‖ u64 seq → u8 by hand ‖ u64 size ‖ subjects ‖ lp(batch id) ‖ trust domain   batches signed in the last 24 h
//	subjects  u64 seq → the SHA-256 of each subject of one of these, ascending; recent has its SHA-256, or zeros where none is known
//	room      what Begin writes to have the space
var (
	bucketMeta     = []byte("meta")
	bucketRecords  = []byte("records")
	bucketFacts    = []byte("facts")
	bucketRecent   = []byte("recent")
	bucketSubjects = []byte("subjects")
	bucketRoom     = []byte("room")
	buckets        = [][]byte{bucketMeta, bucketRecords, bucketFacts, bucketRecent, bucketSubjects, bucketRoom}

	keyVersion = []byte("version")
	keyHead    = []byte("head")
	keyClock   = []byte("clock")
	keyRecent  = []byte("recent")
)

// recently is how far the subjects and sizes of signed batches are looked back for, and kept.
const recently = uint64(24 * time.Hour / time.Millisecond)

func makeBuckets(tx *bolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	none := sha256.Sum256(nil)
	return errors.Join(
		meta.Put(keyVersion, []byte(storeVersion)), meta.Put(keyClock, make([]byte, 16)), meta.Put(keyHead, make([]byte, 8+len(Hash{}))),
		meta.Put(keyRecent, none[:]), tx.Bucket(bucketFacts).Put(firstPlace[:], factEntry{}.encode(firstPlace)))
}

// A recentBatch is a batch that was signed within the last 24 hours.
type recentBatch struct {
	at, seq  uint64
	byHand   bool
	size     uint64
	subjects SubjectList // zero where none are known
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
		r.subjects = *rec.Subjects
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
	value = append(wire.AppendU64(wire.AppendU64(value, r.size), r.subjects.Count), r.subjects.SHA256[:]...)
	return append(wire.AppendLP(value, r.id), r.domain...)
}

// parseRecent takes an entry of the bucket apart; ok is false where it is none of ours.
func parseRecent(key, value []byte) (r recentBatch, ok bool) {
	const fixed = 1 + 8 + 8 + len(Hash{}) + 4
	if len(key) != 16 || len(value) < fixed || value[0] > 1 {
		return recentBatch{}, false
	}
	n := binary.BigEndian.Uint64
	rest := value[fixed:]
	id := uint64(binary.BigEndian.Uint32(value[fixed-4:]))
	if id > uint64(len(rest)) {
		return recentBatch{}, false
	}
	subjects := SubjectList{n(value[9:]), Hash(value[17:])}
	return recentBatch{n(key), n(key[8:]), value[0] == 1, n(value[1:]), subjects, string(rest[:id]), string(rest[id:])}, true
}

// recents gives the recent batches, oldest first by their time.
func (s *snapshot) recents() (list []recentBatch, err error) {
	c := s.bucket(bucketRecent)
	for c.first(); c.valid(); c.next() {
		r, ok := parseRecent(c.key(), c.value())
		if !ok {
			return nil, tampered(0, "recent", "an entry of the recent batches is none of ours")
		}
		list = append(list, r)
	}
	if sum := sumOfRecents(list); !bytes.Equal(s.get(bucketMeta, keyRecent), sum[:]) {
		return nil, tampered(0, "recent", "the list of recent batches is not as it was written")
	}
	return list, nil
}

// sumOfRecents gives the SHA-256 by which it shows that one is missing or another.
func sumOfRecents(list []recentBatch) Hash {
	sum := sha256.New()
	for _, r := range list {
		sum.Write(append(r.key(), r.value()...))
	}
	return Hash(sum.Sum(nil))
}

// subjectsOf gives the subjects of a recent batch.
func (s *snapshot) subjectsOf(r recentBatch) (Subjects, error) {
	if r.subjects.Count == 0 {
		return Subjects{}, nil
	}
	list := s.get(bucketSubjects, wire.U64(r.seq))
	if uint64(len(list)) != r.subjects.Count*uint64(len(Hash{})) || sha256.Sum256(list) != r.subjects.SHA256 {
		return Subjects{}, tampered(r.seq, "subjects", "the subjects that the index has of record %d are not those of the record", r.seq)
	}
	hashes := make([]Hash, r.subjects.Count)
	for i := range hashes {
		hashes[i] = Hash(list[i*len(Hash{}):])
	}
	return Subjects{hashes}, nil
}
