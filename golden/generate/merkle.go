package main

import (
	"fmt"
	"slices"
)

type proof struct {
	Index    uint64   `json:"index"`
	Siblings []string `json:"siblings"` // hex
}

type treeLeaf struct {
	Subject       string `json:"subject"`
	Kind          string `json:"kind"`
	PayloadSHA256 string `json:"payloadSha256"` // hex, or empty
}

type treeVector struct {
	Name       string     `json:"name"`
	BatchID    string     `json:"batchId"`
	Leaves     []treeLeaf `json:"leaves"`     // as listed
	LeafHashes []string   `json:"leafHashes"` // in hash order
	Order      []int      `json:"order"`      // of each place in hash order the leaf as listed
	Size       int        `json:"size"`
	Root       string     `json:"root"`
	Proofs     []proof    `json:"proofs"` // in hash order
}

type badProof struct {
	Name     string `json:"name"`
	LeafHash string `json:"leafHash"`
	Size     uint64 `json:"size"`
	Root     string `json:"root"`
	Proof    proof  `json:"proof"`
}

// merkleTrees is trees of many sizes with every proof, and proofs that must not verify (WIRE.md §2).
func merkleTrees() any {
	var trees []treeVector
	for _, size := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33} {
		trees = append(trees, tree(size))
	}
	return struct {
		Trees   []treeVector `json:"trees"`
		Refused []badProof   `json:"refused"`
	}{trees, badProofs()}
}

func tree(size int) treeVector {
	t := treeVector{Name: fmt.Sprintf("%d leaves", size), BatchID: fmt.Sprintf("batch_%d", size), Size: size}
	var hashes [][]byte
	for i := range size {
		var digest []byte
		if i%3 != 2 { // every third admits any payload
			digest = sum([]byte(fmt.Sprintf("payload %d", i)))
		}
		l := treeLeaf{fmt.Sprintf("node_%03d", i), "node.reimage", hexOf(digest)}
		t.Leaves = append(t.Leaves, l)
		hashes = append(hashes, leafHash(t.BatchID, l.Subject, l.Kind, digest))
	}
	hashes, t.Order = inHashOrder(hashes)
	t.Root = hexOf(treeHash(hashes))
	for i, h := range hashes {
		t.LeafHashes = append(t.LeafHashes, hexOf(h))
		t.Proofs = append(t.Proofs, proof{uint64(i), hexes(auditPath(i, hashes))})
	}
	return t
}

func hexes(list [][]byte) []string {
	s := []string{}
	for _, b := range list {
		s = append(s, hexOf(b))
	}
	return s
}

// badProofs mutates good proofs of trees of one, three, five and eight leaves.
func badProofs() (v []badProof) {
	add := func(name string, t treeVector, at int, mutate func(b *badProof)) {
		b := badProof{name, t.LeafHashes[at], uint64(t.Size), t.Root, proof{uint64(at), slices.Clone(t.Proofs[at].Siblings)}}
		mutate(&b)
		v = append(v, b)
	}
	one, three, five, eight := tree(1), tree(3), tree(5), tree(8)
	siblings := func(p *proof, s ...string) { p.Siblings = s }
	add("index at the size", eight, 7, func(b *badProof) { b.Proof.Index = 8 })
	add("the largest index", eight, 0, func(b *badProof) { b.Proof.Index = 1<<32 - 1 })
	add("index of another leaf", eight, 2, func(b *badProof) { b.Proof.Index = 3 })
	add("index one over the only leaf", one, 0, func(b *badProof) { b.Proof.Index = 1 })
	add("size zero", one, 0, func(b *badProof) { b.Size = 0 })
	add("a sibling too few at the root", eight, 2, func(b *badProof) { siblings(&b.Proof, b.Proof.Siblings[:2]...) })
	add("a sibling too few at the leaf", eight, 2, func(b *badProof) { siblings(&b.Proof, b.Proof.Siblings[1:]...) })
	add("no siblings", eight, 2, func(b *badProof) { siblings(&b.Proof) })
	add("a sibling too many", eight, 2, func(b *badProof) { b.Proof.Siblings = append(b.Proof.Siblings, eight.Root) })
	add("a sibling for the only leaf", one, 0, func(b *badProof) { siblings(&b.Proof, three.Root) })
	add("a sibling on a level where the node is promoted", five, 4, func(b *badProof) { siblings(&b.Proof, five.LeafHashes[4], b.Proof.Siblings[0]) })
	add("siblings exchanged", eight, 2, func(b *badProof) { s := b.Proof.Siblings; s[0], s[1] = s[1], s[0] })
	add("a bit of a sibling flipped", eight, 2, func(b *badProof) { b.Proof.Siblings[1] = flip(b.Proof.Siblings[1]) })
	add("a sibling of 31 bytes", eight, 2, func(b *badProof) { b.Proof.Siblings[1] = b.Proof.Siblings[1][:62] })
	add("a sibling of 33 bytes", eight, 2, func(b *badProof) { b.Proof.Siblings[1] += "00" })
	add("an empty sibling", eight, 2, func(b *badProof) { b.Proof.Siblings[0] = "" })
	add("a bit of the leaf flipped", eight, 2, func(b *badProof) { b.LeafHash = flip(b.LeafHash) })
	add("a bit of the root flipped", eight, 2, func(b *badProof) { b.Root = flip(b.Root) })
	add("the root of another tree", eight, 2, func(b *badProof) { b.Root = five.Root })
	add("the size of a larger tree", three, 2, func(b *badProof) { b.Size = 4 })
	add("the size of a smaller tree", five, 4, func(b *badProof) { b.Size = 4 })
	add("an inner node with its own shorter path", eight, 2, func(b *badProof) {
		b.LeafHash = hexOf(sum([]byte{1}, unhex(eight.LeafHashes[2]), unhex(eight.LeafHashes[3])))
		siblings(&b.Proof, b.Proof.Siblings[1:]...)
		b.Proof.Index = 1
	})
	return v
}

// flip flips the last bit of a hex string.
func flip(s string) string {
	b := unhex(s)
	b[len(b)-1] ^= 1
	return hexOf(b)
}
