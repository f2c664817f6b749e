package kinds

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// TestExampleDescriptorSet wants that protoc writes the descriptor set of the example again, by the command in its table.
func TestExampleDescriptorSet(t *testing.T) {
	out := filepath.Join(t.TempDir(), "acme.binpb")
	cmd := exec.Command("protoc", "--include_imports", "--descriptor_set_out="+out, "acme.proto")
	cmd.Dir = examples
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	var want, got descriptorpb.FileDescriptorSet
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NoError(t, proto.Unmarshal(b, &got))
	require.NoError(t, proto.Unmarshal(readExample(t, "acme.binpb"), &want))
	require.True(t, proto.Equal(&want, &got), "run in examples/kinds: protoc --include_imports --descriptor_set_out=acme.binpb acme.proto")
}

// TestExampleLeaves wants that every payload of the example's leaves encodes.
func TestExampleLeaves(t *testing.T) {
	var leaves []struct {
		Subject, Kind string
		Payload       struct{ JSON json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(readExample(t, "leaves.json"), &leaves))
	require.Len(t, leaves, 9)
	table := acmeTable(t)
	for _, l := range leaves {
		_, err := table.Lookup([]byte(l.Kind)).Encode(l.Payload.JSON)
		require.NoError(t, err, l.Subject)
	}
}
