package scope

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// several is a scope of leaves that only their digests tell apart, n of node_a beside an unbound one, and one of node_b.
func several(t *testing.T, n int) *Verified {
	leaves := []made{{subject: "node_a", kind: "node.reboot"}, {subject: "node_b", kind: "node.reboot", digest: numbered(0)}}
	for i := range n {
		leaves = append(leaves, made{subject: "node_a", kind: "node.reboot", digest: numbered(i)})
	}
	return decoded(t, "", leaves...).Verified()
}

func numbered(i int) string { return fmt.Sprintf("%064x", i+1) }

func TestProve(t *testing.T) {
	v := several(t, 2)
	first, err := hex.DecodeString(numbered(0))
	require.NoError(t, err)
	for name, w := range map[string]WantedLeaf{
		"the only one": {Subject: "node_b", Kind: "node.reboot"},
		"by digest":    {Subject: "node_a", Kind: "node.reboot", PayloadSHA256: first},
		"unbound":      {Subject: "node_a", Kind: "node.reboot", Unbound: true},
	} {
		proof, err := v.Prove(w)
		require.NoError(t, err, name)
		require.Equal(t, w.Subject, proof.Entry.Subject, name)
		if w.Subject == "node_a" {
			require.True(t, bytes.Equal(w.PayloadSHA256, proof.Entry.PayloadSHA256), name)
		}
		root := v.Scope().Root()
		require.NoError(t, proof.Verify(&quorum.Approval{BatchID: "batch_t", ScopeRoot: root[:], ScopeSize: 4}), name)
	}
}

func TestProveTellsLeavesApart(t *testing.T) {
	v := several(t, 2)
	absent := bytes.Repeat([]byte{9}, 32)
	for name, c := range map[string]struct {
		wanted WantedLeaf
		code   wire.Code
		reason string
		listed int // digests in the details
	}{
		"several":           {WantedLeaf{Subject: "node_a", Kind: "node.reboot"}, wire.InvalidInput, "ambiguous", 3},
		"another digest":    {WantedLeaf{Subject: "node_a", Kind: "node.reboot", PayloadSHA256: absent}, wire.NotFound, "", 3},
		"no unbound one":    {WantedLeaf{Subject: "node_b", Kind: "node.reboot", Unbound: true}, wire.NotFound, "", 1},
		"another subject":   {WantedLeaf{Subject: "node_c", Kind: "node.reboot"}, wire.NotFound, "", 0},
		"another kind":      {WantedLeaf{Subject: "node_a", Kind: "node.wipe"}, wire.NotFound, "", 0},
		"both":              {WantedLeaf{Subject: "node_a", Kind: "node.reboot", PayloadSHA256: absent, Unbound: true}, wire.InvalidInput, "", 0},
		"a digest of 31":    {WantedLeaf{Subject: "node_a", Kind: "node.reboot", PayloadSHA256: absent[:31]}, wire.InvalidInput, "", 0},
		"a subject of none": {WantedLeaf{}, wire.NotFound, "", 0},
	} {
		proof, err := v.Prove(c.wanted)
		require.Nil(t, proof, name)
		require.Equal(t, c.code, wire.CodeOf(err), "%s: %v", name, err)
		require.Equal(t, c.reason, wire.ReasonOf(err), name)
		listed, _ := err.(*wire.Error).Details["payloadSha256"].([]string)
		require.Len(t, listed, c.listed, name)
	}
}

// An error names the first of many digests, and how many there are besides.
func TestProveNamesFewOfMany(t *testing.T) {
	_, err := several(t, listedDigests).Prove(WantedLeaf{Subject: "node_a", Kind: "node.reboot"})
	require.ErrorContains(t, err, "21 leaves of subject")
	require.ErrorContains(t, err, ", and 1 more")
	require.Len(t, err.(*wire.Error).Details["payloadSha256"], listedDigests)
}
