package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/durable"
)

// Whoever watches knows at any time which files would stay if the process ended.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	create := func(name string) *durable.Pending {
		p, err := durable.Create(filepath.Join(dir, name), 0o600)
		require.NoError(t, err)
		return p
	}
	first := create("first")
	var told []string
	durable.Watch(func(temporary []string) { told = temporary })
	defer durable.Watch(func([]string) {})
	require.Len(t, told, 1, "what was there before")
	second := create("second")
	require.Len(t, told, 2)
	for _, path := range told {
		require.FileExists(t, path)
	}
	_, err := durable.Create(filepath.Join(dir, "absent/third"), 0o600)
	require.Error(t, err)
	require.Len(t, told, 2)
	require.NoError(t, first.Commit(durable.Same(nil)))
	require.Len(t, told, 1)
	require.Contains(t, told[0], ".second.tmp-")
	second.Abandon()
	second.Abandon()
	require.Empty(t, told)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}
