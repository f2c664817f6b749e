package intent_test

import (
	"crypto/ecdsa"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/golden"
)

// malformedSets gives the bundles of the vectors whose set breaks a rule.
func malformedSets(t testing.TB) (bundles []*intent.TrustBundle) {
	for _, v := range golden.TrustBundles().Bundles {
		if v.OK() && v.Offer != nil && !v.Offer.OK() {
			bundles = append(bundles, bundleNamed(t, v.Name))
		}
	}
	return bundles
}

// A world is everything that a JoinService, honest or not, has published, and who signed which set at which epoch.
type world struct {
	keys      map[string]*ecdsa.PrivateKey
	roots     []intent.Root
	sets      []*quorum.Set
	malformed []*intent.TrustBundle
	sent      []*intent.VerifiedBundle
	signed    map[string]bool // "kid epoch set digest": that key really signed that set at that epoch
}

func newWorld(t testing.TB) *world {
	keys := signers(t)
	w := &world{keys: keys, roots: goodRoots(t)[:4], malformed: malformedSets(t), signed: map[string]bool{}}
	removal, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)
	w.sets = []*quorum.Set{
		newSet(t, 2, keys["alice"], keys["bob"], keys["carol"]), newSet(t, 1, keys["alice"]), newSet(t, 1, keys["dave"], keys["erin"]),
		newSet(t, 2, keys["bob"], keys["dave"]), removal,
	}
	return w
}

func signedBy(kid string, epoch uint64, set *quorum.Set) string {
	return fmt.Sprint(kid, epoch, set.Digest())
}

// publish makes a bundle of any version, set, epoch and signers.
func (w *world) publish(rt *rapid.T, t testing.TB) *intent.VerifiedBundle {
	version := rapid.Uint64Range(1, 12).Draw(rt, "version")
	if rapid.IntRange(0, 5).Draw(rt, "malformed") == 0 {
		b, err := rapid.SampledFrom(w.malformed).Draw(rt, "bundle").WithVersion(version)
		require.NoError(t, err)
		return verified(t, b)
	}
	n := rapid.IntRange(1, len(w.roots)).Draw(rt, "roots")
	if rapid.IntRange(0, 9).Draw(rt, "no set") == 0 {
		return verified(t, newBundle(t, version, w.roots[:n], quorum.Offer{}))
	}
	o := quorum.Offer{Set: rapid.SampledFrom(w.sets).Draw(rt, "set"), Epoch: rapid.Uint64Range(1, 6).Draw(rt, "epoch")}
	for _, name := range slices.Sorted(maps.Keys(w.keys)) {
		switch rapid.IntRange(0, 3).Draw(rt, name) {
		case 0, 1: // signs
			s := signSet(t, w.keys[name], o.Epoch, o.Set)
			w.signed[signedBy(s.KID, o.Epoch, o.Set)] = true
			o.Signatures = append(o.Signatures, s)
		case 2: // its signature of another epoch is put there
			o.Signatures = append(o.Signatures, signSet(t, w.keys[name], o.Epoch+1, o.Set))
			w.signed[signedBy(o.Signatures[len(o.Signatures)-1].KID, o.Epoch+1, o.Set)] = true
		}
	}
	return verified(t, newBundle(t, version, w.roots[:n], o))
}

// TestNoBundleMovesTheQuorumOrGoesBack sends a machine bundles in any order: new ones, replays, with losses between.
func TestNoBundleMovesTheQuorumOrGoesBack(t *testing.T) {
	var counts [2]map[string]int // of outcomes, by part
	counts[0], counts[1] = map[string]int{}, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w, h := newWorld(t), newMachine(t, nil)
		for range rapid.IntRange(1, 12).Draw(rt, "bundles") {
			v := w.publish(rt, t)
			w.sent = append(w.sent, v)
			if rapid.IntRange(0, 4).Draw(rt, "lost") == 0 {
				continue
			}
			if rapid.IntRange(0, 2).Draw(rt, "replay") == 0 {
				v = rapid.SampledFrom(w.sent).Draw(rt, "which")
			}
			next, judgement := h.Take(v)
			counts[0][judgement.Bundle.Outcome.String()]++
			counts[1][judgement.Quorum.Outcome.String()]++
			w.checkBundle(rt, h, next, v.Bundle())
			w.checkQuorum(rt, h.Quorum(), next.Quorum(), v.Bundle())
			require.Equal(rt, h.Quorum() != next.Quorum(), judgement.Quorum.Outcome == intent.Taken)
			h = next
		}
	})
	for _, word := range []string{"taken", "refused", "nothing to do"} {
		require.NotZero(t, counts[0][word], "version and roots: %s: %v", word, counts[0])
		require.NotZero(t, counts[1][word], "quorum: %s: %v", word, counts[1])
	}
	require.NotZero(t, counts[1]["kept"])
}

// checkBundle wants version and roots to be those of the newest bundle that reached the machine.
func (w *world) checkBundle(rt *rapid.T, before, after intent.BundleHolder, sent *intent.TrustBundle) {
	if sent.Version() > before.Version() {
		require.Equal(rt, sent.Version(), after.Version(), "a newer bundle applies, whatever its set")
		require.Equal(rt, sent.Roots(), after.Roots())
		return
	}
	require.Equal(rt, before.Version(), after.Version())
	require.Equal(rt, before.Roots(), after.Roots())
}

// checkQuorum wants a set to move only to the one that was sent, at a higher epoch, signed by enough keys of the set held.
func (w *world) checkQuorum(rt *rapid.T, before, after quorum.Holder, sent *intent.TrustBundle) {
	require.GreaterOrEqual(rt, after.Epoch(), before.Epoch())
	if after == before {
		return
	}
	o, err := sent.Offer()
	require.NoError(rt, err)
	require.Greater(rt, after.Epoch(), before.Epoch())
	require.Equal(rt, o.Epoch, after.Epoch())
	if before.Set() == nil {
		require.Equal(rt, o.Set.Digest(), after.Set().Digest())
		return
	}
	var signers uint32
	for _, k := range before.Set().Keys() {
		if w.signed[signedBy(k.KID().String(), o.Epoch, o.Set)] {
			signers++
		}
	}
	require.GreaterOrEqual(rt, signers, before.Set().Threshold())
	require.Equal(rt, o.Set.IsRemoval(), after.Set() == nil)
}
