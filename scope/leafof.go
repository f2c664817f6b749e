package scope

import (
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// LeafOf gives the leaf of a subject by the index of its operation in the review's document and its own index among that
// operation's subjects: its hash, and its proof, verified under the root. The error is NOT_FOUND where there is no such
// subject.
func (d *Decoded) LeafOf(operation, subject int) (leaf merkle.Hash, proof merkle.Proof, err error) {
	if operation < 0 || operation >= len(d.ordered) || subject < 0 || subject >= d.ordered[operation].size() {
		return leaf, proof, wire.Errorf(wire.NotFound, "", "the review has no subject %d of operation %d", subject, operation)
	}
	tree := d.verified.scope
	given := int(d.positions[d.ordered[operation].first+subject])
	index := d.indexOf(given)
	leaf, proof = tree.Leaf(index), tree.Proof(index)
	return leaf, proof, proof.Verify(leaf, uint64(tree.Size()), tree.Root())
}

// indexOf gives the position in hash order of the leaf at a position in the file.
func (d *Decoded) indexOf(given int) int {
	index := 0
	for d.verified.scope.Given(index) != given { // every leaf stands somewhere
		index++
	}
	return index
}
