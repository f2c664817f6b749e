package merkle_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/better-compute/approver/core/merkle"
)

// BenchmarkVerifyProof measures the verification of a proof in a tree of 50,000 leaves against its hashes alone, and
// against transparency-dev/merkle, in turns.
func BenchmarkVerifyProof(b *testing.B) {
	tree := merkle.Build(leaves(50_000), 1)
	p, leaf, root := tree.Proof(12_345), tree.Leaf(12_345), tree.Root()
	var siblings [][]byte
	for i := range p.Siblings {
		siblings = append(siblings, p.Siblings[i][:])
	}
	const batch = 1000
	works := []func(){
		func() {
			h := leaf
			for i := range p.Siblings {
				h = merkle.NodeHash(&h, &p.Siblings[i])
			}
		},
		func() {
			if err := p.Verify(leaf, 50_000, root); err != nil {
				b.Fatal(err)
			}
		},
		func() {
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, 12_345, 50_000, leaf[:], siblings, root[:]); err != nil {
				b.Fatal(err)
			}
		},
	}
	times := make([][]time.Duration, len(works))
	for b.Loop() {
		for i, work := range works {
			start := time.Now()
			for range batch {
				work()
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	median := func(i int) float64 {
		slices.SortFunc(times[i], cmp.Compare[time.Duration])
		return float64(times[i][len(times[i])/2])
	}
	b.ReportMetric(median(1)/median(0), "×hashes")
	b.ReportMetric(median(2)/median(0), "transparency-dev-×hashes")
}
