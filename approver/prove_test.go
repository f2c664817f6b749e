package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
)

// A provenLeaf is what prove prints, as a program of somebody else reads it.
type provenLeaf struct {
	BatchID, ScopeRoot, Subject, Kind, PayloadSHA256, LeafHash string
	ScopeSize, Index                                           uint64
	Siblings                                                   []string
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// hash computes the leaf hash from the fields alone (RFC 6962 over length-prefixed fields).
func (p *provenLeaf) hash(t *testing.T) []byte {
	var entry []byte
	for _, field := range [][]byte{[]byte(p.BatchID), []byte(p.Subject), []byte(p.Kind), unhex(t, p.PayloadSHA256)} {
		entry = append(entry, 0, 0, byte(len(field)>>8), byte(len(field)))
		entry = append(entry, field...)
	}
	return rfc6962.DefaultHasher.HashLeaf(entry)
}

// verify verifies the proof with another implementation; size and root are those of an approval.
func (p *provenLeaf) verify(t *testing.T, size uint64, root []byte) error {
	var siblings [][]byte
	for _, s := range p.Siblings {
		siblings = append(siblings, unhex(t, s))
	}
	return proof.VerifyInclusion(rfc6962.DefaultHasher, p.Index, size, p.hash(t), siblings, root)
}

// nodes writes a bare array of leaves for n nodes, one in three of them unbound.
func (s *session) nodes(n int) string {
	var leaves []map[string]string
	for i := range n {
		leaf := map[string]string{"subject": fmt.Sprintf("node_%04d", i), "kind": "node.reboot"}
		if i%3 != 2 {
			leaf["payloadSha256"] = fmt.Sprintf("%064x", i)
		}
		leaves = append(leaves, leaf)
	}
	data, err := json.Marshal(leaves)
	require.NoError(s.t, err)
	return s.write(fmt.Sprintf("nodes-%d.json", n), data)
}

// What prove prints for every leaf of trees of several sizes verifies with an implementation of others, in both forms, under
// the size and root of the approval that combine writes, and none does that was changed.
func TestProofsVerifyElsewhere(t *testing.T) {
	s := newSession(t)
	batch := []string{"--batch", "batch_nodes", "--trust-domain", "compute.example.com", "--not-after", "4102444800000", "--now", now}
	for _, size := range []int{1, 2, 3, 5, 415} {
		scope := s.nodes(size)
		s.ok(append([]string{"batch", "sign", "--scope", scope, "--key", "alice.pem", "--yes", "--allow-unbound", "--allow-opaque", "--out", scope + ".sig"}, batch...)...)
		s.ok(append([]string{"batch", "combine", scope + ".sig", "--scope", scope, "--approvers", "alice.pem.pub", "--threshold", "1", "--out", scope + ".approval"}, batch...)...)
		var approval bettercomputev1.BatchApproval
		require.NoError(t, proto.Unmarshal(s.read(scope+".approval.binpb"), &approval))
		require.EqualValues(t, size, approval.ScopeSize)
		step := max(1, size/40) // each leaf of the small ones
		for i := 0; i < size; i += step {
			args := []string{"batch", "prove", "--scope", scope, "--batch", "batch_nodes", "--subject", fmt.Sprintf("node_%04d", i), "--kind", "node.reboot"}
			var p provenLeaf
			require.NoError(t, json.Unmarshal([]byte(s.ok(args...).stdout), &p))
			require.Equal(t, p.LeafHash, hex.EncodeToString(p.hash(t)))
			require.NoError(t, p.verify(t, uint64(approval.ScopeSize), approval.ScopeRoot), "leaf %d of %d", i, size)
			requireMutatedFail(t, p, uint64(approval.ScopeSize), approval.ScopeRoot)
			if i > 4*step {
				continue
			}
			out := fmt.Sprintf("%s.%d", scope, i)
			s.ok(append(args, "--out", out)...)
			var m bettercomputev1.BatchProof
			require.NoError(t, proto.Unmarshal(s.read(out+".binpb"), &m))
			require.NoError(t, proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(m.Index), uint64(approval.ScopeSize), p.hash(t), m.Siblings, approval.ScopeRoot))
		}
	}
}

func requireMutatedFail(t *testing.T, p provenLeaf, size uint64, root []byte) {
	t.Helper()
	otherRoot := append([]byte{root[0] ^ 1}, root[1:]...)
	require.Error(t, p.verify(t, size, otherRoot))
	for name, change := range map[string]func(*provenLeaf){
		"batch":        func(p *provenLeaf) { p.BatchID += "x" },
		"subject":      func(p *provenLeaf) { p.Subject += "0" },
		"kind":         func(p *provenLeaf) { p.Kind = "node.wipe" },
		"digest":       func(p *provenLeaf) { p.PayloadSHA256 = fmt.Sprintf("%064x", 1<<40) },
		"index":        func(p *provenLeaf) { p.Index ^= 1 },
		"sibling more": func(p *provenLeaf) { p.Siblings = append(p.Siblings[:len(p.Siblings):len(p.Siblings)], p.LeafHash) },
		"sibling less": func(p *provenLeaf) { p.Siblings = p.Siblings[:max(0, len(p.Siblings)-1)] },
	} {
		changed := p
		change(&changed)
		if name == "sibling less" && len(p.Siblings) == 0 {
			continue
		}
		require.Error(t, changed.verify(t, size, root), name)
	}
}
