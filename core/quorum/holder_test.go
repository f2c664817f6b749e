package quorum_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// change is the statement of a change for the tests' own trust domain.
func change(t require.TestingT, set *quorum.Set, epoch uint64) quorum.Statement {
	s, err := quorum.ApproverSetChange(epoch, set, domains[0])
	require.NoError(t, err)
	return s
}

// offer is a set at an epoch, signed by keys for the tests' own trust domain.
func offer(t require.TestingT, set *quorum.Set, epoch uint64, signers ...testKey) quorum.Offer {
	o := quorum.Offer{Set: set, Epoch: epoch}
	for _, k := range signers {
		o.Signatures = append(o.Signatures, k.signUnverified(t, change(t, set, epoch)))
	}
	return o
}

func holder(t require.TestingT, d quorum.HolderDraft) quorum.Holder {
	d.TrustDomain = domains[0]
	h, err := quorum.NewHolder(d)
	require.NoError(t, err)
	return h
}

func requireTaken(t *testing.T, h quorum.Holder, o quorum.Offer) quorum.Holder {
	next, taken, err := h.Take(o)
	require.NoError(t, err)
	require.Equal(t, quorum.TookSet, taken)
	return next
}

func requireRefused(t *testing.T, reason string, h quorum.Holder, o quorum.Offer) *wire.Error {
	next, taken, err := h.Take(o)
	require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
	require.Equal(t, reason, wire.ReasonOf(err))
	require.Zero(t, taken)
	require.Equal(t, h, next)
	return err.(*wire.Error)
}

// After a signed removal the epoch stays, whoever pinned a set takes that one alone, and anybody else any first set.
func TestHolderAfterARemoval(t *testing.T) {
	k := newKeys(t, 3)
	held, removal, stolen := setOf(t, 2, k[0], k[1]), setOf(t, 0), setOf(t, 1, k[2])
	pin := held.Digest()
	free := requireTaken(t, holder(t, quorum.HolderDraft{Set: held, Epoch: 4}), offer(t, removal, 6, k[0], k[1]))
	pinned := requireTaken(t, holder(t, quorum.HolderDraft{Set: held, Epoch: 4, Pin: &pin}), offer(t, removal, 6, k[0], k[1]))
	for _, h := range []quorum.Holder{free, pinned} {
		require.Nil(t, h.Set())
		require.EqualValues(t, 6, h.Epoch())
		requireRefused(t, "stale-epoch", h, offer(t, held, 6))
		require.Nil(t, h.Tally(offer(t, held, 7, k[0])), "nobody's signature counts")
		same, taken, err := h.Take(offer(t, removal, 9))
		require.NoError(t, err)
		require.Equal(t, quorum.Kept, taken)
		require.Equal(t, h, same, "an empty set changes nothing, the epoch included")
	}
	require.True(t, requireTaken(t, free, offer(t, stolen, 7)).Set().Equal(stolen), "a removal hands the quorum to whoever signs bundles")
	digest := stolen.Digest()
	mismatch := requireRefused(t, "pin-mismatch", pinned, offer(t, stolen, 7))
	require.Equal(t, map[string]any{"pin": hex.EncodeToString(pin[:]), "digest": hex.EncodeToString(digest[:])}, mismatch.Details)
	requireRefused(t, "pin-mismatch", pinned, offer(t, stolen, 3))
	require.True(t, requireTaken(t, pinned, offer(t, held, 7)).Set().Equal(held))
}

// Epochs past 2^32 are for sets that somebody signed.
func TestEpochsOfFirstAndSignedSets(t *testing.T) {
	k := newKeys(t, 2)
	one, other := setOf(t, 1, k[0]), setOf(t, 1, k[1])
	requireRefused(t, "epoch-too-high", holder(t, quorum.HolderDraft{}), offer(t, one, quorum.MaxFirstEpoch+1))
	h := requireTaken(t, holder(t, quorum.HolderDraft{}), offer(t, one, quorum.MaxFirstEpoch))
	h = requireTaken(t, h, offer(t, other, quorum.MaxFirstEpoch+1, k[0]))
	h = requireTaken(t, h, offer(t, other, wire.MaxInteger, k[1]))
	h2 := requireTaken(t, holder(t, quorum.HolderDraft{Set: one, Epoch: 1}), offer(t, setOf(t, 0), 1<<33, k[0]))
	requireRefused(t, "stale-epoch", h2, offer(t, one, 1<<33))
	requireRefused(t, "epoch-too-high", h2, offer(t, one, 1<<33+1))
	for _, epoch := range []uint64{0, wire.MaxInteger + 1, 1<<64 - 1} {
		for _, h := range []quorum.Holder{h, h2, {}} {
			next, taken, err := h.Take(quorum.Offer{Set: one, Epoch: epoch})
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
			require.Equal(t, "malformed-set", wire.ReasonOf(err), "before everything else")
			require.Zero(t, taken)
			require.Equal(t, h, next)
		}
	}
	_, _, err := h.Take(quorum.Offer{Epoch: 3})
	require.Equal(t, "malformed-set", wire.ReasonOf(err))
}

// The rows of the table come in its order.
func TestOrderOfRefusals(t *testing.T) {
	k := newKeys(t, 3)
	held, next := setOf(t, 2, k[0], k[1]), setOf(t, 1, k[2])
	homeless, err := quorum.NewHolder(quorum.HolderDraft{Set: held, Epoch: 5})
	require.NoError(t, err)
	_, taken, err := homeless.Take(offer(t, held, 5))
	require.NoError(t, err)
	require.Equal(t, quorum.NothingToDo, taken)
	for _, o := range []quorum.Offer{offer(t, next, 4), offer(t, next, 6, k[0], k[1]), offer(t, held, 6, k[0], k[1]), offer(t, held, 4)} {
		requireRefused(t, "no-trust-domain", homeless, o)
	}
	h := holder(t, quorum.HolderDraft{Set: held, Epoch: 5})
	stale := requireRefused(t, "stale-epoch", h, offer(t, next, 5, k[0], k[1]))
	require.Equal(t, map[string]any{"held": uint64(5), "offered": uint64(5)}, stale.Details)
	o := offer(t, next, 6, k[2], k[1], k[1])
	unsigned := requireRefused(t, "approver-set-unsigned", h, o)
	require.Equal(t, map[string]any{"required": uint32(2), "signers": []quorum.KID{k[1].public.KID()}}, unsigned.Details)
	require.Equal(t, []quorum.Outcome{quorum.NotInSet, quorum.Counted, quorum.CountedOnce}, h.Tally(o))
	pin := next.Digest()
	first, err := quorum.NewHolder(quorum.HolderDraft{Pin: &pin, Epoch: 1 << 33})
	require.NoError(t, err)
	requireRefused(t, "pin-mismatch", first, offer(t, held, 1<<34))
	requireRefused(t, "stale-epoch", first, offer(t, next, 1<<33))
	requireRefused(t, "epoch-too-high", first, offer(t, next, 1<<34))
}

// What a machine kept is checked before anything is judged by it.
func TestNewHolder(t *testing.T) {
	set := setOf(t, 1, newKeys(t, 1)...)
	for name, d := range map[string]quorum.HolderDraft{
		"a set without an epoch": {Set: set},
		"a set past 2^53-1":      {Set: set, Epoch: wire.MaxInteger + 1},
		"an epoch past 2^53-1":   {Epoch: wire.MaxInteger + 1},
		"a trust domain":         {Set: set, Epoch: 1, TrustDomain: "Compute"},
	} {
		h, err := quorum.NewHolder(d)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
		require.Equal(t, quorum.Holder{}, h, name)
	}
	h, err := quorum.NewHolder(quorum.HolderDraft{Set: setOf(t, 0), Epoch: 3})
	require.NoError(t, err)
	require.Nil(t, h.Set(), "a removal in force is no set in force")
	h, err = quorum.NewHolder(quorum.HolderDraft{})
	require.NoError(t, err)
	require.Equal(t, quorum.Holder{}, h)
	pin := [32]byte{7}
	h = holder(t, quorum.HolderDraft{Pin: &pin})
	pin[0] = 8
	kept, ok := h.Pin()
	require.True(t, ok)
	require.EqualValues(t, 7, kept[0], "the pin is the holder's own")
	require.Equal(t, "none", quorum.Taken(0).String())
}
