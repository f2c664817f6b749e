package main

import (
	"debug/elf"
	"testing"

	"github.com/stretchr/testify/require"
)

// A build without cgo does everything but tokens, and says so.
func TestWithoutCGO(t *testing.T) {
	s := newSession(t)
	s.command = builtWithoutCGO
	s.ok("batch", "show", "--scope", "ok-415.json", "--now", now)
	s.requireSigns(sign("ok-2.json")...)
	s.ok(append(sign("ok-2.json"), "--out", "sig.json")...)
	s.ok("batch", "verify", "sig.json", "--scope", "ok-2.json", "--approvers", "set.json", "--trust-domain", "compute.example.com", "--now", now)
	s.ok("batch", "keygen", "--plaintext", "--out", "new.pem")
	require.Contains(t, s.ok("demo").stdout, "Every step did what it should")
	r := s.refused("UNSUPPORTED", "", "batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--key", "pkcs11:token=approver", "--module", "/usr/lib/softhsm/libsofthsm2.so")
	require.Contains(t, r.stderr, "cgo")
}

// It needs no library of the machine it runs on.
func TestWithoutCGOIsStatic(t *testing.T) {
	f, err := elf.Open(builtWithoutCGO)
	require.NoError(t, err)
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries)
}
