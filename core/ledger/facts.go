package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/wire"
)

// A fact is what a record says for the reviews after it to be held against.
type fact struct {
	kind  factKind
	key   []byte
	value []byte
}

type factKind string

const (
	factRoot     factKind = "root"     // lp(batch id) ‖ trust domain → root: signed; another is a CONFLICT
	factEpoch    factKind = "epoch"    // u64 epoch ‖ trust domain → set digest: signed; another is a CONFLICT
	factSigned   factKind = "signed"   // kid ‖ lp(batch id) ‖ root ‖ trust domain: the key signed it, and does not again
	factSetBy    factKind = "set by"   // kid ‖ u64 epoch ‖ digest ‖ trust domain: as well
	factApproved factKind = "approved" // lp(batch id) ‖ root ‖ trust domain: the newest that signed it
	factDeclined factKind = "declined" // the same: the newest that declined it
	factOther    factKind = "other"    // lp(batch id) ‖ trust domain → root: the newest that declined the id
	factNewest   factKind = "newest"   // trust domain → u64 epoch: the newest of the greatest epoch that was signed
	factHeld     factKind = "held"     // not kept: a factRoot that what is declined must not contradict
)

// facts gives the facts of an entry. A refusal has none: its file may say anything.
func (e *Entry) facts() []fact {
	if e.Outcome == Refused {
		return nil
	}
	kid := []byte(e.Key.KID.String())
	if b := e.Batch; b != nil {
		id := b.idKey()
		switch e.Outcome {
		case Signed:
			return []fact{{factRoot, id, b.Root[:]}, {factSigned, slices.Concat(kid, b.rootKey()), nil}, {factApproved, b.rootKey(), nil}}
		default:
			return []fact{{factHeld, id, b.Root[:]}, {factDeclined, b.rootKey(), nil}, {factOther, id, b.Root[:]}}
		}
	}
	s := e.Set
	epoch := wire.U64(s.Epoch)
	return []fact{
		{factEpoch, slices.Concat(epoch, []byte(s.TrustDomain)), s.Digest[:]},
		{factSetBy, slices.Concat(kid, epoch, s.Digest[:], []byte(s.TrustDomain)), nil},
		{factNewest, []byte(s.TrustDomain), epoch},
	}
}

func (b *Batch) idKey() []byte { return append(wire.AppendLP(nil, b.ID), b.TrustDomain...) }
func (b *Batch) rootKey() []byte {
	return slices.Concat(wire.AppendLP(nil, b.ID), b.Root[:], []byte(b.TrustDomain))
}

// A told is a fact as it is kept, with the record that said it: of those that bind the first, of the others the newest.
type told struct {
	seq   uint64
	value []byte
}

// says tells whether a fact may not be said any more.
func (f fact) contradicts(before told, ok bool) bool {
	switch f.kind {
	case factRoot, factEpoch, factHeld:
		return ok && !bytes.Equal(before.value, f.value)
	case factSigned, factSetBy:
		return ok
	}
	return false
}

// replaces tells whether a fact is kept, in the place of one that is.
func (f fact) replaces(before told, ok bool) bool {
	switch f.kind {
	case factHeld:
		return false
	case factApproved, factDeclined, factOther:
		return true
	case factNewest:
		return !ok || bytes.Compare(before.value, f.value) <= 0
	}
	return !ok
}

// place is where a fact stands in the index.
func (f fact) place() Hash {
	kind := f.kind
	if kind == factHeld {
		kind = factRoot
	}
	return sha256.Sum256(append(wire.AppendLP(nil, string(kind)), f.key...))
}

// A factEntry is a fact in the index. Each names the one behind it, the last of all the first, and has a sum over itself: so a
// fact that is not there is known not to be by the entry before its place, and a damaged page is no proof of anything.
type factEntry struct {
	told
	next Hash
}

const factSum = 8

// the first entry is no fact; it is there from the beginning.
var firstPlace = Hash{}

func (e factEntry) encode(place Hash) []byte {
	b := append(wire.AppendU64(e.next[:len(e.next):len(e.next)], e.seq), e.value...)
	return append(b, sumOf(place, b)...)
}

func sumOf(place Hash, b []byte) []byte {
	sum := sha256.Sum256(append(place[:], b...))
	return sum[:factSum]
}

// factBefore reads the entry at a place or before it, whichever is there.
func (s *snapshot) factBefore(place Hash) (at Hash, e factEntry) {
	c := s.bucket(bucketFacts)
	c.floor(place[:])
	k, v := c.key(), c.value()
	if len(k) != len(Hash{}) || len(v) < len(Hash{})+8+factSum {
		damaged("an entry of the index of facts is none of ours")
	}
	at, n := Hash(k), len(v)-factSum
	if !bytes.Equal(v[n:], sumOf(at, v[:n])) {
		damaged("an entry of the index of facts is not as it was written")
	}
	e = factEntry{told{binary.BigEndian.Uint64(v[len(Hash{}):]), v[len(Hash{})+8 : n]}, Hash(v)}
	if bytes.Compare(e.next[:], place[:]) <= 0 && e.next != firstPlace && at != place {
		damaged("an entry of the index of facts is missing")
	}
	return at, e
}

// told looks a fact up.
func (s *snapshot) told(f fact) (told, bool) {
	place := f.place()
	at, e := s.factBefore(place)
	return e.told, at == place
}

// putFacts keeps the facts of a record.
func putFacts(tx *bolt.Tx, s *snapshot, rec *Record) (err error) {
	changed := make(map[Hash]factEntry)
	for _, f := range rec.facts() {
		place := f.place()
		at, e := s.factBefore(place)
		for other := range changed { // the snapshot does not have these
			if bytes.Compare(other[:], place[:]) <= 0 && bytes.Compare(other[:], at[:]) >= 0 {
				at, e = other, changed[other]
			}
		}
		if !f.replaces(e.told, at == place) {
			continue
		}
		this := factEntry{told{rec.Seq, f.value}, e.next}
		if at != place {
			e.next = place
			changed[at] = e
		}
		changed[place] = this
	}
	b := tx.Bucket(bucketFacts)
	for place, e := range changed {
		err = errors.Join(err, b.Put(place[:], e.encode(place)))
	}
	return err
}

// factsIndex gives what the index holds of the facts that were told, and nothing else.
func factsIndex(facts map[Hash]told) map[string][]byte {
	places := []Hash{firstPlace}
	for place := range facts {
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	want := make(map[string][]byte, len(places))
	for i, place := range places {
		next := places[(i+1)%len(places)]
		want[string(place[:])] = factEntry{facts[place], next}.encode(place)
	}
	return want
}
