package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/durable"
)

// The descriptor set is the one beside the table that was read, where a link stands before ".." too.
func TestDescriptorSetBesideItsTable(t *testing.T) {
	table, err := os.ReadFile("../examples/kinds/kinds.toml")
	require.NoError(t, err)
	set, err := os.ReadFile("../examples/kinds/acme.binpb")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("own/sub", 0o755))
	require.NoError(t, os.WriteFile("own/kinds.toml", table, 0o644))
	require.NoError(t, os.WriteFile("own/acme.binpb", set, 0o644))
	require.NoError(t, os.WriteFile("acme.binpb", append(set, 0), 0o644)) // what the cleaned path leads to
	require.NoError(t, os.Symlink("own/sub", "link"))
	found, err := readKindsFile("link/../kinds.toml", durable.ReadFile)
	require.NoError(t, err)
	require.Equal(t, "link/../acme.binpb", found.setPath)
	require.Equal(t, set, found.descriptorSet)
	for path, want := range map[string]string{"kinds.toml": "s", "./kinds.toml": "./s", "/kinds.toml": "/s", "a//b": "a//s"} {
		require.Equal(t, want, beside(path, "s"))
		require.Equal(t, filepath.Join(filepath.Dir(path), "s"), filepath.Clean(beside(path, "s")))
	}
}
