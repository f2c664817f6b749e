package ledger

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/better-compute/approver/core/wire"
)

// Verify verifies the ledger: each record against those before it, the head and the count, every index against what the
// records give, and the pages of the store, each of which is in one place or free. The error is AUDIT_TAMPERED with the seq of
// the first record that is not as it was written, or 0 for an index, and what differs.
func (l *Ledger) Verify() (*Chain, error) {
	p := newReplay()
	err := l.store.view(func(s *snapshot) error {
		for _, check := range []func(*snapshot) error{p.checkRecords, p.checkMeta, p.checkFacts, p.checkRecent} {
			if err := check(s); err != nil {
				return err
			}
		}
		s.checkFree()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.chain, nil
}

func (p *replay) checkRecords(s *snapshot) error {
	c := s.bucket(bucketRecords)
	for c.first(); c.valid(); c.next() {
		seq := p.chain.Head().Seq + 1
		if k := c.key(); len(k) != 8 || binary.BigEndian.Uint64(k) != seq {
			return tampered(seq, "seq", "record %d is not there", seq)
		}
		if _, err := p.take(c.value()); err != nil {
			return err
		}
	}
	return nil
}

func (p *replay) checkMeta(s *snapshot) error {
	head, err := s.head()
	if err != nil {
		return err
	}
	if head != p.chain.Head() {
		return tampered(head.Seq, "head", "the ledger says that its head is %s after %d records, and they give %s after %d",
			head.Hash, head.Seq, p.chain.Head().Hash, p.chain.Head().Seq)
	}
	p.recent = stillRecent(p.recent)
	sum := sumOfRecents(p.recent)
	return p.checkBucket(s, bucketMeta, map[string][]byte{
		string(keyVersion): []byte(storeVersion), string(keyClock): wire.AppendU64(wire.U64(p.clock), p.clockSeq),
		string(keyHead): append(wire.U64(head.Seq), head.Hash[:]...), string(keyRecent): sum[:],
	})
}

func (p *replay) checkFacts(s *snapshot) error {
	return p.checkBucket(s, bucketFacts, factsIndex(p.facts))
}

// checkBucket holds an index against what it must hold, no more and no less.
func (p *replay) checkBucket(s *snapshot, name []byte, want map[string][]byte) error {
	n := 0
	c := s.bucket(name)
	for c.first(); c.valid(); c.next() {
		if value, ok := want[string(c.key())]; !ok || !bytes.Equal(value, c.value()) {
			return indexDiffers(name)
		}
		n++
	}
	if n != len(want) {
		return indexDiffers(name)
	}
	return nil
}

func indexDiffers(name []byte) error {
	return tampered(0, string(name), "the index of %s does not fit the records: it has another entry, or lacks one", name)
}

// stillRecent gives the signed batches that none after them left behind, of those of a ledger by seq, oldest first by their time.
func stillRecent(all []recentBatch) (list []recentBatch) {
	newest := map[bool]recentBatch{false: {}, true: {byHand: true}} // of each clock, of those that come later
	for _, r := range slices.Backward(all) {
		if r.before(newest[r.byHand]) {
			continue
		}
		if r.at > newest[r.byHand].at {
			newest[r.byHand] = r
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b recentBatch) int { return bytes.Compare(a.key(), b.key()) })
	return list
}

// checkRecent holds the recent batches and their subjects against the records.
func (p *replay) checkRecent(s *snapshot) error {
	want := map[string][]byte{}
	lists := 0
	for _, r := range p.recent {
		want[string(r.key())] = r.value()
		if _, err := s.subjectsOf(r); err != nil {
			return err
		}
		if r.subjects.Count > 0 {
			lists++
		}
	}
	c := s.bucket(bucketSubjects)
	for c.first(); c.valid(); c.next() {
		lists--
	}
	if lists != 0 {
		return indexDiffers(bucketSubjects)
	}
	room := s.bucket(bucketRoom)
	if room.first(); room.valid() && string(room.key()) != "room" {
		return indexDiffers(bucketRoom)
	}
	return p.checkBucket(s, bucketRecent, want)
}
