package scope

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// Every subject of the document has the leaf that its fields hash to.
func TestLeafOf(t *testing.T) {
	d := decoded(t, "", made{subject: "node_a", kind: "node.reboot"}, made{subject: "node_b", kind: "node.reboot", digest: numbered(0)},
		made{subject: "node_c", kind: "node.reboot", digest: numbered(0)}, made{subject: "node_c", kind: "node.wipe", digest: numbered(1)})
	seen := map[int]bool{}
	for i, o := range d.documentOperations() {
		for j, subject := range o.Subjects {
			leaf, proof, err := d.LeafOf(i, j)
			require.NoError(t, err)
			require.Equal(t, quorum.LeafHash("batch_t", subject.String(), o.Title.String(), o.Digest), leaf)
			require.NoError(t, proof.Verify(leaf, 4, d.Verified().Scope().Root()))
			seen[int(proof.Index)] = true
		}
	}
	require.Len(t, seen, 4)
	for _, at := range [][2]int{{-1, 0}, {99, 0}, {0, -1}, {0, 99}} {
		_, _, err := d.LeafOf(at[0], at[1])
		require.Equal(t, wire.NotFound, wire.CodeOf(err))
	}
}
