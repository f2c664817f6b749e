package quorum

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// maxSiblings is the height of a tree of 50,000 leaves.
const maxSiblings = 16

// EncodeProof gives a proof as the protobuf message bettercompute.v1.BatchProof, in its one canonical encoding:
//
//	08 index   { 12 sibling } …
func EncodeProof(p merkle.Proof) []byte {
	b := appendVarintField(nil, 1, uint64(p.Index))
	for _, sibling := range p.Siblings {
		b = appendElement(b, 2, sibling[:])
	}
	return b
}

// ParseProof reads the protobuf message bettercompute.v1.BatchProof strictly: canonical (WIRE.md §7), so that what is
// taken encodes to the same bytes; an index below 50,000; at most 16 siblings of 32 bytes. Whether they are those of its
// index is seen with the size that was signed, by merkle.Proof.Verify. The error is INVALID_INPUT.
func ParseProof(binpb []byte) (merkle.Proof, error) {
	const what = "proof"
	var index uint64
	var siblings [][]byte
	err := protoFields(what, binpb, func(f protoField) error {
		switch {
		case f.is(1, protowire.VarintType):
			index = f.varint
		case f.is(2, protowire.BytesType):
			if len(siblings) == maxSiblings {
				return wire.Errorf(wire.InvalidInput, "", "%s: more than %d siblings", what, maxSiblings)
			}
			siblings = append(siblings, f.bytes)
		default:
			return unknownField(what, f)
		}
		return nil
	})
	if err != nil {
		return merkle.Proof{}, err
	}
	p, err := newProof(index, siblings)
	if err != nil {
		return merkle.Proof{}, err
	}
	if err := checkCanonical(what, binpb, EncodeProof(p)); err != nil {
		return merkle.Proof{}, err
	}
	return p, nil
}

func newProof(index uint64, siblings [][]byte) (merkle.Proof, error) {
	if index >= wire.MaxLeaves {
		return merkle.Proof{}, wire.Errorf(wire.InvalidInput, "", "proof: index %d; wanted: below %d", index, wire.MaxLeaves)
	}
	hashes, err := merkle.ParseSiblings(siblings)
	return merkle.Proof{Index: uint32(index), Siblings: hashes}, err
}

// A ProofFile is the proof of one leaf with all it takes to check it: the leaf's fields and, as a claim, the root and size
// of its batch. Whoever relies on it takes root and size from an approval that holds, and never from here.
type ProofFile struct {
	BatchID   string
	ScopeRoot merkle.Hash
	ScopeSize uint64
	Entry     Entry
	Proof     merkle.Proof
}

// LeafHash gives the hash of the leaf.
func (f *ProofFile) LeafHash() merkle.Hash {
	return LeafHash(f.BatchID, f.Entry.Subject, f.Entry.Kind, f.Entry.PayloadSHA256)
}

// Verify tells whether the leaf is in the scope that an approval is for. The approval must have been verified. Errors are
// ACCESS_DENIED: other-batch, or not-in-scope where the proof does not lead from the leaf to the approved root.
func (f *ProofFile) Verify(a *Approval) error {
	if f.BatchID != a.BatchID {
		return wire.Errorf(wire.AccessDenied, "other-batch", "the proof is for batch %q, the approval for %q", f.BatchID, a.BatchID)
	}
	if len(a.ScopeRoot) != len(merkle.Hash{}) {
		return wire.Errorf(wire.AccessDenied, "malformed-approval", "the approval's root has %d bytes", len(a.ScopeRoot))
	}
	return f.VerifyIn(merkle.Hash(a.ScopeRoot), a.ScopeSize)
}

// VerifyIn tells whether the leaf is in the scope of that root and size, whatever approval they are of: for whoever has
// hashed the scope. The error is ACCESS_DENIED: not-in-scope.
func (f *ProofFile) VerifyIn(root merkle.Hash, size uint64) error {
	if err := f.Proof.Verify(f.LeafHash(), size, root); err != nil {
		return wire.Errorf(wire.AccessDenied, "not-in-scope", "the leaf is not proven to be in the approved scope: %w", err)
	}
	return nil
}

// ProofFile gives the proof of the leaf of an entry; ok is false where the scope does not hold it.
func (s *Scope) ProofFile(e Entry) (f *ProofFile, ok bool) {
	p, ok := s.ProofOf(e)
	if !ok {
		return nil, false
	}
	e.PayloadSHA256 = bytes.Clone(e.PayloadSHA256)
	return &ProofFile{BatchID: s.batchID, ScopeRoot: s.Root(), ScopeSize: uint64(s.Size()), Entry: e, Proof: p}, true
}
