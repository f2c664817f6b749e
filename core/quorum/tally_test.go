package quorum_test

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
)

// signWithNonce signs as no signer should, with a nonce that another key may have had: both then give one r.
func signWithNonce(t *testing.T, key *ecdsa.PrivateKey, s quorum.Statement, nonce string) quorum.UnverifiedSignature {
	t.Helper()
	order, digest, hash := key.Params().N, s.Digest(), sha256.Sum256([]byte(nonce))
	n := new(big.Int).SetBytes(hash[:])
	point, err := ecdh.P256().NewPrivateKey(n.Mod(n, order).FillBytes(make([]byte, 32)))
	require.NoError(t, err)
	r := new(big.Int).SetBytes(point.PublicKey().Bytes()[1:33])
	r.Mod(r, order)
	scalar, err := key.Bytes()
	require.NoError(t, err)
	half := new(big.Int).Mul(r, new(big.Int).SetBytes(scalar))
	half.Mul(half.Add(half, new(big.Int).SetBytes(digest[:])), new(big.Int).ModInverse(n, order)).Mod(half, order)
	public, err := quorum.NewPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return quorum.UnverifiedSignature{KID: public.KID().String(), Sig: append(r.FillBytes(make([]byte, 32)), half.FillBytes(make([]byte, 32))...)}
}

// A key is counted by its first valid signature: where that shares its r with another's, a second one does not count either.
func TestTallyTakesTheFirstValidOne(t *testing.T) {
	scope, err := quorum.NewScope("batch_1", []quorum.Entry{{Subject: "a", Kind: "node.wipe"}})
	require.NoError(t, err)
	statement, err := scope.Approval(1790000000000, "compute.example.com")
	require.NoError(t, err)
	var private []*ecdsa.PrivateKey
	draft := quorum.SetDraft{Threshold: 1}
	for range 3 {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		public, err := quorum.NewPublicKey(&key.PublicKey)
		require.NoError(t, err)
		private, draft.Keys = append(private, key), append(draft.Keys, public)
	}
	stranger, member, third := private[2], private[0], private[1]
	draft.Keys = draft.Keys[:2]
	set, err := quorum.NewSet(draft)
	require.NoError(t, err)
	wrong := signWithNonce(t, third, statement, "wrong")
	wrong.Sig[63] ^= 1
	require.Equal(t, []quorum.Outcome{quorum.NotInSet, quorum.Counted, quorum.NotValid, quorum.SharedR, quorum.CountedOnce, quorum.CountedOnce},
		set.Tally(statement, []quorum.UnverifiedSignature{
			signWithNonce(t, stranger, statement, "one"), signWithNonce(t, member, statement, "one"), wrong, signWithNonce(t, third, statement, "one"),
			signWithNonce(t, third, statement, "two"), signWithNonce(t, member, statement, "one")}))
}
