package intent

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/better-compute/approver/core/wire"
)

// ContentDigest gives the SHA-256 over all that the version follows: what a machine would take of the bundle, in whatever
// order roots, keys and signatures stand. See the package comment for its bytes. A bundle whose set is malformed has one,
// too.
func (b *TrustBundle) ContentDigest() [sha256.Size]byte {
	var roots, signatures [][]byte
	for _, r := range b.Roots() {
		digest := r.SHA256()
		roots = append(roots, digest[:])
	}
	for _, s := range b.fields().ApproverSetSignatures {
		signatures = append(signatures, wire.AppendLP(wire.AppendLP(nil, s.Kid), s.Sig))
	}
	input := appendSorted(wire.AppendU32(nil, uint32(len(roots))), roots)
	input = wire.AppendU64(wire.AppendLP(input, b.setInput()), b.fields().ApproverSetEpoch)
	return sha256.Sum256(appendSorted(wire.AppendU32(input, uint32(len(signatures))), signatures))
}

// setInput gives approver_set_input (WIRE.md §4) of the fields as they stand, a set of no form included; of a set that
// NewSet takes it is quorum.Set.Input.
func (b *TrustBundle) setInput() []byte {
	m := b.fields()
	var keys [][]byte
	for _, k := range m.ApproverKeys {
		keys = append(keys, wire.AppendLP(wire.AppendLP(nil, k.Kid), k.SpkiDer))
	}
	input := appendSorted(wire.AppendU32(nil, uint32(len(keys))), keys)
	input = wire.AppendU32(wire.AppendU32(input, m.ApproverThreshold), uint32(len(m.QuorumTiers)))
	for _, t := range m.QuorumTiers {
		input = wire.AppendU32(wire.AppendU32(input, t.MaxScopeSize), t.Threshold)
	}
	return wire.AppendU32(input, m.UnbatchedDestructivePerHour)
}

func appendSorted(b []byte, elements [][]byte) []byte {
	slices.SortFunc(elements, bytes.Compare)
	return append(b, slices.Concat(elements...)...)
}
