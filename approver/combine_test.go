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
	"github.com/better-compute/approver/core/wire"
)

// pairs are the commands that write a pair of files, each with the first part of their names left to come.
func (s *session) pairs() map[string][]string {
	for _, name := range []string{"alice", "bob"} {
		if !slices.Contains(s.files(), name+".sig") {
			s.ok("batch", "sign", "--scope", "ok-415.json", "--key", name+".pem", "--now", now, "--yes", "--out", name+".sig")
		}
	}
	return map[string][]string{
		"combine": {"batch", "combine", "alice.sig", "bob.sig", "--scope", "ok-415.json", "--approvers", "set.json",
			"--trust-domain", "compute.example.com", "--now", now, "--out"},
		"prove": {"batch", "prove", "--scope", "ok-415.json", "--subject", "node_0000", "--kind", "node.reimage", "--out"},
	}
}

// requirePair holds both files of a pair against each other.
func (s *session) requirePair(command, out string) {
	s.t.Helper()
	if command == "prove" {
		f, err := quorum.ParseProofFile(s.read(out + ".json"))
		require.NoError(s.t, err)
		require.Equal(s.t, string(quorum.EncodeProof(f.Proof)), string(s.read(out+".binpb")))
		return
	}
	f, err := quorum.ParseApprovalFile(s.read(out + ".json"))
	require.NoError(s.t, err)
	require.Len(s.t, f.Approval.Signatures, 2)
	require.Equal(s.t, f.Approval.Encode(), s.read(out+".binpb"))
}

// Both files are written, or none, on a disk that takes none, one or both of them.
func TestPairOnFullDisk(t *testing.T) {
	s := newSession(t)
	for name, args := range s.pairs() {
		dir := s.tmpfs("stick-"+name, 0)
		filler, pages := filepath.Join(dir, "filler"), 0
		for ; pages < 16; pages++ {
			fill(t, filler, pages)
			before := listing(t, dir)
			r := s.run(append(args, "stick-"+name+"/out")...)
			if r.status == 0 {
				break
			}
			require.Regexp(t, "(?m)^IO_ERROR: ", r.stderr, name)
			require.Equal(t, before, listing(t, dir), "%s: something was left behind", name)
			require.NoError(t, os.Remove(filler))
		}
		require.Equal(t, 2, pages, "%s writes two small files", name)
		s.requirePair(name, "stick-"+name+"/out")
	}
}

func TestPairPlaces(t *testing.T) {
	s := newSession(t)
	s.tmpfs("readonly", unix.MS_RDONLY)
	require.NoError(t, os.Mkdir(s.path("folder"), 0o700))
	for name, args := range s.pairs() {
		s.requireNotWritten(s.path("readonly"), append(args, "readonly/out")...)
		for _, place := range []string{"folder/", ".", "..", "/", "folder/..", "nowhere/out", "alice.sig/out", "/dev/null/out"} {
			s.requireNotWritten(s.dir, append(args, place)...)
		}
		// What is in the way of one is in the way of both.
		for _, suffix := range []string{".json", ".binpb"} {
			in := "in-the-way-of-" + name + suffix
			require.NoError(t, os.Symlink("/dev/full", s.path(in)))
			r := s.requireNotWritten(s.dir, append(args, strings.TrimSuffix(in, suffix))...)
			require.Contains(t, r.stderr, in+" is there already")
			require.NoError(t, os.Remove(s.path(in)))
		}
		s.ok(append(args, "folder/--"+name+" \xff\n")...)
		s.requirePair(name, "folder/--"+name+" \xff\n")
	}
}

// Standard output that takes nothing: combine tells there who signed, before anything has its name, and prove its result.
func TestPairUnsaid(t *testing.T) {
	s := newSession(t)
	pairs := s.pairs()
	s.write("status", nil)
	before := s.files()
	for _, line := range []string{strings.Join(append(pairs["combine"], "unsaid"), " "), strings.Join(pairs["prove"][:len(pairs["prove"])-1], " ")} {
		r := s.sh("$approver " + line + " >/dev/full; echo $? >status")
		require.Equal(t, "1\n", string(s.read("status")), line)
		require.Contains(t, r.stderr, "IO_ERROR: ")
		require.Equal(t, before, s.files(), line)
	}
}

// Where the second file cannot get its name, or does not read back, the first is taken back.
func TestPairTakesBack(t *testing.T) {
	s := newSession(t)
	out := s.path("pair")
	read := 0
	good := func([]byte) error { read++; return nil }
	for name, test := range map[string]struct {
		check   func([]byte) error
		between func()
		left    []string
	}{
		"something stands in the way": {good, func() { s.write("pair.binpb", []byte("mine")) }, []string{"pair.binpb"}},
		"the second does not read back": {func(back []byte) error {
			if string(back) == "binary" {
				return wire.Errorf(wire.IOError, "", "it does not read back")
			}
			return nil
		}, func() {}, nil},
	} {
		before := s.files()
		files, err := beginPair(out, []byte("json"), []byte("binary"), test.check)
		require.NoError(t, err, name)
		test.between()
		require.Equal(t, wire.IOError, wire.CodeOf(files.commit()), name)
		for _, left := range test.left {
			require.Equal(t, "mine", string(s.read(left)))
			require.NoError(t, os.Remove(s.path(left)))
		}
		require.Equal(t, before, s.files(), name)
	}
	require.Equal(t, 1, read)
}

// An approval that is read back is judged anew: with a signature less it does not hold, with one that counts for nothing
// it is not what was combined.
func TestHoldsAgain(t *testing.T) {
	s := newSession(t)
	s.pairs()
	a := osApp()
	a.getenv = func(string) string { return "" }
	r, err := a.judgeFiles(&judgeFlags{scope: s.path("ok-415.json"), approvers: []string{s.path("set.json")}, trustDomain: "compute.example.com", now: now},
		[]string{s.path("alice.sig"), s.path("bob.sig")})
	require.NoError(t, err)
	combined, err := r.verdict.Combined()
	require.NoError(t, err)
	require.NoError(t, r.holdsAgain(combined.Encode()))
	require.NoError(t, r.holdsAgain(combined.Approval.Encode()))
	less, more := combined.Approval, combined.Approval
	less.Signatures = less.Signatures[:1]
	require.Equal(t, "too-few-approvals", wire.ReasonOf(r.holdsAgain(less.Encode())))
	more.Signatures = append(slices.Clone(more.Signatures), more.Signatures[0])
	require.Equal(t, wire.IOError, wire.CodeOf(r.holdsAgain(more.Encode())))
	require.Equal(t, wire.InvalidInput, wire.CodeOf(r.holdsAgain([]byte("{"))))
}

// Killed before each of its writing system calls in turn, combine leaves nothing under its names, or a whole OUT.json, or
// both, and once what is there is put away it can be run again.
func TestKilledWhileCombining(t *testing.T) {
	s := newSession(t)
	args := append(s.pairs()["combine"], "approval")
	seen := map[int]int{}
	s.killAtEach(args, func() {
		names := slices.DeleteFunc(s.files(), func(n string) bool { return !strings.HasPrefix(n, "approval") })
		seen[len(names)]++
		switch len(names) {
		case 2:
			s.requirePair("combine", "approval")
		case 1:
			require.Equal(t, "approval.json", names[0])
			_, err := quorum.ParseApprovalFile(s.read("approval.json"))
			require.NoError(t, err)
		}
		if len(names) > 0 {
			s.refused("IO_ERROR", "", args...)
		}
		for _, name := range names {
			require.NoError(t, os.Remove(s.path(name)))
		}
		s.ok(args...)
		s.requirePair("combine", "approval")
		for _, suffix := range []string{".json", ".binpb"} {
			require.NoError(t, os.Remove(s.path("approval"+suffix)))
		}
	})
	for files := range 3 {
		require.Positive(t, seen[files], "kills that leave %d files", files)
	}
}
