package merkle_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/golden"
)

func hash(t require.TestingT, s string) merkle.Hash {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	require.Len(t, b, 32)
	return merkle.Hash(b)
}

func TestTrees(t *testing.T) {
	for _, v := range golden.Trees() {
		t.Run(v.Name, func(t *testing.T) {
			var leaves []merkle.Hash
			for _, l := range v.LeafHashes {
				leaves = append(leaves, hash(t, l))
			}
			for _, workers := range []int{1, 2} {
				tree := merkle.Build(leaves, workers)
				require.Equal(t, v.Root, tree.Root().String())
				require.Equal(t, v.Size, tree.Size())
				for i, want := range v.Proofs {
					checkProof(t, tree, i, want.Siblings)
				}
			}
		})
	}
}

func checkProof(t *testing.T, tree *merkle.Tree, index int, siblings []string) {
	p := tree.Proof(index)
	require.EqualValues(t, index, p.Index)
	require.Len(t, p.Siblings, len(siblings))
	for j := range siblings {
		require.Equal(t, siblings[j], p.Siblings[j].String())
	}
	require.NoError(t, p.Verify(tree.Leaf(index), uint64(tree.Size()), tree.Root()))
}

func TestBadProofs(t *testing.T) {
	for _, v := range golden.BadProofs() {
		t.Run(v.Name, func(t *testing.T) {
			var raw [][]byte
			for _, s := range v.Proof.Siblings {
				b, err := hex.DecodeString(s)
				require.NoError(t, err)
				raw = append(raw, b)
			}
			siblings, err := merkle.ParseSiblings(raw)
			if err == nil && v.Proof.Index <= 1<<32-1 {
				err = merkle.Proof{Index: uint32(v.Proof.Index), Siblings: siblings}.Verify(hash(t, v.LeafHash), v.Size, hash(t, v.Root))
			} else {
				require.Error(t, err)
			}
			require.Error(t, err)
		})
	}
}

// The third implementation agrees on every root and proof.
func TestIndependentTrees(t *testing.T) {
	var trees []struct {
		Name, ScopeRoot string
		LeafHashes      []string
		Proofs          []struct{ Siblings []string }
	}
	require.NoError(t, json.Unmarshal(golden.Independent("batch-scope.json"), &trees))
	require.NotEmpty(t, trees)
	for _, v := range trees {
		t.Run(v.Name, func(t *testing.T) {
			var leaves []merkle.Hash
			for _, l := range v.LeafHashes {
				leaves = append(leaves, hash(t, l))
			}
			tree := merkle.Build(leaves, 1)
			require.Equal(t, v.ScopeRoot, tree.Root().String())
			for i := range v.Proofs {
				checkProof(t, tree, i, v.Proofs[i].Siblings)
			}
		})
	}
}

func leaves(n int) []merkle.Hash {
	out := make([]merkle.Hash, n)
	for i := range out {
		out[i] = sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	}
	return out
}

// Any RFC 6962 verifier takes our proofs, and none takes one that was changed.
func TestTransparencyDevAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := merkle.Build(leaves(rapid.IntRange(1, 3000).Draw(t, "size")), rapid.IntRange(1, 4).Draw(t, "workers"))
		index := rapid.IntRange(0, tree.Size()-1).Draw(t, "index")
		p, leaf, root := tree.Proof(index), tree.Leaf(index), tree.Root()
		var siblings [][]byte
		for i := range p.Siblings {
			siblings = append(siblings, p.Siblings[i][:])
		}
		require.NoError(t, proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(tree.Size()), leaf[:], siblings, root[:]))
		require.NoError(t, p.Verify(leaf, uint64(tree.Size()), root))
		for i := range p.Siblings {
			p.Siblings[i][rapid.IntRange(0, 31).Draw(t, "byte")] ^= 1
			require.Error(t, p.Verify(leaf, uint64(tree.Size()), root))
			p = tree.Proof(index)
		}
		p.Index++
		require.Error(t, p.Verify(leaf, uint64(tree.Size()), root))
	})
}

func TestRootMismatchGivesBothRoots(t *testing.T) {
	tree := merkle.Build(leaves(5), 1)
	err := tree.Proof(2).Verify(tree.Leaf(2), 5, merkle.Hash{1})
	var mismatch *merkle.RootMismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, tree.Root(), mismatch.Computed)
}

// Sort gives the order of a plain sort, also where somebody made all hashes alike in their first bits.
func TestSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := leaves(rapid.IntRange(0, 400).Draw(t, "n"))
		if alike := rapid.IntRange(0, 32).Draw(t, "alike"); alike > 0 {
			for i := range hashes {
				clear(hashes[i][:alike])
			}
		}
		sorted, from := merkle.Sort(hashes)
		want := slices.Clone(hashes)
		slices.SortFunc(want, merkle.Hash.Compare)
		require.Equal(t, want, sorted)
		for i, f := range from {
			require.Equal(t, hashes[f], sorted[i])
		}
	})
}
