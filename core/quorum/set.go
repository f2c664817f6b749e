package quorum

import (
	"cmp"
	"slices"

	"github.com/better-compute/approver/core/wire"
)

// A Tier lowers the threshold for batches of at most MaxScopeSize leaves.
type Tier struct {
	MaxScopeSize uint32 `json:"maxScopeSize"`
	Threshold    uint32 `json:"threshold"`
}

// A SetDraft is an approver set before its rules are checked, as it comes from a file or flags.
type SetDraft struct {
	Keys             []PublicKey
	Threshold        uint32
	Tiers            []Tier
	UnbatchedPerHour uint32 // destructive commands a machine may run outside a batch in an hour
}

// A Set is an approver set that keeps the rules of WIRE.md §3. It is immutable.
type Set struct {
	keys      []PublicKey // ascending by kid
	byKID     map[string]PublicKey
	threshold uint32
	tiers     []Tier
	unbatched uint32
}

// NewSet checks a draft: distinct keys, 1 <= threshold <= key count, tiers that ascend strictly by size with thresholds
// that never decrease or exceed the set's, at most 64 of each; or a removal, which is zero keys, threshold 0, no tiers,
// unbatched cap 0. The error is INVALID_INPUT, malformed-set.
func NewSet(d SetDraft) (*Set, error) {
	if len(d.Keys) == 0 {
		if d.Threshold != 0 || len(d.Tiers) != 0 || d.UnbatchedPerHour != 0 {
			return nil, malformed("a set without keys is a removal: threshold 0, no tiers, unbatched cap 0")
		}
		return &Set{}, nil
	}
	if len(d.Keys) > wire.MaxKeys || len(d.Tiers) > wire.MaxTiers {
		return nil, malformed("%d keys and %d tiers; at most %d of each are taken", len(d.Keys), len(d.Tiers), wire.MaxKeys)
	}
	s := &Set{
		keys: slices.Clone(d.Keys), byKID: make(map[string]PublicKey, len(d.Keys)),
		threshold: d.Threshold, tiers: slices.Clone(d.Tiers), unbatched: d.UnbatchedPerHour,
	}
	for _, k := range s.keys {
		if k.IsZero() {
			return nil, malformed("a key is missing")
		}
		if _, twice := s.byKID[k.KID().String()]; twice {
			return nil, malformed("key %s is there twice", k.KID())
		}
		s.byKID[k.KID().String()] = k
	}
	slices.SortFunc(s.keys, func(a, b PublicKey) int { return cmp.Compare(a.KID().String(), b.KID().String()) })
	if err := s.checkThresholds(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Set) checkThresholds() error {
	if s.threshold < 1 || int(s.threshold) > len(s.keys) {
		return malformed("threshold %d; wanted: 1 to the number of keys, %d", s.threshold, len(s.keys))
	}
	var before Tier
	for _, t := range s.tiers {
		switch {
		case t.MaxScopeSize < 1 || t.Threshold < 1:
			return malformed("tier %d:%d; both are at least 1", t.MaxScopeSize, t.Threshold)
		case t.MaxScopeSize <= before.MaxScopeSize:
			return malformed("tier sizes ascend strictly; %d comes after %d", t.MaxScopeSize, before.MaxScopeSize)
		case t.Threshold < before.Threshold:
			return malformed("tier thresholds never decrease; %d comes after %d", t.Threshold, before.Threshold)
		case t.Threshold > s.threshold:
			return malformed("tier %d:%d is over the set's threshold %d", t.MaxScopeSize, t.Threshold, s.threshold)
		}
		before = t
	}
	return nil
}

func malformed(format string, args ...any) error {
	return wire.Errorf(wire.InvalidInput, "malformed-set", "approver set: "+format, args...)
}

// RequiredApprovals gives the threshold of the first tier that covers a batch of size leaves, else the set's threshold
// (WIRE.md §3); 0 only for a removal.
func (s *Set) RequiredApprovals(size uint64) uint32 {
	for _, t := range s.tiers {
		if uint64(t.MaxScopeSize) >= size {
			return t.Threshold
		}
	}
	return s.threshold
}

// Keys gives the keys in ascending kid order.
func (s *Set) Keys() []PublicKey { return slices.Clone(s.keys) }

// Key gives the key of a kid; ok is false where the set has none.
func (s *Set) Key(kid KID) (key PublicKey, ok bool) {
	key, ok = s.byKID[kid.String()]
	return key, ok
}

// Threshold gives the approvals a batch above every tier needs; 0 for a removal.
func (s *Set) Threshold() uint32 { return s.threshold }

// Tiers gives the tiers, ascending by size.
func (s *Set) Tiers() []Tier { return slices.Clone(s.tiers) }

// UnbatchedPerHour gives how many destructive commands a machine may run outside a batch in an hour.
func (s *Set) UnbatchedPerHour() uint32 { return s.unbatched }

// IsRemoval tells whether the set has no keys.
func (s *Set) IsRemoval() bool { return len(s.keys) == 0 }
