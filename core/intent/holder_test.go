package intent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// newMachine gives a holder of no bundle, with a pin or none.
func newMachine(t testing.TB, pin *[32]byte) intent.BundleHolder {
	q, err := quorum.NewHolder(quorum.HolderDraft{TrustDomain: domain, Pin: pin})
	require.NoError(t, err)
	return intent.NewBundleHolder(nil, q)
}

func newBundle(t testing.TB, version uint64, roots []intent.Root, o quorum.Offer) *intent.TrustBundle {
	b, err := intent.NewTrustBundle(version, roots, o)
	require.NoError(t, err)
	return b
}

// wantPart holds a part against an outcome and, where it was refused, its reason.
func wantPart(t *testing.T, outcome intent.Outcome, reason string, p intent.Part) {
	t.Helper()
	require.Equal(t, outcome, p.Outcome, "%v", p.Err)
	require.Equal(t, reason, wire.ReasonOf(p.Err))
	require.Equal(t, outcome == intent.Refused, p.Err != nil)
}

// TestABundlesLife is a machine through a change of roots and of approvers.
func TestABundlesLife(t *testing.T) {
	keys, roots := signers(t), goodRoots(t)
	first := newSet(t, 2, keys["alice"], keys["bob"], keys["carol"])
	second := newSet(t, 1, keys["dave"])
	signatures := []quorum.UnverifiedSignature{signSet(t, keys["alice"], 2, second), signSet(t, keys["bob"], 2, second)}
	removal, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)

	h := newMachine(t, nil)
	require.Nil(t, h.Held())
	require.Zero(t, h.Version())
	require.Empty(t, h.Roots())
	for _, step := range []struct {
		name           string
		bundle         *intent.TrustBundle
		part           intent.Outcome
		reason         string
		quorum         intent.Outcome
		quorumReason   string
		version, epoch uint64
		set            *quorum.Set
	}{
		{"roots alone", newBundle(t, 1, roots[:1], quorum.Offer{}), intent.Taken, "", intent.Kept, "", 1, 0, nil},
		{"the first set", newBundle(t, 2, roots[:1], quorum.Offer{Set: first, Epoch: 1}), intent.Taken, "", intent.Taken, "", 2, 1, first},
		{"the same again", newBundle(t, 2, roots[:1], quorum.Offer{Set: first, Epoch: 1}), intent.NothingToDo, "", intent.NothingToDo, "", 2, 1, first},
		{"a replay", newBundle(t, 1, roots[:1], quorum.Offer{}), intent.Refused, "stale-version", intent.Kept, "", 2, 1, first},
		{"another bundle at this version", newBundle(t, 2, roots[:2], quorum.Offer{Set: first, Epoch: 1}), intent.Refused, "stale-version", intent.Kept, "", 2, 1, first},
		{"a signed set in another bundle at this version", newBundle(t, 2, roots[:1], quorum.Offer{Set: second, Epoch: 2, Signatures: signatures}), intent.Refused, "stale-version", intent.Kept, "", 2, 1, first},
		{"an unsigned set: roots apply", newBundle(t, 3, roots[:2], quorum.Offer{Set: second, Epoch: 2}), intent.Taken, "", intent.Refused, "approver-set-unsigned", 3, 1, first},
		{"it is refused again when sent again", newBundle(t, 3, roots[:2], quorum.Offer{Set: second, Epoch: 2}), intent.NothingToDo, "", intent.Refused, "approver-set-unsigned", 3, 1, first},
		{"one signature of two", newBundle(t, 4, roots[:2], quorum.Offer{Set: second, Epoch: 2, Signatures: signatures[:1]}), intent.Taken, "", intent.Refused, "approver-set-unsigned", 4, 1, first},
		{"nothing of a set", newBundle(t, 5, roots[1:2], quorum.Offer{}), intent.Taken, "", intent.Refused, "malformed-set", 5, 1, first},
		{"the signed set", newBundle(t, 7, roots[1:2], quorum.Offer{Set: second, Epoch: 2, Signatures: signatures}), intent.Taken, "", intent.Taken, "", 7, 2, second},
		{"the set before, in a newer bundle", newBundle(t, 8, roots[1:2], quorum.Offer{Set: first, Epoch: 1}), intent.Taken, "", intent.Refused, "stale-epoch", 8, 2, second},
		{"a removal that its key signed", newBundle(t, 9, roots[1:2], quorum.Offer{Set: removal, Epoch: 3, Signatures: []quorum.UnverifiedSignature{signSet(t, keys["dave"], 3, removal)}}), intent.Taken, "", intent.Taken, "", 9, 3, nil},
		{"the set before, after the removal", newBundle(t, 10, roots[1:2], quorum.Offer{Set: second, Epoch: 2, Signatures: signatures}), intent.Taken, "", intent.Refused, "stale-epoch", 10, 3, nil},
	} {
		next, judgement := h.Take(verified(t, step.bundle))
		t.Log(step.name)
		wantPart(t, step.part, step.reason, judgement.Bundle)
		wantPart(t, step.quorum, step.quorumReason, judgement.Quorum)
		h = next
		require.Equal(t, step.version, h.Version())
		require.Equal(t, step.epoch, h.Quorum().Epoch())
		require.Equal(t, step.set, h.Quorum().Set())
		if step.part != intent.Refused {
			require.Equal(t, step.bundle.Roots(), h.Roots())
		}
		h = intent.NewBundleHolder(h.Held(), h.Quorum()) // it restarts
	}
}

// TestMalformedSetsLeaveTheRest takes every bundle of the vectors whose set breaks a rule.
func TestMalformedSetsLeaveTheRest(t *testing.T) {
	h := newMachine(t, nil)
	h, _ = h.Take(verified(t, bundleNamed(t, "the first set")))
	version, set := h.Version(), h.Quorum().Set()
	require.NotNil(t, set)
	n := 0
	for _, v := range malformedSets(t) {
		version++
		b, err := v.WithVersion(version)
		require.NoError(t, err)
		next, judgement := h.Take(verified(t, b))
		wantPart(t, intent.Taken, "", judgement.Bundle)
		wantPart(t, intent.Refused, "malformed-set", judgement.Quorum)
		require.Equal(t, version, next.Version())
		require.Equal(t, set, next.Quorum().Set())
		require.EqualValues(t, 1, next.Quorum().Epoch())
		h, n = next, n+1
	}
	require.Greater(t, n, 10)
}

func TestAnotherPinTakesTheSetOfTheBundleThatIsHeld(t *testing.T) {
	v := verified(t, bundleNamed(t, "the first set"))
	h, judgement := newMachine(t, &[32]byte{1}).Take(v)
	wantPart(t, intent.Taken, "", judgement.Bundle)
	wantPart(t, intent.Refused, "pin-mismatch", judgement.Quorum)
	offer, err := v.Bundle().Offer()
	require.NoError(t, err)
	digest := offer.Set.Digest()
	h, judgement = intent.NewBundleHolder(h.Held(), newMachine(t, &digest).Quorum()).Take(v)
	wantPart(t, intent.NothingToDo, "", judgement.Bundle)
	wantPart(t, intent.Taken, "", judgement.Quorum)
	require.Equal(t, offer.Set.Digest(), h.Quorum().Set().Digest())
}

func TestAnotherTrustDomainIsRefused(t *testing.T) {
	v := verified(t, bundleNamed(t, "the first set"))
	for _, own := range []string{"", "staging.example.com"} {
		q, err := quorum.NewHolder(quorum.HolderDraft{TrustDomain: own})
		require.NoError(t, err)
		h, judgement := intent.NewBundleHolder(nil, q).Take(v)
		require.Equal(t, wire.TrustDomainMismatch, wire.CodeOf(judgement.Bundle.Err))
		wantPart(t, intent.Kept, "", judgement.Quorum)
		require.Nil(t, h.Held())
		require.Nil(t, h.Quorum().Set())
	}
}

func TestOutcomesHaveWords(t *testing.T) {
	seen := map[string]bool{}
	for o := range intent.Refused + 1 {
		require.False(t, seen[o.String()], "%s", o)
		seen[o.String()] = true
	}
	require.True(t, seen["none"] && seen["refused"])
}
