package approvers

import (
	"fmt"
	"slices"

	"github.com/better-compute/approver/core/quorum"
)

func tiersBySize(s *quorum.Set) map[uint32]uint32 {
	tiers := make(map[uint32]uint32)
	for _, t := range s.Tiers() {
		tiers[t.MaxScopeSize] = t.Threshold
	}
	return tiers
}

// sizes gives the sizes of all tiers of some sets, ascending.
func sizes(sets ...*quorum.Set) (all []uint32) {
	for _, s := range sets {
		if s == nil {
			continue
		}
		for _, t := range s.Tiers() {
			all = append(all, t.MaxScopeSize)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A band is batch sizes for which a set, or each of two sets, needs one number of approvals.
type band struct {
	from, to      uint64 // to is 0 where there is no end
	before, after uint32 // before is 0 where nothing is known of it
}

// bands gives every batch size in one band, ascending. What a set needs changes after the size of a tier and nowhere else.
func bands(before, after *quorum.Set) (list []band) {
	from := uint64(1)
	add := func(to uint64) {
		b := band{from: from, to: to, after: after.RequiredApprovals(from)}
		if before != nil {
			b.before = before.RequiredApprovals(from)
		}
		if n := len(list); n > 0 && list[n-1].before == b.before && list[n-1].after == b.after {
			list[n-1].to = to
		} else {
			list = append(list, b)
		}
		from = to + 1
	}
	for _, size := range sizes(before, after) {
		add(uint64(size))
	}
	add(0)
	return list
}

// String names the sizes.
func (b band) String() string {
	switch {
	case b.to == 0 && b.from == 1:
		return "batches of any size"
	case b.to == 0:
		return fmt.Sprintf("batches of more than %s", counted(int(b.from-1), "operation"))
	case b.from == b.to:
		return "batches of " + counted(int(b.to), "operation")
	}
	return fmt.Sprintf("batches of %d to %d operations", b.from, b.to)
}
