package intent_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/wire"
)

func content(name byte) [32]byte { return [32]byte{name} }

func TestTheVersionFollowsTheContent(t *testing.T) {
	var h intent.History
	_, ok := h.Current()
	require.False(t, ok)
	for _, step := range []struct {
		name       string
		content    byte
		floor      uint64
		version    uint64
		new, stale bool
	}{
		{"the first", 'a', 0, 1, true, false},
		{"unchanged", 'a', 0, 1, false, false},
		{"changed", 'b', 0, 2, true, false},
		{"a stale replica", 'a', 0, 1, false, true},
		{"a stale replica with a floor that is no higher", 'a', 2, 1, false, true},
		{"the stale replica changed nothing", 'b', 2, 2, false, false},
		{"changed under a lower floor", 'c', 1, 3, true, false},
		{"a higher floor for the current content", 'c', 9, 9, true, false},
		{"the floor is still there", 'c', 9, 9, false, false},
		{"a changed content above its floor", 'd', 9, 10, true, false},
		{"a floor above publishes a replaced content again", 'a', 12, 12, true, false},
		{"which is the current one then", 'a', 12, 12, false, false},
		{"and the one before it is replaced, at its last version", 'c', 0, 9, false, true},
		{"a changed content under a higher floor", 'e', 20, 20, true, false},
		{"the last version", 'f', 1<<53 - 1, 1<<53 - 1, true, false},
		{"the last version, unchanged", 'f', 1<<53 - 1, 1<<53 - 1, false, false},
	} {
		p, next, err := h.Publish(content(step.content), step.floor)
		require.NoError(t, err, step.name)
		require.Equal(t, intent.Publication{Published: intent.Published{Version: step.version, Content: content(step.content)}, New: step.new, Stale: step.stale}, p, step.name)
		require.Equal(t, step.new, len(next.Published()) > len(h.Published()), step.name)
		h, err = intent.NewHistory(next.Published()) // as it is recorded and read
		require.NoError(t, err, step.name)
	}
	_, same, err := h.Publish(content('g'), 0)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	require.Equal(t, h, same)
	_, _, err = h.Publish(content('f'), 1<<53)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}

func TestAHistoryAscends(t *testing.T) {
	for name, versions := range map[string][]uint64{"0": {0}, "twice": {1, 1}, "down": {2, 1}, "2^53": {1 << 53}} {
		var published []intent.Published
		for _, v := range versions {
			published = append(published, intent.Published{Version: v})
		}
		_, err := intent.NewHistory(published)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
	}
}

// TestAReplacedContentNeverComesBackAsNewer has replicas with old and new configurations settle versions in any order, and
// a machine that takes whatever is newer.
func TestAReplacedContentNeverComesBackAsNewer(t *testing.T) {
	var stale, again int
	rapid.Check(t, func(rt *rapid.T) {
		var h intent.History
		var machine intent.Published
		of := map[uint64][32]byte{} // what was ever served under a version
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			c := content(rapid.ByteRange('a', 'e').Draw(rt, "content"))
			var floor uint64
			if rapid.IntRange(0, 4).Draw(rt, "has a floor") == 0 {
				floor = rapid.Uint64Range(0, 40).Draw(rt, "floor")
			}
			before, _ := h.Current()
			replaced := before.Content != c && served(h, c)
			p, next, err := h.Publish(c, floor)
			require.NoError(rt, err)
			require.Equal(rt, c, p.Content)
			if other, found := of[p.Version]; found {
				require.Equal(rt, other, p.Content, "one version, two contents")
			}
			of[p.Version] = p.Content
			after, _ := next.Current()
			require.GreaterOrEqual(rt, after.Version, before.Version)
			require.Equal(rt, p.New, next.Published()[len(next.Published())-1] != before)
			switch {
			case replaced && floor <= before.Version:
				require.True(rt, p.Stale)
				require.Less(rt, p.Version, before.Version)
				require.Equal(rt, h, next)
				stale++
			case replaced:
				require.True(rt, p.New)
				again++
				fallthrough
			default:
				require.False(rt, p.Stale)
				require.GreaterOrEqual(rt, p.Version, floor)
				require.Equal(rt, p.Published, after)
			}
			if p.Version > machine.Version { // the machine's rule
				require.False(rt, replaced && floor <= before.Version && machine == before)
				machine = p.Published
			}
			h = next
		}
	})
	require.NotZero(t, stale)
	require.NotZero(t, again)
}

func served(h intent.History, c [32]byte) bool {
	for _, p := range h.Published() {
		if p.Content == c {
			return true
		}
	}
	return false
}
