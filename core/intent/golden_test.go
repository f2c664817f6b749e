package intent_test

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// outcome holds an error against a vector and tells whether the vector is good.
func outcome(t testing.TB, o golden.Outcome, err error) bool {
	t.Helper()
	require.NoError(t, o.Check(err, string(wire.CodeOf(err)), wire.ReasonOf(err)))
	return o.OK()
}

func hexOf(digest [32]byte) string { return hex.EncodeToString(digest[:]) }

func TestRoots(t *testing.T) {
	for _, v := range golden.TrustBundles().Roots {
		t.Run(v.Name, func(t *testing.T) {
			r, err := intent.ParseRoot(golden.Base64(v.DER))
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, r.Certificate())
				return
			}
			require.Equal(t, v.DER, base64.StdEncoding.EncodeToString(r.DER()))
			require.Equal(t, v.SHA256, hexOf(r.SHA256()))
			require.True(t, r.Certificate().IsCA)
		})
	}
}

func TestTrustBundles(t *testing.T) {
	for _, v := range golden.TrustBundles().Bundles {
		t.Run(v.Name, func(t *testing.T) {
			b, err := intent.ParseTrustBundle(golden.Base64(v.Binpb))
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, b)
				return
			}
			require.Equal(t, v.Binpb, base64.StdEncoding.EncodeToString(b.Encode()))
			require.Equal(t, v.Version, b.Version())
			var roots []string
			for _, r := range b.Roots() {
				roots = append(roots, hexOf(r.SHA256()))
			}
			require.Equal(t, v.Roots, roots)
			offer, err := b.Offer()
			if v.Offer == nil {
				require.NoError(t, err)
				require.Equal(t, quorum.Offer{}, offer)
			} else if !outcome(t, v.Offer.Outcome, err) {
				require.Equal(t, quorum.Offer{}, offer)
				require.NotEqual(t, [32]byte{}, b.ContentDigest())
				return
			} else {
				require.Equal(t, v.Offer.Epoch, offer.Epoch)
				require.Equal(t, v.Offer.SetSHA256, hexOf(offer.Set.Digest()))
				require.Len(t, offer.Signatures, v.Offer.Signatures)
			}
			require.Equal(t, v.ContentSHA256, hexOf(b.ContentDigest()))
			other, err := b.WithVersion(b.Version()%7 + 1)
			require.NoError(t, err)
			require.Equal(t, v.ContentSHA256, hexOf(other.ContentDigest()))
		})
	}
}

func TestSignedTrustBundles(t *testing.T) {
	for _, v := range golden.TrustBundles().Signed {
		t.Run(v.Name, func(t *testing.T) {
			key, err := quorum.ParsePublicKey(golden.Base64(v.SPKI))
			require.NoError(t, err)
			s, err := intent.ParseSignedTrustBundle(golden.Base64(v.Binpb))
			var verified *intent.VerifiedBundle
			if err == nil {
				require.Equal(t, v.Binpb, base64.StdEncoding.EncodeToString(s.Encode()))
				verified, err = s.Verify(key, v.TrustDomain)
			}
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, verified)
				return
			}
			require.Equal(t, v.TrustDomain, verified.TrustDomain())
			require.Equal(t, v.Bundle, base64.StdEncoding.EncodeToString(verified.Bundle().Encode()))
			require.Equal(t, v.Bundle, base64.StdEncoding.EncodeToString(s.UnverifiedBundle()))
			require.Equal(t, v.SigningInput, hex.EncodeToString(wire.SigningInput("trust-bundle", golden.Base64(v.Bundle), []byte(v.TrustDomain))))
		})
	}
}
