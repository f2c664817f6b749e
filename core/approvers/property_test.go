package approvers_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

// A loose set is one as its words describe it, without rules.
type loose struct {
	keys      map[string]bool
	threshold string
	tiers     map[string]string // threshold by size
	unbatched string
	epoch     string
}

func loosely(s *quorum.Set, epoch uint64) loose {
	l := loose{map[string]bool{}, strconv.Itoa(int(s.Threshold())), map[string]string{}, strconv.Itoa(int(s.UnbatchedPerHour())), strconv.FormatUint(epoch, 10)}
	for _, k := range s.Keys() {
		l.keys[k.KID().String()] = true
	}
	for _, t := range s.Tiers() {
		l.tiers[strconv.Itoa(int(t.MaxScopeSize))] = strconv.Itoa(int(t.Threshold))
	}
	return l
}

var digits = regexp.MustCompile(`\d+`)

// value reads a field as a person does: its value, or "" where a note says that there is none.
func value(t require.TestingT, o *review.Operation, name string) string {
	for _, f := range o.Fields() {
		if f.Name.String() == name {
			if len(f.Value) == 0 {
				require.Contains(t, f.Note, "no tier of this size")
				return ""
			}
			return f.Value[0].String()
		}
	}
	t.Errorf("%s has no %s", o.Title, name)
	return ""
}

// apply does to a set what one change of the document says, and holds what it says was before against the set.
func (l *loose) apply(t require.TestingT, o *review.Operation) {
	about, moved := o.Subjects[0].String(), func(held *string) {
		before, after := value(t, o, "before"), value(t, o, "after")
		require.Equal(t, *held, before, o.Title)
		require.NotEqual(t, before, after, "no difference: %s", o.Title)
		*held = after
	}
	switch title := strings.ToLower(o.Title.String()); title {
	case "the quorum is removed":
		require.NotEmpty(t, l.keys)
	case "a key joins":
		require.False(t, l.keys[about])
		l.keys[about] = true
	case "a key leaves":
		require.True(t, l.keys[about])
		delete(l.keys, about)
	case "a key replaces another":
		require.Equal(t, about, value(t, o, "after"))
		require.True(t, l.keys[value(t, o, "before")])
		require.False(t, l.keys[about])
		delete(l.keys, value(t, o, "before"))
		l.keys[about] = true
	case "the threshold rises", "the threshold falls":
		moved(&l.threshold)
	case "the unbatched cap rises", "the unbatched cap falls":
		moved(&l.unbatched)
	case "the epoch rises":
		moved(&l.epoch)
	case "a tier is added", "a tier is removed", "a tier's threshold rises", "a tier's threshold falls":
		size := digits.FindString(about)
		held := l.tiers[size]
		require.Equal(t, strings.HasSuffix(title, "added"), held == "", title)
		moved(&held)
		if held == "" {
			require.Equal(t, "a tier is removed", title)
			delete(l.tiers, size)
		} else {
			l.tiers[size] = held
		}
	default:
		t.Errorf("no change that is known: %s", title)
	}
	if went := strings.Fields(o.Title.String()); slices.Contains([]string{"rises", "falls"}, strings.ToLower(went[len(went)-1])) {
		before, err := strconv.ParseUint(value(t, o, "before"), 10, 64)
		require.NoError(t, err)
		after, err := strconv.ParseUint(value(t, o, "after"), 10, 64)
		require.NoError(t, err)
		require.Equal(t, after > before, strings.EqualFold(went[len(went)-1], "rises"), o.Title)
	}
}

// drawSet draws a set of some of a few keys, with a few tiers, so that two of them often have much in common.
func drawSet(t *rapid.T, label string) *quorum.Set {
	keys := rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 0, 6, rapid.ID[int]).Draw(t, label+" keys")
	if len(keys) == 0 {
		return makeSet(t, nil, 0, 0)
	}
	threshold := rapid.Uint32Range(1, uint32(len(keys))).Draw(t, label+" threshold")
	sizes := rapid.SliceOfNDistinct(rapid.Uint32Range(1, 6), 0, 4, rapid.ID[uint32]).Draw(t, label+" sizes")
	needed := rapid.SliceOfN(rapid.Uint32Range(1, threshold), len(sizes), len(sizes)).Draw(t, label+" tiers")
	slices.Sort(sizes)
	slices.Sort(needed)
	tiers := make([]quorum.Tier, len(sizes))
	for i := range tiers {
		tiers[i] = quorum.Tier{MaxScopeSize: sizes[i], Threshold: needed[i]}
	}
	return makeSet(t, keys, threshold, rapid.Uint32Range(0, 2).Draw(t, label+" unbatched"), tiers...)
}

// drawChange draws a change between two sets, with labels that may be shared by several keys.
func drawChange(t *rapid.T) approvers.Change {
	c := approvers.Change{TrustDomain: trustDomain, Time: now, Labels: map[quorum.KID]string{}}
	c.Current, c.CurrentEpoch = drawSet(t, "current"), rapid.Uint64Range(1, 3).Draw(t, "current epoch")
	c.Next, c.Epoch = drawSet(t, "next"), c.CurrentEpoch+rapid.Uint64Range(1, 3).Draw(t, "epoch")
	for i := range 7 {
		if label := rapid.SampledFrom([]string{"", "a.pub", "b.pub", "c.pub", "d.pub"}).Draw(t, "label"); label != "" {
			c.Labels[kid(i)] = label
		}
	}
	return c
}

// What the changes say, done to the current set one by one, gives the new set: they account for every difference. Each
// says truly what was before, and that something is different after it: there is none that is not there.
func TestTheChangesAreTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChange(t)
		d := reviewed(t, c)
		held := loosely(c.Current, c.CurrentEpoch)
		seen := map[string]bool{}
		for i := range d.Operations {
			o := &d.Operations[i]
			said := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(o.Title.String()), "rises"), "falls") + o.Subjects[0].String()
			require.False(t, seen[said], "said twice: %s", said)
			seen[said] = true
			held.apply(t, o)
		}
		require.Equal(t, loosely(c.Next, c.Epoch), held)
		require.Equal(t, review.Changes, d.Counts)
		require.Len(t, d.Operations, d.Size)
		if !c.Next.IsRemoval() {
			partsAre(t, c)
		}
	})
}

// partsAre holds the parts that are shown without a current set against the set.
func partsAre(t *rapid.T, c approvers.Change) {
	c.Current, c.CurrentEpoch = nil, 0
	d := reviewed(t, c)
	require.Equal(t, review.Parts, d.Counts)
	held := loose{keys: map[string]bool{}, tiers: map[string]string{}, epoch: fact(d, "epoch").Value[0].String()}
	for i := range d.Operations {
		o := &d.Operations[i]
		switch about := o.Subjects[0].String(); o.Title.String() {
		case "a key":
			held.keys[about] = true
		case "the threshold":
			held.threshold = value(t, o, "approvals")
		case "a tier":
			held.tiers[digits.FindString(about)] = value(t, o, "approvals")
		case "the unbatched cap":
			held.unbatched = value(t, o, "commands")
		default:
			t.Errorf("no part that is known: %s", o.Title)
		}
	}
	require.Equal(t, loosely(c.Next, c.Epoch), held)
}

// Two changes are drawn alike only if they are the same.
func TestEqualDocumentsAreOfEqualChanges(t *testing.T) {
	alike := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawChange(t), drawChange(t)
		if rapid.Bool().Draw(t, "nearly") { // random ones have little in common
			b = a
			if rapid.Bool().Draw(t, "another current set") {
				b.Current = drawSet(t, "other")
			}
			b.CurrentEpoch = rapid.Uint64Range(1, b.Epoch-1).Draw(t, "other epoch")
		}
		b.Labels = a.Labels
		same := a.Epoch == b.Epoch && a.CurrentEpoch == b.CurrentEpoch && a.Next.Equal(b.Next) && a.Current.Equal(b.Current)
		if same {
			alike++
		}
		require.Equal(t, same, drawn(t, reviewed(t, a), review.Whole) == drawn(t, reviewed(t, b), review.Whole))
	})
	require.Positive(t, alike, "no two were the same")
}

// set-weaker is raised exactly where a batch of some size needs fewer approvals, or the cap rises, and says at which sizes.
func TestWeakerIsFewerApprovalsAtAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChange(t)
		d := reviewed(t, c)
		f := find(d, review.SetWeaker)
		if c.Current.IsRemoval() || c.Next.IsRemoval() {
			require.Nil(t, f)
			require.Equal(t, c.Next.IsRemoval(), find(d, review.SetRemoval) != nil)
			return
		}
		require.Nil(t, find(d, review.SetRemoval))
		var places []string
		if f != nil {
			for _, p := range f.Places {
				places = append(places, p.String())
			}
		}
		weaker := c.Next.UnbatchedPerHour() > c.Current.UnbatchedPerHour()
		require.Equal(t, weaker, slices.ContainsFunc(places, func(p string) bool { return strings.HasPrefix(p, "destructive commands outside a batch") }))
		for size := uint64(1); size <= 12; size++ {
			was, is := c.Current.RequiredApprovals(size), c.Next.RequiredApprovals(size)
			weaker = weaker || is < was
			said := slices.ContainsFunc(places, func(p string) bool { return covers(p, size) })
			require.Equal(t, is < was, said, "size %d: %d instead of %d; %q", size, is, was, places)
		}
		require.Equal(t, weaker, f != nil)
		requiredIs(t, d, c)
	})
}

// requiredIs holds the fact about what a batch needs against the sets, size by size.
func requiredIs(t *rapid.T, d *review.Document, c approvers.Change) {
	for size := uint64(1); size <= 12; size++ {
		n := 0
		for _, line := range fact(d, "required").Value {
			if !covers(line.String(), size) {
				continue
			}
			n++
			_, needs, _ := strings.Cut(line.String(), ": ")
			said := digits.FindAllString(needs, -1)
			require.Equal(t, strconv.Itoa(int(c.Next.RequiredApprovals(size))), said[0])
			require.Equal(t, strconv.Itoa(int(c.Current.RequiredApprovals(size))), said[len(said)-1])
		}
		require.Equal(t, 1, n, "lines about size %d", size)
	}
}

var ranges = []struct {
	form   *regexp.Regexp
	covers func(size, a, b uint64) bool
}{
	{regexp.MustCompile(`^batches of any size: `), func(_, _, _ uint64) bool { return true }},
	{regexp.MustCompile(`^batches of more than (\d+) operations?: `), func(size, a, _ uint64) bool { return size > a }},
	{regexp.MustCompile(`^batches of (\d+) operations?: `), func(size, a, _ uint64) bool { return size == a }},
	{regexp.MustCompile(`^batches of (\d+) to (\d+) operations: `), func(size, a, b uint64) bool { return a <= size && size <= b }},
}

// covers tells whether a line that begins with the sizes of batches is about one of a size.
func covers(line string, size uint64) bool {
	for _, r := range ranges {
		m := r.form.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var bounds [2]uint64
		for i, s := range m[1:] {
			bounds[i], _ = strconv.ParseUint(s, 10, 64)
		}
		return r.covers(size, bounds[0], bounds[1])
	}
	return false
}
