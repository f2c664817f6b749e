package scope

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/review"
)

// 412 power cycles are one operation on 412 machines; each machine's address is left out of the comparison.
func TestRelayedOperationsAreOne(t *testing.T) {
	var leaves []made
	for i := range 412 {
		leaves = append(leaves, power("site1", fmt.Sprintf("10.0.%d.%d", i/200, i%200+1), bettercomputev1.BmcOperationRequest_CYCLE))
	}
	leaves = append(leaves, power("site2", "10.0.0.1", bettercomputev1.BmcOperationRequest_OFF))
	doc := document(t, decoded(t, "", leaves...), testPolicy())
	require.Len(t, doc.Operations, 2)
	require.Len(t, doc.Operations[0].Subjects, 1, "the odd one stands first")
	require.True(t, doc.Operations[0].Outlier)
	require.Len(t, doc.Operations[1].Subjects, 412)
	fields := doc.Operations[1].Fields()
	require.Equal(t, "each subject's own", fields[0].Note)
	require.Equal(t, "10.0.0.1", doc.Operations[0].Fields()[0].Value[0].String(), "of a single subject the address is shown")
	require.True(t, doc.Operations[0].Fields()[1].Odd)
	require.Equal(t, "CYCLE (3)", doc.Operations[0].Fields()[1].Usual[0].String())
	require.Equal(t, "by site agent", doc.Tallies[1].Title)
	require.Equal(t, 412, doc.Tallies[1].Rows[0].N)
}

func TestOutliers(t *testing.T) {
	machines := func(n int, change func(i int, m *bettercomputev1.ReimageRequest)) (leaves []made) {
		for i := range n {
			leaves = append(leaves, reimage(fmt.Sprintf("node_%03d", i), "ubuntu", func(m *bettercomputev1.ReimageRequest) { change(i, m) }))
		}
		return leaves
	}
	for name, c := range map[string]struct {
		leaves []made
		odd    []string // fields of the outliers, none for no outlier
	}{
		"one image of 412": {machines(412, func(i int, m *bettercomputev1.ReimageRequest) {
			if i == 99 {
				m.Image = "other"
			}
		}), []string{"image"}},
		"one of three":  {machines(3, func(i int, m *bettercomputev1.ReimageRequest) { m.WipeDisks = i != 1 }), []string{"wipe_disks"}},
		"half and half": {machines(10, func(i int, m *bettercomputev1.ReimageRequest) { m.WipeDisks = i%2 == 0 }), nil},
		"all alike":     {machines(9, func(int, *bettercomputev1.ReimageRequest) {}), nil},
		"all different": {machines(9, func(i int, m *bettercomputev1.ReimageRequest) { m.UserData = fmt.Sprint(i) }), nil},
		"all different, and one besides": {machines(60, func(i int, m *bettercomputev1.ReimageRequest) {
			m.UserData = fmt.Sprint(i)
			if i == 7 {
				m.PreserveMounts = []string{"/a", "/b"}
			}
		}), []string{"preserve_mounts"}},
		"an absent field": {machines(60, func(i int, m *bettercomputev1.ReimageRequest) {
			if i != 7 {
				m.UserData = "x"
			}
		}), []string{"user_data"}},
	} {
		t.Run(name, func(t *testing.T) {
			doc := document(t, decoded(t, "", c.leaves...), testPolicy())
			var odd []string
			for i := range doc.Operations {
				o := &doc.Operations[i]
				require.True(t, !o.Outlier || i == 0 || doc.Operations[i-1].Outlier, "outliers stand first")
				for _, f := range o.Fields() {
					if f.Odd {
						require.True(t, o.Outlier)
						odd = append(odd, f.Name.String())
					}
				}
			}
			require.Equal(t, c.odd, odd)
			require.Equal(t, c.odd != nil, finding(doc, review.Outlier) != nil)
		})
	}
}

// The same leaves give the same review, in whatever order a file has them.
func TestReviewDoesNotDependOnTheOrderOfTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var leaves []made
		for i := range rapid.IntRange(1, 40).Draw(t, "machines") {
			leaves = append(leaves, reimage(fmt.Sprintf("node_%d", i), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "image")))
			if rapid.Bool().Draw(t, "power") {
				leaves = append(leaves, power("site", fmt.Sprintf("10.0.0.%d", i+1), bettercomputev1.BmcOperationRequest_CYCLE))
			}
		}
		for i := range rapid.SampledFrom([]int{0, 60}).Draw(t, "many") { // more than are read one by one
			leaves = append(leaves, made{subject: fmt.Sprintf("node_%d", i), kind: "node.reboot", message: &bettercomputev1.RebootRequest{GraceSeconds: uint32(i)}})
		}
		drawn := func() string {
			doc := document(t, decoded(t, "", leaves...), testPolicy())
			var brief bytes.Buffer
			require.NoError(t, review.WriteText(&brief, doc, review.Brief))
			return drawn(t, doc) + brief.String()
		}
		first := drawn()
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)).Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
		require.Equal(t, first, drawn())
	})
}
