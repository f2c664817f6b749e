package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/wire"
)

// Verify verifies the ledger: each record against those before it, the head and the count, and every index against what the
// records give. The error is AUDIT_TAMPERED with the seq of the first record that is not as it was written, or 0 for an index,
// and what differs.
func (l *Ledger) Verify() (*Chain, error) {
	p := newReplay()
	err := l.store.view(func(tx *bolt.Tx) error {
		for _, check := range []func(*bolt.Tx) error{p.checkRecords, p.checkMeta, p.checkFacts, p.checkRecent} {
			if err := check(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.chain, nil
}

func (p *replay) checkRecords(tx *bolt.Tx) error {
	c := tx.Bucket(bucketRecords).Cursor()
	for k, line := c.First(); k != nil; k, line = c.Next() {
		seq := p.chain.Head().Seq + 1
		if len(k) != 8 || binary.BigEndian.Uint64(k) != seq {
			return tampered(seq, "seq", "record %d is not there", seq)
		}
		if err := p.take(line); err != nil {
			return err
		}
	}
	return nil
}

func (p *replay) checkMeta(tx *bolt.Tx) error {
	head, err := headOf(tx)
	if err != nil {
		return err
	}
	if head != p.chain.Head() {
		return tampered(head.Seq, "head", "the ledger says that its head is %s after %d records, and they give %s after %d",
			head.Hash, head.Seq, p.chain.Head().Hash, p.chain.Head().Seq)
	}
	return p.checkBucket(tx, bucketMeta, map[string][]byte{
		string(keyVersion): []byte(storeVersion), string(keyClock): wire.U64(p.clock),
		string(keyHead): append(wire.U64(head.Seq), head.Hash[:]...),
	})
}

func (p *replay) checkFacts(tx *bolt.Tx) error {
	for _, name := range slices.Sorted(maps.Keys(p.facts)) {
		if err := p.checkBucket(tx, []byte(name), p.facts[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkBucket holds an index against what it must hold, no more and no less.
func (p *replay) checkBucket(tx *bolt.Tx, name []byte, want map[string][]byte) error {
	n := 0
	c := tx.Bucket(name).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if value, ok := want[string(k)]; !ok || !bytes.Equal(value, v) {
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

// checkRecent holds the recent batches and their subjects against the records.
func (p *replay) checkRecent(tx *bolt.Tx) error {
	newest := map[bool]recentBatch{false: {}, true: {byHand: true}} // of each clock, of those that come later
	want := map[string][]byte{}
	sums := map[uint64]hash.Hash{}
	counts := map[uint64]uint64{}
	for _, r := range slices.Backward(p.recent) {
		if r.before(newest[r.byHand]) {
			continue
		}
		if r.at > newest[r.byHand].at {
			newest[r.byHand] = r
		}
		want[string(r.key())] = r.value()
		if p.lists[r.seq] != nil {
			sums[r.seq] = sha256.New()
		}
	}
	if err := p.checkBucket(tx, bucketRecent, want); err != nil {
		return err
	}
	c := tx.Bucket(bucketSubjects).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() { // ascending, as each list was when it was hashed
		if len(k) != len(Hash{})+8 || len(v) != 0 || sums[seqOfSubject(k)] == nil {
			return indexDiffers(bucketSubjects)
		}
		sums[seqOfSubject(k)].Write(k[:len(Hash{})])
		counts[seqOfSubject(k)]++
	}
	for seq, sum := range sums {
		if list := p.lists[seq]; counts[seq] != list.Count || Hash(sum.Sum(nil)) != list.SHA256 {
			return tampered(seq, "subjects", "the subjects that the index has of record %d are not those of the record", seq)
		}
	}
	return nil
}
