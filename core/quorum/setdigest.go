package quorum

import (
	"crypto/sha256"

	"github.com/better-compute/approver/core/wire"
)

// Input gives approver_set_input, the bytes that a digest of the set covers (WIRE.md §4):
//
//	u32(key count) ‖ { lp(kid) ‖ lp(spki_der) } in ascending kid byte order
//	‖ u32(threshold) ‖ u32(tier count) ‖ { u32(max_scope_size) ‖ u32(threshold) } ‖ u32(unbatched per hour)
func (s *Set) Input() []byte {
	b := wire.AppendU32(nil, uint32(len(s.keys)))
	for _, k := range s.keys {
		b = wire.AppendLP(wire.AppendLP(b, k.KID().String()), k.spki[:])
	}
	b = wire.AppendU32(wire.AppendU32(b, s.threshold), uint32(len(s.tiers)))
	for _, t := range s.tiers {
		b = wire.AppendU32(wire.AppendU32(b, t.MaxScopeSize), t.Threshold)
	}
	return wire.AppendU32(b, s.unbatched)
}

// Digest gives approver_set_digest, the SHA-256 of Input: two sets are the same quorum exactly when it is equal.
func (s *Set) Digest() [sha256.Size]byte { return sha256.Sum256(s.Input()) }

// Equal tells whether both are the same quorum: the same keys, thresholds, tiers and unbatched cap.
func (s *Set) Equal(t *Set) bool { return s.Digest() == t.Digest() }

// ApproverSetChange is the statement that a set is in force on machines of trustDomain from an epoch on, 1 to 2^53-1
// (WIRE.md §1, §4). A removal hands the quorum to the JoinService key; whoever signs one is to be told. The error is
// INVALID_INPUT; where set or epoch is at fault its reason is malformed-set.
func ApproverSetChange(epoch uint64, set *Set, trustDomain string) (Statement, error) {
	if set == nil {
		return Statement{}, malformed("there is none")
	}
	if err := checkEpoch(epoch); err != nil {
		return Statement{}, err
	}
	if err := wire.CheckTrustDomain("trust domain", trustDomain); err != nil {
		return Statement{}, err
	}
	return set.changeStatement(epoch, trustDomain), nil
}

func (s *Set) changeStatement(epoch uint64, trustDomain string) Statement {
	digest := s.Digest()
	return Statement{purpose: PurposeApproverSet, parts: [][]byte{wire.U64(epoch), digest[:], []byte(trustDomain)}, set: s}
}
