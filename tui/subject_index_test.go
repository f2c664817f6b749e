package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/review"
)

// What the index finds is what looking at each subject finds, among all and among some.
func TestIndexFindsWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		subject := rapid.StringOfN(rapid.RuneFrom([]rune("aAbB-1é\x1b日")), 1, 6, -1)
		d := &review.Document{}
		var all []string
		for range rapid.IntRange(1, 5).Draw(t, "operations") {
			var o review.Operation
			for _, s := range rapid.SliceOfN(subject, 1, 30).Draw(t, "subjects") {
				o.Subjects = append(o.Subjects, review.Escape(s))
				all = append(all, review.Escape(s).String())
			}
			d.Operations = append(d.Operations, o)
		}
		x := newSubjectIndex(d)
		require.Equal(t, len(all), x.size())
		var among []uint32
		for n, s := range all {
			require.Equal(t, s, x.text(n).String())
			if rapid.Bool().Draw(t, "among") {
				among = append(among, uint32(n))
			}
		}
		query := rapid.StringOfN(rapid.RuneFrom([]rune("ab-1é<日")), 1, 3, -1).Draw(t, "query")
		holds := func(n uint32) bool {
			return strings.Contains(strings.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' {
					return r | 0x20
				}
				return r
			}, all[n]), query)
		}
		everything := make([]uint32, len(all))
		for n := range everything {
			everything[n] = uint32(n)
		}
		keep := func(list []uint32) []uint32 {
			return slices.DeleteFunc(slices.Clone(list), func(n uint32) bool { return !holds(n) })
		}
		require.ElementsMatch(t, keep(everything), x.find(query, nil))
		if among != nil {
			require.ElementsMatch(t, keep(among), x.find(query, among))
		}
	})
}

// A site is what the form of the subject says, and nothing that looks like one.
func TestSites(t *testing.T) {
	d := &review.Document{Operations: []review.Operation{{Subjects: []review.Text{
		review.Escape("bmc:site-a/10.0.0.1"), review.Escape("bmc:site-b/10.0.0.2"), review.Escape("bmc:site-a/10.0.0.3"), review.Escape("node_a"), review.Escape("bmc:"),
	}}}}
	x := newSubjectIndex(d)
	require.Equal(t, []site{{"site-a", 2}, {"site-b", 1}}, x.sites)
	require.Equal(t, []uint32{0, 1, 0, noSite, noSite}, x.site)
}
