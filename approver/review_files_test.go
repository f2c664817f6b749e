package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/tui"
)

// A folder of hundreds of files is listed without reading all of them: the JSON files first, whatever their names; and only the
// head of each is read, for what it says of itself. Whoever waits for a stick has all of them looked at.
func TestListFolderIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range mostLooked + 100 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("a%04d.log", i)), []byte("gpu-0001\n"), 0o600))
	}
	scope := `{"format":"better-compute-batch-scope","version":1,"batchId":"batch_late","scopeSize":7,"leaves":[`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "zz.json"), []byte(scope), 0o600))
	entries, err := listFolder(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "zz.json"), entries[1].Path, "after the folder above")
	require.Equal(t, "batch_late", entries[1].Batch.String())
	require.Equal(t, uint64(7), entries[1].Operations)
	unread := 0
	for _, e := range entries[2:] {
		if e.Trouble == "not looked at" {
			unread++
		} else {
			require.Equal(t, tui.ExpectedFile, e.Kind)
		}
	}
	require.Equal(t, 101, unread)

	require.NoError(t, os.Rename(filepath.Join(dir, "zz.json"), filepath.Join(dir, "zz")))
	found, err := reviewable(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, found, 1)
}
