package quorum

import (
	"crypto/sha256"
	"sync"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// An Entry is what one leaf of a batch binds: a subject, a kind, and the SHA-256 of the payload, or no digest for an
// unbound leaf, which admits any payload of that kind for that subject (WIRE.md §2).
type Entry struct {
	Subject, Kind string
	PayloadSHA256 []byte // 32 bytes, or none
}

// isWellFormed tells whether each field of the entry has its form (WIRE.md §2).
func (e Entry) isWellFormed() bool {
	_, subject := wire.ParseSubject([]byte(e.Subject))
	return subject && wire.IsKind(e.Kind) && (len(e.PayloadSHA256) == 0 || len(e.PayloadSHA256) == sha256.Size)
}

// leafBytes bounds what a leaf hash covers.
const leafBytes = 1 + 4 + wire.MaxIDBytes + 4 + wire.MaxSubjectBytes + 4 + wire.MaxKindBytes + 4 + sha256.Size

// LeafHash gives SHA-256(0x00 ‖ lp(batch_id) ‖ lp(subject) ‖ lp(kind) ‖ lp(payload_sha256)) (WIRE.md §2). The digest has
// 32 bytes, or none for an unbound leaf. It allocates nothing for fields within their limits.
func LeafHash[T ~string | ~[]byte](batchID string, subject, kind T, payloadSHA256 []byte) merkle.Hash {
	var buf [leafBytes]byte
	return sha256.Sum256(appendLeaf(buf[:0], batchID, subject, kind, payloadSHA256))
}

// appendLeaf appends what a leaf hash covers.
func appendLeaf[T ~string | ~[]byte](b []byte, batchID string, subject, kind T, payloadSHA256 []byte) []byte {
	b = wire.AppendLP(append(b, 0), batchID)
	return wire.AppendLP(wire.AppendLP(wire.AppendLP(b, subject), kind), payloadSHA256)
}

// A Scope is the tree of a batch: the leaf hashes of its entries in ascending order. Its root was computed from the
// entries; there is no other way to have one.
type Scope struct {
	batchID string
	tree    *merkle.Tree
	from    []uint32 // position in hash order -> position as given
}

// NewScope builds the scope of a batch (the batchScope of the platform's own primitives). Errors are INVALID_INPUT: a
// field not of its form, no entries or over 50,000 (too-many-leaves), a digest that is neither 32 bytes nor none, an
// entry twice (duplicate-leaf).
func NewScope(batchID string, entries []Entry) (*Scope, error) {
	if len(entries) > wire.MaxLeaves {
		return nil, wire.Errorf(wire.InvalidInput, "too-many-leaves", "%d leaves; at most %d are taken", len(entries), wire.MaxLeaves)
	}
	for i, e := range entries {
		if !e.isWellFormed() {
			return nil, wire.Errorf(wire.InvalidInput, "", "entry %d: subject %q, kind %q or digest is not of its form", i, e.Subject, e.Kind)
		}
	}
	return HashScope(batchID, len(entries), 1, func(i int) (subject, kind, payloadSHA256 []byte) {
		return []byte(entries[i].Subject), []byte(entries[i].Kind), entries[i].PayloadSHA256
	})
}

// A DuplicateLeafError names the positions, as given, of two equal leaves.
type DuplicateLeafError struct{ First, Second int }

// Error gives both positions.
func (e *DuplicateLeafError) Error() string { return "two leaves are equal" }

// HashScope builds a scope of size leaves whose fields the caller has checked: leaf gives the fields of the leaf at a
// position as given, and is called from up to workers goroutines at once. It allocates a fixed number of times whatever
// the size. Errors are INVALID_INPUT; one for two equal leaves (duplicate-leaf) wraps a *DuplicateLeafError.
func HashScope(batchID string, size, workers int, leaf func(i int) (subject, kind, payloadSHA256 []byte)) (*Scope, error) {
	if err := wire.CheckID("batch id", batchID); err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, wire.Errorf(wire.InvalidInput, "", "a batch has at least one leaf")
	}
	hashes := make([]merkle.Hash, size)
	var wg sync.WaitGroup
	for w := range workers {
		lo, hi := size*w/workers, size*(w+1)/workers
		fill := func() {
			scratch := make([]byte, 0, leafBytes)
			for i := lo; i < hi; i++ {
				subject, kind, digest := leaf(i)
				hashes[i] = sha256.Sum256(appendLeaf(scratch, batchID, subject, kind, digest))
			}
		}
		if w == workers-1 {
			fill()
		} else {
			wg.Go(fill)
		}
	}
	wg.Wait()
	sorted, from := merkle.Sort(hashes)
	for i := 1; i < size; i++ {
		if sorted[i] == sorted[i-1] {
			d := &DuplicateLeafError{int(min(from[i-1], from[i])), int(max(from[i-1], from[i]))}
			return nil, wire.Errorf(wire.InvalidInput, "duplicate-leaf", "leaves %d and %d are the same: %w", d.First, d.Second, d)
		}
	}
	return &Scope{batchID, merkle.Build(sorted, workers), from}, nil
}

// BatchID gives the batch's id.
func (s *Scope) BatchID() string { return s.batchID }

// Root gives the root that approvers sign.
func (s *Scope) Root() merkle.Hash { return s.tree.Root() }

// Size gives the number of leaves.
func (s *Scope) Size() int { return s.tree.Size() }

// Given tells where the leaf at a position in hash order stood as given.
func (s *Scope) Given(index int) int { return int(s.from[index]) }

// Leaf gives the leaf hash at a position in hash order.
func (s *Scope) Leaf(index int) merkle.Hash { return s.tree.Leaf(index) }

// Proof gives the inclusion proof of the leaf at a position in hash order.
func (s *Scope) Proof(index int) merkle.Proof { return s.tree.Proof(index) }

// ProofOf gives the proof of an entry; ok is false where the scope does not hold it.
func (s *Scope) ProofOf(e Entry) (p merkle.Proof, ok bool) {
	leaf := LeafHash(s.batchID, e.Subject, e.Kind, e.PayloadSHA256)
	lo, hi := 0, s.Size()
	for lo < hi {
		if mid := (lo + hi) / 2; s.Leaf(mid).Compare(leaf) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == s.Size() || s.Leaf(lo) != leaf {
		return merkle.Proof{}, false
	}
	return s.Proof(lo), true
}
