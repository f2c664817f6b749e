package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The row of the ledger: none yet; one that holds, with the head to compare; one that others can write; one whose record was
// changed, which signing with another key may never read.
func TestDoctorLedger(t *testing.T) {
	s := newSession(t)
	folder := s.remembers()
	s.doctor().require(t, "ledger", amber, "^there is none in .*: the first review begins it$")
	require.NoDirExists(t, folder)
	s.ok(sign("ok-2.json")...)
	s.ok(append(sign("ok-415.json"), "--out", "sig.json")...)
	shown := strings.Fields(s.ok("log", "show").stdout)
	d := s.doctor()
	d.require(t, "ledger", green, "^2 records verified in .*; compare the head with what you wrote down: [0-9a-f]{64}, ")
	for _, c := range d.Checks {
		if c.Check == "ledger" {
			require.Contains(t, c.Found, strings.Join(shown[len(shown)-32:], " "))
			require.Equal(t, c.Facts["words"], strings.Join(shown[len(shown)-32:], " "))
		}
	}

	path := filepath.Join(folder, "ledger.db")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(whole, []byte(`"scopeSize":2,`), []byte(`"scopeSize":3,`)), 0o600))
	s.doctor().require(t, "ledger", red, "AUDIT_TAMPERED: record 2 follows the head .*: record 1 was changed, or what record 2 says of it")
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	require.NoError(t, os.Chmod(path, 0o666))
	s.doctor().require(t, "ledger", red, "others can write")
}
