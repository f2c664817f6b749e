//go:build linux

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/durable/durabletest"
	"github.com/better-compute/approver/core/quorum"
)

// writing are the system calls by which files are made, filled, named and removed.
var writing = []uint64{unix.SYS_OPENAT, unix.SYS_FCHMOD, unix.SYS_WRITE, unix.SYS_FSYNC, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_UNLINKAT}

// Killed before each of its writing system calls in turn, batch sign leaves a whole signature or none under its name, and
// can be run again.
func TestKilledWhileSigning(t *testing.T) {
	s := newSession(t)
	args := append(sign("ok-2.json"), "--out", "sig.json")
	seen := map[bool]int{}
	s.killAtEach(args, func() {
		_, err := os.Lstat(s.path("sig.json"))
		seen[err == nil]++
		if err == nil {
			file, err := quorum.ParseSignatureFile(s.read("sig.json"))
			require.NoError(t, err)
			s.requireVerifies(file, "alice")
			s.refused("IO_ERROR", "", args...)
			require.NoError(t, os.Remove(s.path("sig.json")))
		}
		s.ok(args...)
		require.NoError(t, os.Remove(s.path("sig.json")))
	})
	require.Greater(t, seen[false], 4, "kills before the file has its name")
	require.Positive(t, seen[true], "kills after it")
}

// The same for batch keygen, whose three files are each whole or not there, and never a private key without its public
// half and proof. What is there stands in the way of a second run; once it is put away that one works.
func TestKilledWhileMakingKeys(t *testing.T) {
	s := newSession(t)
	args := []string{"batch", "keygen", "--plaintext", "--out", "new.pem"}
	seen := map[int]int{}
	s.killAtEach(args, func() {
		names := slices.DeleteFunc(s.files(), func(n string) bool { return !strings.HasPrefix(n, "new.pem") })
		seen[len(names)]++
		switch {
		case slices.Contains(names, "new.pem"):
			require.Len(t, names, 3)
			s.requireKeyFiles("new.pem")
		case slices.Contains(names, "new.pem.pub"):
			require.Equal(t, []string{"new.pem.proof", "new.pem.pub"}, names)
			s.requirePublicFiles("new.pem")
		case len(names) > 0:
			require.Equal(t, []string{"new.pem.proof"}, names)
			_, err := quorum.ParseKeyProof(s.read("new.pem.proof"))
			require.NoError(t, err)
		}
		if len(names) > 0 {
			s.refused("IO_ERROR", "", args...)
		}
		for _, name := range names {
			require.NoError(t, os.Remove(s.path(name)))
		}
		s.ok(args...)
		s.requireKeyFiles("new.pem")
		for _, suffix := range []string{"", ".pub", ".proof"} {
			require.NoError(t, os.Remove(s.path("new.pem"+suffix)))
		}
	})
	for files := range 4 {
		require.Positive(t, seen[files], "kills that leave %d files", files)
	}
}

func (s *session) requirePublicFiles(path string) quorum.PublicKey {
	s.t.Helper()
	public, err := quorum.ParsePublicPEM(s.read(path + ".pub"))
	require.NoError(s.t, err)
	proven, err := quorum.ParseKeyProof(s.read(path + ".proof"))
	require.NoError(s.t, err)
	require.True(s.t, proven.Equal(public))
	return public
}

// requireKeyFiles holds the three files of a key against each other: the private one signs for the public one.
func (s *session) requireKeyFiles(path string) {
	s.t.Helper()
	public := s.requirePublicFiles(path)
	r := s.ok("batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--key", path)
	file, err := quorum.ParseSignatureFile([]byte(r.stdout))
	require.NoError(s.t, err)
	require.True(s.t, file.Verifies(public))
}

// killAtEach runs a command line again and again, ends it before its first, second, … writing system call, and calls check
// after each time, until it is through. The temporary files that it could not remove
// are known by their names, a private key's is private; they are removed here.
func (s *session) killAtEach(args []string, check func()) {
	s.t.Helper()
	before := s.files()
	for n := 1; ; n++ {
		require.Less(s.t, n, 500)
		killed := durabletest.KillAt(s.t, s.prepare(args...), n, writing)
		if !killed {
			require.Greater(s.t, n, 8, "the command makes few system calls")
			return
		}
		for _, name := range s.files() {
			if !slices.Contains(before, name) && strings.HasPrefix(name, ".") {
				require.Regexp(s.t, `^\.(sig\.json|new\.pem(\.pub|\.proof)?|approval\.(json|binpb))\.tmp-[A-Z2-7]{8}$`, name)
				info, err := os.Lstat(s.path(name))
				require.NoError(s.t, err)
				if strings.HasPrefix(name, ".new.pem.tmp-") {
					require.Equal(s.t, os.FileMode(0o600), info.Mode().Perm())
				}
				require.NoError(s.t, os.Remove(s.path(name)))
			}
		}
		check()
	}
}
