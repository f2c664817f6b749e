package quorum_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"math/big"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
)

// A testKey is an approver's key with its private half.
type testKey struct {
	private *ecdsa.PrivateKey
	public  quorum.PublicKey
}

func newKeys(t require.TestingT, n int) (keys []testKey) {
	for range n {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		public, err := quorum.NewPublicKey(&private.PublicKey)
		require.NoError(t, err)
		keys = append(keys, testKey{private, public})
	}
	return keys
}

func (k testKey) kid() string { return k.public.KID().String() }

// sign signs any statement, which no signer of the product's own does without a review.
func (k testKey) sign(t require.TestingT, s quorum.Statement) quorum.Signature {
	digest := s.Digest()
	r, v, err := ecdsa.Sign(rand.Reader, k.private, digest[:])
	require.NoError(t, err)
	signature := quorum.Signature{KID: k.public.KID()}
	r.FillBytes(signature.Sig[:32])
	v.FillBytes(signature.Sig[32:])
	return signature
}

func (k testKey) signUnverified(t require.TestingT, s quorum.Statement) quorum.UnverifiedSignature {
	signature := k.sign(t, s)
	return quorum.UnverifiedSignature{KID: k.kid(), Sig: signature.Sig[:]}
}

// otherHalf gives the other signature that verifies wherever sig does.
func otherHalf(sig []byte) []byte {
	out := slices.Clone(sig)
	s := new(big.Int).SetBytes(sig[32:])
	s.Sub(elliptic.P256().Params().N, s).FillBytes(out[32:])
	return out
}

// setOf gives a set of keys; without keys it is a removal.
func setOf(t require.TestingT, threshold uint32, keys ...testKey) *quorum.Set {
	draft := quorum.SetDraft{Threshold: threshold}
	for _, k := range keys {
		draft.Keys = append(draft.Keys, k.public)
	}
	set, err := quorum.NewSet(draft)
	require.NoError(t, err)
	return set
}
