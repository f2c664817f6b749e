package intent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// Values that nobody made give errors, not panics: whoever forgets to look at an error is told by the next one.
func TestZeroValuesGiveErrors(t *testing.T) {
	key := public(t, signers(t)["alice"])
	for name, bundle := range map[string]*intent.TrustBundle{"zero": {}, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			require.Zero(t, bundle.Version())
			require.Empty(t, bundle.Roots())
			require.Empty(t, bundle.Encode())
			require.NotPanics(t, func() { bundle.ContentDigest() })
			_, err := bundle.Offer()
			require.NoError(t, err, "it says nothing of a set")
			_, err = bundle.WithVersion(2)
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
			_, err = intent.Sign(t.Context(), bundle, "compute.example.com", signers(t)["alice"])
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
		})
	}
	_, err := intent.Sign(t.Context(), nil, "compute.example.com", nil)
	require.Error(t, err)
	for _, signed := range []*intent.SignedTrustBundle{{}, nil} {
		require.NotPanics(t, func() { signed.Encode(); signed.UnverifiedBundle() })
		_, err := signed.Verify(key, "compute.example.com")
		require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
		_, err = signed.Verify(quorum.PublicKey{}, "compute.example.com")
		require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
	}
	for _, verified := range []*intent.VerifiedBundle{{}, nil} {
		require.Nil(t, verified.Bundle())
		require.Empty(t, verified.TrustDomain())
		for _, holder := range []intent.BundleHolder{{}, intent.NewBundleHolder(&intent.TrustBundle{}, quorum.Holder{})} {
			next, judgement := holder.Take(verified)
			require.Equal(t, holder, next)
			require.Equal(t, intent.Refused, judgement.Bundle.Outcome)
			require.Error(t, judgement.Bundle.Err)
		}
	}
	var root intent.Root
	require.NotPanics(t, func() { root.DER(); root.SHA256(); root.Certificate() })
}
