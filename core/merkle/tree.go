// Package merkle holds RFC 6962 Merkle trees over SHA-256: their roots, and inclusion proofs that any RFC 6962 verifier
// accepts (RFC 6962 §2.1, RFC 9162 §2.1.3, WIRE.md §2).
//
//	leaf hash  = SHA-256(0x00 ‖ entry)
//	node hash  = SHA-256(0x01 ‖ left ‖ right)
//
// Each level pairs the nodes of the level below from left to right, and an odd last node is promoted unchanged. A proof
// lists the siblings from the leaf to the root, with none on a level where the node was promoted.
//
// Worked example, three leaves a, b, c:
//
//	          root = node(ab, c)
//	         /                \
//	  ab = node(a, b)          c      promoted
//	   /        \
//	  a          b
//
//	proof of a: index 0, siblings b, c
//	proof of c: index 2, sibling ab
package merkle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// A Hash is a SHA-256 leaf hash, node hash or root.
type Hash [sha256.Size]byte

// String gives 64 lower-case hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText gives 64 lower-case hex digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// Compare orders hashes by their bytes.
func (h Hash) Compare(o Hash) int { return bytes.Compare(h[:], o[:]) }

// NodeHash gives SHA-256(0x01 ‖ left ‖ right).
func NodeHash(left, right *Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// A Tree holds every level of a tree, so that proofs are read off it. It is immutable.
type Tree struct {
	levels [][]Hash // levels[0] are the leaf hashes, the last level is the root alone
}

// Build computes the tree over leaf hashes in the order given, at least one; it keeps the slice. Up to workers
// goroutines hash at once. It panics where there are no leaves.
func Build(leaves []Hash, workers int) *Tree {
	if len(leaves) == 0 {
		panic("merkle: a tree has at least one leaf")
	}
	// All inner levels share one allocation: level by level, (n+1)/2 nodes.
	inner := 0
	for n := len(leaves); n > 1; {
		n = (n + 1) / 2
		inner += n
	}
	nodes := make([]Hash, inner)
	t := &Tree{levels: [][]Hash{leaves}}
	for level := leaves; len(level) > 1; {
		n := (len(level) + 1) / 2
		above := nodes[:n:n]
		nodes = nodes[n:]
		hashLevel(above, level, workers)
		t.levels = append(t.levels, above)
		level = above
	}
	return t
}

// parallelNodes is how many nodes a goroutine hashes at least; below that its start costs more than it saves.
const parallelNodes = 512

func hashLevel(above, below []Hash, workers int) {
	var wg sync.WaitGroup
	workers = max(1, min(workers, len(above)/parallelNodes))
	for w := 1; w < workers; w++ {
		wg.Go(func() { hashNodes(above, below, len(above)*w/workers, len(above)*(w+1)/workers) })
	}
	hashNodes(above, below, 0, len(above)/workers)
	wg.Wait()
}

// hashNodes computes the nodes from lo up to hi, hi excluded.
func hashNodes(above, below []Hash, lo, hi int) {
	for i := lo; i < hi; i++ {
		if 2*i+1 == len(below) {
			above[i] = below[2*i]
			return
		}
		above[i] = NodeHash(&below[2*i], &below[2*i+1])
	}
}

// Root gives the root.
func (t *Tree) Root() Hash { return t.levels[len(t.levels)-1][0] }

// Size gives the number of leaves.
func (t *Tree) Size() int { return len(t.levels[0]) }

// Leaf gives the leaf hash at a position. It panics where index is not below Size.
func (t *Tree) Leaf(index int) Hash { return t.levels[0][index] }

// Proof gives the inclusion proof of the leaf at a position. It panics where index is not below Size.
func (t *Tree) Proof(index int) Proof {
	if index < 0 || index >= t.Size() {
		panic("merkle: no leaf at that index")
	}
	p := Proof{Index: uint32(index), Siblings: make([]Hash, 0, len(t.levels)-1)}
	for _, level := range t.levels[:len(t.levels)-1] {
		if sibling := index ^ 1; sibling < len(level) {
			p.Siblings = append(p.Siblings, level[sibling])
		}
		index /= 2
	}
	return p
}
