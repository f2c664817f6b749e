package quorum_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// readSet reads a set of an independent vector as it stands in files, so kids that are not their keys' are seen.
func readSet(t testing.TB, set *golden.IndependentSet) (*quorum.Set, error) {
	raw, err := json.Marshal(set)
	require.NoError(t, err)
	s, _, err := quorum.ParseSetFile(fmt.Appendf(nil, `{"format":"better-compute-approver-set","version":1,"epoch":1,"set":%s}`, raw))
	return s, err
}

// unverified gives signatures of a vector, each as it is.
func unverified(t testing.TB, entries []golden.SignatureEntry) (signatures []quorum.UnverifiedSignature) {
	for _, e := range entries {
		sig, err := base64.RawURLEncoding.DecodeString(e.Sig)
		require.NoError(t, err)
		signatures = append(signatures, quorum.UnverifiedSignature{KID: e.KID, Sig: sig})
	}
	return signatures
}

// holderOf gives the holder of an independent vector.
func holderOf(t testing.TB, v *golden.Offer) quorum.Holder {
	draft := quorum.HolderDraft{Epoch: v.Holder.Epoch, TrustDomain: *v.Holder.TrustDomain}
	if v.Holder.Set != nil {
		set, err := readSet(t, v.Holder.Set)
		require.NoError(t, err)
		draft.Set = set
	}
	if v.Holder.Pin != nil {
		pin := [32]byte(unhex(t, *v.Holder.Pin))
		draft.Pin = &pin
	}
	h, err := quorum.NewHolder(draft)
	require.NoError(t, err)
	return h
}

// What a holder does with an offer, by the vectors of another implementation.
func TestIndependentOffers(t *testing.T) {
	vectors := golden.Offers()
	require.Len(t, vectors, 29)
	seen := map[string]bool{}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			seen[v.Outcome] = true
			h := holderOf(t, &v)
			set, err := readSet(t, &v.Offer.Set)
			if v.Outcome == "malformed-set" {
				require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
				require.Equal(t, v.Outcome, wire.ReasonOf(err))
				require.Nil(t, set, "and so there is nothing to offer")
				return
			}
			require.NoError(t, err)
			next, taken, err := h.Take(quorum.Offer{Set: set, Epoch: v.Offer.Epoch, Signatures: unverified(t, v.Offer.Signatures)})
			switch v.Outcome {
			case "taken":
				require.NoError(t, err)
				require.Equal(t, quorum.TookSet, taken)
				require.Equal(t, v.Offer.Epoch, next.Epoch())
				require.Equal(t, set.IsRemoval(), next.Set() == nil)
				require.True(t, set.IsRemoval() || next.Set().Equal(set))
			case "kept":
				require.NoError(t, err)
				require.NotEqual(t, quorum.TookSet, taken)
				require.Equal(t, taken == quorum.NothingToDo, h.Set() != nil && h.Epoch() == v.Offer.Epoch, "the vectors have one word for both")
				require.Equal(t, h, next)
			default:
				require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
				require.Equal(t, v.Outcome, wire.ReasonOf(err))
				require.Zero(t, taken)
				require.Equal(t, h, next, "a refusal changes nothing")
			}
		})
	}
	for _, outcome := range []string{"taken", "kept", "malformed-set", "no-trust-domain", "stale-epoch", "approver-set-unsigned", "pin-mismatch", "epoch-too-high"} {
		require.True(t, seen[outcome], outcome)
	}
}

// Which approvals hold, by the vectors of another implementation.
func TestIndependentApprovalChecks(t *testing.T) {
	vectors := golden.ApprovalChecks()
	require.Len(t, vectors, 19)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			set, err := readSet(t, &v.Set)
			require.NoError(t, err)
			a := &quorum.Approval{BatchID: v.Approval.BatchID, ScopeRoot: unhex(t, v.Approval.ScopeRoot), ScopeSize: v.Approval.ScopeSize,
				NotAfter: v.Approval.NotAfter, Signatures: unverified(t, v.Approval.Signatures)}
			kids, err := a.Verify(set, v.TrustDomain, v.Now)
			if v.Want == "holds" {
				require.NoError(t, err)
				require.GreaterOrEqual(t, len(kids), int(set.RequiredApprovals(v.Approval.ScopeSize)))
				return
			}
			require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
			require.Equal(t, v.Want, wire.ReasonOf(err))
			require.Nil(t, kids)
		})
	}
}
