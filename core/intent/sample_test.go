package intent_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/golden"
)

const domain = "compute.example.com"

// signers gives the private keys of the vectors by name: alice, bob, carol, dave, erin.
func signers(t testing.TB) map[string]*ecdsa.PrivateKey {
	all := map[string]*ecdsa.PrivateKey{}
	for _, k := range golden.Keys() {
		scalar, err := hex.DecodeString(k.Scalar)
		require.NoError(t, err)
		all[k.Name], err = ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
		require.NoError(t, err)
	}
	return all
}

// joinSigner is the JoinService's key of the vectors.
func joinSigner(t testing.TB) *ecdsa.PrivateKey {
	sum := sha256.Sum256([]byte("approver golden join"))
	d := new(big.Int).SetBytes(sum[:])
	k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d.Mod(d, elliptic.P256().Params().N).FillBytes(make([]byte, 32)))
	require.NoError(t, err)
	return k
}

func public(t testing.TB, k *ecdsa.PrivateKey) quorum.PublicKey {
	p, err := quorum.NewPublicKey(&k.PublicKey)
	require.NoError(t, err)
	return p
}

// goodRoots gives the 16 distinct roots of the vectors.
func goodRoots(t testing.TB) (roots []intent.Root) {
	b := bundleNamed(t, "16 roots")
	require.Len(t, b.Roots(), 16)
	return b.Roots()
}

func bundleNamed(t testing.TB, name string) *intent.TrustBundle {
	all := golden.TrustBundles().Bundles
	i := slices.IndexFunc(all, func(v golden.TrustBundle) bool { return v.Name == name })
	require.GreaterOrEqual(t, i, 0, "%s", name)
	b, err := intent.ParseTrustBundle(golden.Base64(all[i].Binpb))
	require.NoError(t, err)
	return b
}

func newSet(t testing.TB, threshold uint32, keys ...*ecdsa.PrivateKey) *quorum.Set {
	d := quorum.SetDraft{Threshold: threshold}
	for _, k := range keys {
		d.Keys = append(d.Keys, public(t, k))
	}
	s, err := quorum.NewSet(d)
	require.NoError(t, err)
	return s
}

// signSet is what an approver's key does, in the hands of a test.
func signSet(t testing.TB, k *ecdsa.PrivateKey, epoch uint64, set *quorum.Set) quorum.UnverifiedSignature {
	s, err := quorum.ApproverSetChange(epoch, set, domain)
	require.NoError(t, err)
	digest := s.Digest()
	r, half, err := ecdsa.Sign(nil, k, digest[:])
	require.NoError(t, err)
	sig := make([]byte, 64)
	r.FillBytes(sig[:32])
	half.FillBytes(sig[32:])
	return quorum.UnverifiedSignature{KID: public(t, k).KID().String(), Sig: sig}
}

// verified gives a bundle signed by the JoinService's key, sent and verified.
func verified(t testing.TB, b *intent.TrustBundle) *intent.VerifiedBundle {
	k := joinSigner(t)
	s, err := intent.Sign(t.Context(), b, domain, k)
	require.NoError(t, err)
	s, err = intent.ParseSignedTrustBundle(s.Encode())
	require.NoError(t, err)
	v, err := s.Verify(public(t, k), domain)
	require.NoError(t, err)
	return v
}
