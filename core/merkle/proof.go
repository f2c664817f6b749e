package merkle

import "github.com/better-compute/approver/core/wire"

// A Proof shows that a leaf hash stands at a position of a tree. The size of the tree is no part of it: it comes from
// what was signed (WIRE.md §2).
type Proof struct {
	Index    uint32 `json:"index"`    // position in leaf order, from 0
	Siblings []Hash `json:"siblings"` // from the leaf to the root
}

// ParseSiblings takes siblings as they come on the wire, each of 32 bytes. The error is INVALID_INPUT.
func ParseSiblings(siblings [][]byte) ([]Hash, error) {
	hashes := make([]Hash, len(siblings))
	for i, s := range siblings {
		if len(s) != len(Hash{}) {
			return nil, wire.Errorf(wire.InvalidInput, "", "sibling %d has %d bytes; 32 are wanted", i, len(s))
		}
		hashes[i] = Hash(s)
	}
	return hashes, nil
}

// A RootMismatchError says that a proof is of its form but leads to another root.
type RootMismatchError struct{ Computed, Expected Hash }

// Error gives both roots.
func (e *RootMismatchError) Error() string {
	return "the proof leads to root " + e.Computed.String() + ", not to " + e.Expected.String()
}

// Verify checks that leaf stands at the proof's index in the tree of that size and root. The error is INVALID_INPUT
// where index or siblings do not fit the size, and a *RootMismatchError where they lead elsewhere.
func (p Proof) Verify(leaf Hash, size uint64, root Hash) error {
	computed, err := p.root(leaf, size)
	if err != nil {
		return err
	}
	if computed != root {
		return &RootMismatchError{computed, root}
	}
	return nil
}

// root walks from the leaf to the root (RFC 9162 §2.1.3.2): position and last position move up together, and the last
// node of a level, when it is a left one, is promoted without a sibling.
func (p Proof) root(leaf Hash, size uint64) (Hash, error) {
	position := uint64(p.Index)
	if position >= size {
		return Hash{}, wire.Errorf(wire.InvalidInput, "", "index %d is not below the size %d", p.Index, size)
	}
	node, rest := leaf, p.Siblings
	for last := size - 1; last > 0; position, last = position/2, last/2 {
		if position%2 == 0 && position == last {
			continue
		}
		if len(rest) == 0 {
			return Hash{}, p.siblingsError(size)
		}
		if position%2 == 1 {
			node = NodeHash(&rest[0], &node)
		} else {
			node = NodeHash(&node, &rest[0])
		}
		rest = rest[1:]
	}
	if len(rest) != 0 {
		return Hash{}, p.siblingsError(size)
	}
	return node, nil
}

func (p Proof) siblingsError(size uint64) error {
	return wire.Errorf(wire.InvalidInput, "", "%d siblings are not those of index %d in a tree of %d leaves",
		len(p.Siblings), p.Index, size)
}
