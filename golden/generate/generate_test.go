package main

import (
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func independent(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("../independent/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, v))
}

// TestTreesAgree wants leaf hashes, roots, order and proofs of the independent scopes.
func TestTreesAgree(t *testing.T) {
	var scopes []struct {
		Name, BatchID, ScopeRoot string
		Leaves                   []struct{ Subject, Kind, PayloadSHA256 string }
		LeafHashes               []string
		Order                    []int
		Proofs                   []proof
	}
	independent(t, "batch-scope.json", &scopes)
	require.NotEmpty(t, scopes)
	for _, s := range scopes {
		var hashes [][]byte
		for _, l := range s.Leaves {
			hashes = append(hashes, leafHash(s.BatchID, l.Subject, l.Kind, unhex(l.PayloadSHA256)))
		}
		hashes, order := inHashOrder(hashes)
		require.Equal(t, s.ScopeRoot, hexOf(treeHash(hashes)), s.Name)
		require.Equal(t, s.Order, order, s.Name)
		require.Equal(t, s.LeafHashes, hexes(hashes), s.Name)
		for _, p := range s.Proofs {
			require.Equal(t, p.Siblings, hexes(auditPath(int(p.Index), hashes)), s.Name)
		}
	}
}

// TestSigningInputsAgree wants the independent signing inputs of approvals and the digests of approver sets.
func TestSigningInputsAgree(t *testing.T) {
	var approvals []struct {
		BatchID, ScopeRoot, TrustDomain, SigningInput string
		ScopeSize                                     int
		NotAfter                                      uint64
	}
	independent(t, "batch-approval.json", &approvals)
	require.NotEmpty(t, approvals)
	for _, a := range approvals {
		require.Equal(t, a.SigningInput, hexOf(approvalInput(a.BatchID, unhex(a.ScopeRoot), a.ScopeSize, a.NotAfter, a.TrustDomain)))
	}
	var sets []struct {
		Name, SetSHA256, ApproverSetInput, TrustDomain, SigningInput string

		Epoch uint64
		Set   struct {
			Keys []struct {
				KID  string
				SPKI []byte `json:"spkiDer"`
			}
			Threshold                   int
			Tiers                       []tier
			UnbatchedDestructivePerHour int
		}
	}
	independent(t, "approver-set.json", &sets)
	require.NotEmpty(t, sets)
	for _, s := range sets {
		draft := setDraft{threshold: s.Set.Threshold, tiers: s.Set.Tiers, unbatched: s.Set.UnbatchedDestructivePerHour}
		for _, k := range s.Set.Keys {
			draft.keys = append(draft.keys, key{spki: k.SPKI})
			require.Equal(t, k.KID, key{spki: k.SPKI}.kid())
		}
		require.Equal(t, s.ApproverSetInput, hexOf(draft.input()), s.Name)
		require.Equal(t, s.SetSHA256, hexOf(draft.digest()), s.Name)
		require.Equal(t, s.SigningInput, hexOf(draft.signingInput(s.Epoch, s.TrustDomain)), s.Name)
	}
}

// TestSignaturesAreRFC6979 wants the P-256 and SHA-256 example of RFC 6979 A.2.5.
func TestSignaturesAreRFC6979(t *testing.T) {
	const scalar = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
	k := keyFromScalar("rfc", unhex(scalar))
	require.Equal(t, "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
		hexOf(k.sign([]byte("sample"))))
}

// TestCraftedSignatures wants the crafted signatures to be what their names say.
func TestCraftedSignatures(t *testing.T) {
	input := []byte("x")
	a, b := alice.signWithNonce(input, "n"), bob.signWithNonce(input, "n")
	require.Equal(t, a[:32], b[:32])
	require.NotEqual(t, a[32:], b[32:])
	sum := new(big.Int).Add(new(big.Int).SetBytes(a[32:]), new(big.Int).SetBytes(otherHalf(a)[32:]))
	require.Zero(t, sum.Cmp(order))
}

// TestStray wants another last character that reads as the same bytes to a lax reader.
func TestStray(t *testing.T) {
	kid := alice.kid()
	require.NotEqual(t, kid, stray(kid))
	require.Equal(t, kid[:42], stray(kid)[:42])
}

// TestEdit wants a mutation to fail where it would change nothing, or more than one place.
func TestEdit(t *testing.T) {
	require.Equal(t, "axc", edit("abc", "b", "x"))
	require.Panics(t, func() { edit("abc", "d", "x") })
	require.Panics(t, func() { edit("abb", "b", "x") })
}
