package merkle

import (
	"encoding/binary"
	"slices"
)

// Sort puts hashes in ascending order and gives, for each position of that order, where the hash stood before. The
// slice itself is left as it is.
//
// Hashes are spread evenly, so one pass puts each near its place by its first bits and insertion finishes the buckets.
// Who makes the hashes can aim many of them at one bucket: a bucket over 24 is sorted by comparison, so the time stays
// within n log n.
func Sort(hashes []Hash) (sorted []Hash, from []uint32) {
	n := len(hashes)
	bits := 1
	for 1<<bits < n/2 && bits < 24 {
		bits++
	}
	starts := make([]uint32, 1<<bits+1)
	for i := range hashes {
		starts[bucket(&hashes[i], bits)+1]++
	}
	for b := 1; b < len(starts); b++ {
		starts[b] += starts[b-1]
	}
	from = make([]uint32, n)
	for i := range hashes { // starts[b] moves to the end of bucket b
		b := bucket(&hashes[i], bits)
		from[starts[b]] = uint32(i)
		starts[b]++
	}
	begin := uint32(0)
	for _, end := range starts[:1<<bits] {
		sortBucket(hashes, from[begin:end])
		begin = end
	}
	sorted = make([]Hash, n)
	for i, f := range from {
		sorted[i] = hashes[f]
	}
	return sorted, from
}

func bucket(h *Hash, bits int) uint32 { return binary.BigEndian.Uint32(h[:4]) >> (32 - bits) }

// insertionMost is the largest bucket that insertion sorts.
const insertionMost = 24

func sortBucket(hashes []Hash, from []uint32) {
	if len(from) > insertionMost {
		slices.SortStableFunc(from, func(a, b uint32) int { return hashes[a].Compare(hashes[b]) })
		return
	}
	for i := 1; i < len(from); i++ {
		for j := i; j > 0 && hashes[from[j]].Compare(hashes[from[j-1]]) < 0; j-- {
			from[j], from[j-1] = from[j-1], from[j]
		}
	}
}
