package ledger

import (
	"cmp"
	"encoding/hex"
	"slices"

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
// another batch, by whatever key. It is one look-up for each subject that was approved in that time, however long the ledger is.
// Where now is a time by hand, the 24 hours end at the newest record of the system's clock, if that is earlier.
func (l *Ledger) ApprovedSubjects(b Batch, s Subjects, now uint64, clock Clock) (found Overlap, err error) {
	err = l.store.view(func(at *snapshot) error {
		others, err := at.otherBatches(b, now, clock)
		if err != nil || len(others) == 0 || s.Len() == 0 {
			return err
		}
		bySeq := slices.Clone(others) // the newest that approved a subject is the one that is named
		slices.SortFunc(bySeq, func(a, b recentBatch) int { return cmp.Compare(b.seq, a.seq) })
		finder, approved, named := s.finder(), make([]bool, s.Len()), make(map[uint64]bool)
		for _, r := range bySeq {
			list, err := at.subjectsOf(r)
			if err != nil {
				return err
			}
			for i := range list.hashes {
				if at := finder.find(&list.hashes[i]); at >= 0 && !approved[at] {
					approved[at], named[r.seq] = true, true
					found.Subjects++
				}
			}
		}
		others = slices.DeleteFunc(others, func(r recentBatch) bool { return !named[r.seq] })
		found.Batches, found.BatchCount = newestFirst(others)
		return nil
	})
	return found, err
}

// RecentBatches tells how many other batches were signed here in those 24 hours under the same trust domain.
func (l *Ledger) RecentBatches(b Batch, now uint64, clock Clock) (count int, err error) {
	err = l.store.view(func(at *snapshot) error {
		others, err := at.otherBatches(b, now, clock)
		_, count = newestFirst(others)
		return err
	})
	return count, err
}

// otherBatches gives what was signed in the 24 hours up to now under a batch's trust domain, without the batch itself. What the
// system's clock puts after a time that was given by hand counts too: it was signed before all the same. And a time by hand that
// is ahead does not hide what was signed just now.
func (s *snapshot) otherBatches(b Batch, now uint64, clock Clock) ([]recentBatch, error) {
	end := now
	if clock == ClockByHand {
		if newest, seq, err := s.clock(); err != nil {
			return nil, err
		} else if seq > 0 {
			end = min(end, newest)
		}
	}
	list, err := s.recents()
	return slices.DeleteFunc(list, func(r recentBatch) bool {
		return r.domain != b.TrustDomain || r.id == b.ID || r.at+recently < end || r.at > now && r.byHand
	}), err
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
func (l *Ledger) SplitBatches(b Batch, set *quorum.Set, now uint64, clock Clock) (splits []Split, err error) {
	if set == nil {
		return nil, nil
	}
	err = l.store.view(func(at *snapshot) error {
		others, err := at.otherBatches(b, now, clock)
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
