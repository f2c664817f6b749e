package main

import (
	"os"
	"path/filepath"
	"strings"
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

// A table and its descriptor set are read once each: what the findings about media and doctor say is about what payloads were
// decoded by.
func TestKindsAreReadOnce(t *testing.T) {
	s := newSession(t)
	for _, name := range []string{"kinds.toml", "acme.binpb"} {
		data, err := os.ReadFile("../examples/kinds/" + name)
		require.NoError(t, err)
		s.write(name, data)
	}
	s.write("config.toml", []byte("kinds = \"kinds.toml\"\n"))
	for name, args := range map[string]string{
		"show": "batch show --scope ok-2.json --now " + now + " --kinds kinds.toml", "doctor": "doctor --kinds kinds.toml", "list": "kinds list --kinds kinds.toml",
		"show, configured": "batch show --scope ok-2.json --now " + now + " --config config.toml", "doctor, configured": "doctor --config config.toml",
	} {
		s.sh("strace -f -o trace -e trace=openat $approver " + args)
		trace := string(s.read("trace"))
		looked := 1
		if strings.Contains(args, "--config") {
			looked = 2 // loading the configuration looks at whose file it is, as reading it does again
		}
		require.Equal(t, looked, strings.Count(trace, "kinds.toml\""), "%s: %s", name, trace)
		require.Equal(t, 1, strings.Count(trace, "acme.binpb\""), "%s: %s", name, trace)
	}
}
