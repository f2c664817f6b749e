package review

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawPart(t require.TestingT, p Part) string {
	var b bytes.Buffer
	require.NoError(t, p.WriteText(&b))
	return b.String()
}

// What has to be read is read in parts: all of them make the Reading complete, and all but one that is due do not.
func TestPartsAreTheReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(1, 70), 1, 3).Draw(t, "kinds")
		outliers := make([]int, len(kinds))
		for k, n := range kinds {
			outliers[k] = rapid.IntRange(0, n).Draw(t, "outliers")
		}
		findings := []Finding{NewFinding(ApprovalsClaimed, Escape("a note")), NewFinding(Outlier, Escape("m")), NewFinding(NoExpect, Escape("m"))}
		g := read(t, kinds, outliers, findings[:rapid.IntRange(0, 3).Draw(t, "findings")]...)
		left := g.Left()
		parts := g.Parts()
		skipped := rapid.IntRange(0, len(parts)-1).Draw(t, "skipped")
		for i, p := range parts {
			if i != skipped {
				p.Opened()
			}
		}
		after := g.Left()
		require.LessOrEqual(t, after.Operations+after.Summaries+after.Findings, 1)
		if parts[skipped].open != nil && !g.Complete() {
			parts[skipped].Opened()
		}
		require.True(t, g.Complete())
		notes := 0
		if slices.ContainsFunc(g.Review().Document().Findings, func(f Finding) bool { return f.Severity == Note }) {
			notes = 1
		}
		require.Len(t, parts, 1+notes+left.Operations+left.Summaries+left.Findings, "no part stands for two, and none for nothing")
	})
}

// A part that is due is read by itself: without it the Reading is not complete.
func TestEachPartIsDue(t *testing.T) {
	findings := []Finding{NewFinding(Outlier, Escape("m")), NewFinding(NoExpect, Escape("m"))}
	n := len(read(t, []int{60, 3}, []int{2, 1}, findings...).Parts())
	for skipped := 1; skipped < n; skipped++ {
		g := read(t, []int{60, 3}, []int{2, 1}, findings...)
		for i, p := range g.Parts() {
			if i != skipped {
				p.Opened()
			}
		}
		require.False(t, g.Complete(), "part %d", skipped)
	}
}

// The parts and the closing hold every line that the whole document holds.
func TestPartsLeaveNothingOut(t *testing.T) {
	g := NewReading(&Review{doc: *sample()})
	var text strings.Builder
	for _, p := range append(g.Parts(), g.Closing()) {
		text.WriteString(drawPart(t, p))
	}
	lines := strings.Split(text.String(), "\n")
	for _, line := range strings.Split(draw(t, sample(), Whole), "\n") {
		require.Contains(t, lines, line)
	}
	require.NotContains(t, text.String(), "SHORTENED")
}

// Of too many operations the summary holds every subject, and each of the sample is a part.
func TestPartsOfMany(t *testing.T) {
	d := fleet(100)
	for i := range d.Operations { // so that each can be told
		d.Operations[i].Outlier = i == 7
	}
	g := NewReading(&Review{doc: *d})
	require.Len(t, g.Groups(), 1)
	var all []string
	for _, p := range g.Parts() {
		all = append(all, drawPart(t, p))
	}
	summary := slices.IndexFunc(all, func(s string) bool { return strings.Contains(s, " distinct  ") })
	require.Positive(t, summary)
	for _, i := range g.Groups()[0].Operations {
		require.Contains(t, all[summary], d.Operations[i].Subjects[0].String())
	}
	require.Len(t, all[summary+1:], SampleSize)
	for k, i := range g.Groups()[0].Sample {
		require.Contains(t, all[summary+1+k], d.Operations[i].Subjects[0].String())
	}
}
