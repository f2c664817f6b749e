package ledger_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A ledger that is not in its place any more records nothing: nobody would find it, and another process may have begun
// another one there, which knows nothing of what this one would say.
func TestLedgerThatWasMovedRecordsNothing(t *testing.T) {
	for name, move := range map[string]func(dir string) error{
		"folder moved":   func(dir string) error { return os.Rename(dir, dir+".old") },
		"folder removed": os.RemoveAll,
		"store removed":  func(dir string) error { return os.Remove(filepath.Join(dir, "ledger.db")) },
		"another begun": func(dir string) error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			l, err := ledger.Open(dir)
			if err == nil {
				err = l.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			l, err := ledger.Open(dir)
			require.NoError(t, err)
			defer l.Close()
			p, err := l.Begin(signing(alice, noon, batch("b1", 3)), ledger.Subjects{})
			require.NoError(t, err)
			require.NoError(t, move(dir))
			_, err = p.Append(&quorum.Signature{KID: alice})
			require.Equal(t, wire.InvalidState, wire.CodeOf(err), "%v", err)
			_, err = l.Begin(signing(alice, noon, batch("b2", 3)), ledger.Subjects{})
			require.Equal(t, wire.InvalidState, wire.CodeOf(err), "%v", err)
		})
	}
}
