package scope

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/bettercomputev1"
)

// A value that many have, between the commonest and the rarest, is not left out of the summary: it is no outlier, and of
// what is not in the summary a person is shown ten at random.
func TestSummaryLeavesNoCommonValueOut(t *testing.T) {
	for name, more := range map[string]int{"few images": 0, "many images": 60} {
		t.Run(name, func(t *testing.T) {
			var leaves []made
			add := func(image string, n int) {
				for range n {
					i := len(leaves)
					leaves = append(leaves, reimage(fmt.Sprintf("node_%04d", i), image, func(m *bettercomputev1.ReimageRequest) { m.UserData = fmt.Sprint(i) }))
				}
			}
			for i, n := range []int{120, 110, 100, 70, 40, 35, 25} {
				add([]string{"a", "b", "c", "evil", "d", "e", "f"}[i], n)
			}
			for i := range more {
				add(fmt.Sprintf("rack%d", i), 1)
			}
			var shown []string
			for _, c := range document(t, decoded(t, "", leaves...), testPolicy()).Summaries[0].Columns {
				for _, h := range append(c.Common, c.Rare...) {
					if c.Name.String() == "image" {
						shown = append(shown, h.Value[0].String())
					}
				}
			}
			require.Contains(t, shown, "evil")
		})
	}
}
