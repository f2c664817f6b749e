package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// Both files of a pair are there, or none: where somebody took the second's place meanwhile, or it does not read back, the
// first is taken back.
func TestAPairIsWhole(t *testing.T) {
	out := filepath.Join(t.TempDir(), "approval")
	names := func() (list []string) {
		entries, err := os.ReadDir(filepath.Dir(out))
		require.NoError(t, err)
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	refused := wire.Errorf(wire.AccessDenied, "", "not this one")
	check := func(back []byte) error {
		if string(back) == "b" {
			return refused
		}
		return nil
	}
	p, err := beginPair(out, []byte("a"), []byte("b"), check)
	require.NoError(t, err)
	require.ErrorIs(t, p.commit(), refused)
	require.Empty(t, names())

	p, err = beginPair(out, []byte("a"), []byte("c"), check)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(out+".binpb", []byte("theirs"), 0o600))
	require.Error(t, p.commit())
	require.Equal(t, []string{"approval.binpb"}, names())
	theirs, err := os.ReadFile(out + ".binpb")
	require.NoError(t, err)
	require.Equal(t, "theirs", string(theirs))

	require.NoError(t, os.Remove(out+".binpb"))
	p, err = beginPair(out, []byte("a"), []byte("c"), check)
	require.NoError(t, err)
	require.NoError(t, p.commit())
	require.Equal(t, []string{"approval.binpb", "approval.json"}, names())
}
