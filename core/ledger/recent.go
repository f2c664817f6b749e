package ledger

import (
	"bytes"
	"encoding/hex"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// maxNamed bounds the batches that an answer names.
const maxNamed = 20

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// An Overlap tells how many subjects of a batch other batches acted on that were signed here within 24 hours, for the finding
// already-approved-subjects. The zero Overlap is none.
type Overlap struct {
	Subjects   int      // of the batch, that were approved
	Batches    []string // the ids of the newest batches that approved them, newest first, at most 20
	BatchCount int      // of how many
}

// ApprovedSubjects tells which subjects of a batch were approved in the 24 hours up to now, under the same trust domain and in
// another batch, by whatever key. It is one look-up a subject.
func (l *Ledger) ApprovedSubjects(b Batch, s Subjects, now uint64) (found Overlap, err error) {
	err = l.store.view(func(tx *bolt.Tx) error {
		others, err := otherBatches(tx, b, now)
		if err != nil || len(others) == 0 {
			return err
		}
		bySeq := make(map[uint64]bool, len(others))
		for _, r := range others {
			bySeq[r.seq] = true
		}
		seen := make(map[uint64]bool)
		w := newWalk(tx)
		for i := range s.hashes {
			if seq, ok := w.newestOf(&s.hashes[i], bySeq); ok {
				found.Subjects++
				seen[seq] = true
			}
		}
		others = slices.DeleteFunc(others, func(r recentBatch) bool { return !seen[r.seq] })
		found.Batches, found.BatchCount = newestFirst(others)
		return nil
	})
	return found, err
}

// A walk goes through the index of subjects in its order, as the subjects of a batch stand too.
type walk struct {
	c  *bolt.Cursor
	at []byte // nil behind the last entry
}

func newWalk(tx *bolt.Tx) *walk {
	w := &walk{c: tx.Bucket(bucketSubjects).Cursor()}
	w.at, _ = w.c.First()
	return w
}

// to goes on to the first entry of a subject, or where it would stand: some steps where that is near, else by one look-up.
func (w *walk) to(subject *Hash) {
	const near = 4
	for i := 0; w.at != nil && bytes.Compare(w.at[:len(subject)], subject[:]) < 0; i++ {
		if i < near {
			w.at, _ = w.c.Next()
		} else {
			w.at, _ = w.c.Seek(subject[:])
		}
	}
}

// newestOf finds the newest of the wanted records that approved a subject, each call for a later subject than the one before.
// The entries passed over are those of the batch itself and of other trust domains.
func (w *walk) newestOf(subject *Hash, wanted map[uint64]bool) (seq uint64, ok bool) {
	for w.to(subject); w.at != nil && Hash(w.at[:len(subject)]) == *subject; w.at, _ = w.c.Next() {
		if seq = seqOfSubject(w.at); wanted[seq] {
			return seq, true
		}
	}
	return 0, false
}

// otherBatches gives what was signed in the 24 hours up to now under a batch's trust domain, without the batch itself. What the
// system's clock puts after a time that was given by hand counts too: it was signed before all the same.
func otherBatches(tx *bolt.Tx, b Batch, now uint64) ([]recentBatch, error) {
	list, err := recents(tx, now-min(now, recently))
	return slices.DeleteFunc(list, func(r recentBatch) bool { return r.domain != b.TrustDomain || r.id == b.ID || r.at > now && r.byHand }), err
}

// newestFirst names batches, each once, and counts them.
func newestFirst(list []recentBatch) (ids []string, count int) {
	seen := make(map[string]bool)
	for _, r := range slices.Backward(list) {
		if seen[r.id] {
			continue
		}
		seen[r.id] = true
		if len(ids) < maxNamed {
			ids = append(ids, r.id)
		}
	}
	return ids, len(seen)
}

// A Split is a bound of a tier that a batch passes only together with others, for the finding split-batches.
type Split struct {
	Bound      uint32   // the tier's largest batch
	Needed     uint32   // approvals that one batch of the sum needs
	Sum        uint64   // leaves of the batch and the others
	Batches    []string // ids of the others, newest first, at most 20
	BatchCount int      // how many others
}

// SplitBatches tells which bounds of the set's tiers a batch passes together with what was signed here in the 24 hours up to
// now under the same trust domain, each batch at or under the bound: then one batch of them all would need more approvals.
// The bounds ascend; a nil set has none.
func (l *Ledger) SplitBatches(b Batch, set *quorum.Set, now uint64) (splits []Split, err error) {
	if set == nil {
		return nil, nil
	}
	err = l.store.view(func(tx *bolt.Tx) error {
		others, err := otherBatches(tx, b, now)
		if err != nil {
			return err
		}
		for _, tier := range set.Tiers() {
			if s, ok := splitAt(tier, b, others); ok {
				if s.Needed = set.RequiredApprovals(s.Sum); s.Needed > tier.Threshold {
					splits = append(splits, s)
				}
			}
		}
		return nil
	})
	return splits, err
}

// splitAt adds up what stays at or under the bound of a tier; a batch that was signed by two keys is one.
func splitAt(tier quorum.Tier, b Batch, others []recentBatch) (Split, bool) {
	bound := uint64(tier.MaxScopeSize)
	if b.Size > bound {
		return Split{}, false
	}
	under := slices.DeleteFunc(slices.Clone(others), func(r recentBatch) bool { return r.size > bound })
	s := Split{Bound: tier.MaxScopeSize, Sum: b.Size}
	seen := make(map[string]bool)
	for _, r := range under {
		if !seen[r.id] {
			seen[r.id] = true
			s.Sum = min(s.Sum+r.size, wire.MaxInteger)
		}
	}
	s.Batches, s.BatchCount = newestFirst(under)
	return s, s.BatchCount > 0 && s.Sum > bound
}
