package quorum

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// No Set that NewSet makes has keys and the threshold 0. Were there one, nobody could change it, and nobody could approve by
// nobody's approval.
func TestThresholdOfZeroAdmitsNothing(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	key, err := NewPublicKey(&private.PublicKey)
	require.NoError(t, err)
	broken := &Set{keys: []PublicKey{key}, byKID: map[string]PublicKey{key.KID().String(): key}}
	h := Holder{set: broken, epoch: 1, trustDomain: "compute.example.com"}
	other, err := NewSet(SetDraft{Keys: []PublicKey{key}, Threshold: 1})
	require.NoError(t, err)
	for _, o := range []Offer{{Set: other, Epoch: 2}, {Set: other, Epoch: 1}, {Set: broken, Epoch: 2}, {Set: &Set{}, Epoch: 2}} {
		_, _, err := h.Take(o)
		require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
		require.Equal(t, "no-threshold", wire.ReasonOf(err))
	}
	_, taken, err := h.Take(Offer{Set: broken, Epoch: 1})
	require.NoError(t, err)
	require.Equal(t, NothingToDo, taken)
	approval := &Approval{BatchID: "b", ScopeRoot: make([]byte, 32), ScopeSize: 1, NotAfter: 2}
	_, err = approval.Verify(broken, "compute.example.com", 1)
	require.Equal(t, "too-few-approvals", wire.ReasonOf(err))
}
