//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/quorum"
)

// Where the ledger cannot be written, nothing is signed, and nobody is asked for a passphrase: the wrong one is not found out.
func TestLedgerFaultsBeforeSigning(t *testing.T) {
	for name, prepare := range map[string]func(s *session, state string){
		"a full file system": func(s *session, state string) {
			filler, err := os.Create(filepath.Join(state, "filler"))
			require.NoError(t, err)
			defer filler.Close()
			for {
				if _, err := filler.Write(make([]byte, 4096)); err != nil {
					break
				}
			}
		},
		"a read-only one": func(s *session, state string) {
			require.NoError(t, unix.Mount("", state, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		},
	} {
		for _, begun := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", of a ledger that was begun"}[begun], func(t *testing.T) {
				s := newSession(t)
				state := s.stateOn("1m")
				s.state = state
				if begun {
					s.ok(sign("ok-2.json")...)
				}
				prepare(s, state)
				for _, args := range [][]string{
					append(sign("ok-415.json"), "--out", "sig.json", "--receipt", "receipt.json"),
					append(sign("ok-415.json")[2:], "--reason", "no"),
					{"sign-approvers", "--key", "alice.pem", "--epoch", "2", "--approvers", "bob.pem.pub", "--threshold", "1", "--trust-domain", "compute.example.com", "--now", now, "--yes"},
				} {
					switch args[0] {
					case "--scope":
						args = append([]string{"batch", "decline"}, args...)
					case "sign-approvers":
						args = append([]string{"batch"}, args...)
					}
					r := s.run(args...)
					require.Equal(t, 1, r.status, "%s", r.stderr)
					require.Regexp(t, "(?m)^IO_ERROR: ", r.stderr)
					require.Empty(t, r.stdout)
				}
				require.NoFileExists(t, s.path("sig.json"))
				require.NoFileExists(t, s.path("receipt.json"))
				s.ok(append(sign("ok-415.json"), "--no-ledger")...)
				if begun {
					require.Contains(t, s.ok("log", "verify").stdout, "VERIFIED: 1 record\n")
					require.Contains(t, s.ok("log", "show").stdout, "1  2099-12-31")
				}
			})
		}
	}
}

// stateOn mounts a file system for the ledger.
func (s *session) stateOn(size string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	require.NoError(s.t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700"), "mounting a tmpfs: this test runs as root, see ./softhsm-test.sh")
	s.t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// A signature that cannot be written where it should is not lost: it is in the ledger.
func TestLedgerHoldsWhatWasNotHandedOut(t *testing.T) {
	s := newSession(t)
	s.remembers()
	r := s.sh(`"$approver" batch sign --scope ok-2.json --key alice.pem --now ` + now + ` --yes >/dev/full`)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "IO_ERROR: the signature is made and recorded, and was not handed out: ")
	require.Contains(t, r.stderr, "\ntry: its signature is in the ledger: approver log signature 1\n")
	require.NotContains(t, r.stderr, "signed by")
	s.refused("INVALID_STATE", "already-approved", sign("ok-2.json")...)
	s.ok("log", "signature", "1", "--out", "sig.json")
	s.requireSignature("sig.json", "alice")
}

// Killed before each of its writing system calls in turn, batch sign never leaves a signature without its record. Where
// the record is there and the file is not, the next run says so, and the ledger gives the signature.
func TestKilledBetweenLedgerAndOutput(t *testing.T) {
	s := newSession(t)
	args := append(sign("ok-2.json"), "--out", "sig.json", "--receipt", "receipt.json")
	seen := map[string]int{}
	s.killAtEachAfresh(args, func() {
		_, err := os.Lstat(s.path("sig.json"))
		handedOut := err == nil
		shown := s.run("log", "show")
		recorded := strings.Contains(shown.stdout, " batch sign: signed\n")
		switch {
		case handedOut:
			seen["both"]++
			require.True(t, recorded, "a signature that is not recorded")
			require.FileExists(t, s.path("receipt.json"))
		case recorded:
			seen["recorded"]++
			again := s.run(append(sign("ok-2.json"), "--json")...)
			requireRefusal(t, again, "INVALID_STATE", "already-approved")
			s.ok("log", "signature", "1", "--out", "sig.json")
		default:
			seen["neither"]++
			s.ok(append(sign("ok-2.json"), "--out", "sig.json")...)
		}
		s.ok("log", "verify")
		file, err := quorum.ParseSignatureFile(s.read("sig.json"))
		require.NoError(t, err)
		s.requireVerifies(file, "alice")
	})
	for _, state := range []string{"neither", "recorded", "both"} {
		require.Positive(t, seen[state], "%v", seen)
	}
}

// killAtEachAfresh is killAtEach with a ledger that is new each time, and what is left between two runs removed.
func (s *session) killAtEachAfresh(args []string, check func()) {
	s.t.Helper()
	before := s.files()
	for n := 1; ; n++ {
		require.Less(s.t, n, 500)
		s.remembers()
		killed := killAt(s.t, s.prepare(args...), n)
		check()
		for _, name := range s.files() {
			if !slices.Contains(before, name) {
				require.NoError(s.t, os.Remove(s.path(name)))
			}
		}
		if !killed {
			return
		}
	}
}

// Two reviews at once do not share a ledger: the second is told, and signs nothing.
func TestLedgerInUse(t *testing.T) {
	s := newSession(t)
	s.remembers()
	c := s.onScreen(100, 40, "exec $approver batch sign --scope ok-2.json --key alice.pem --now "+now+" --out sig.json")
	c.await(question)
	s.refused("INVALID_STATE", "ledger-in-use", append(sign("ok-415.json"), "--out", "no.json")...)
	c.answer()
	require.Zero(t, c.end(), "%s", c.text())
	s.ok(append(sign("ok-415.json"), "--out", "yes.json")...)
}
