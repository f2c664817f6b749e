//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/quorum"
)

// outputs are all ways to write a file, each with the first argument that names it left to come.
var outputs = map[string][]string{
	"sign":       append(sign("ok-2.json"), "--out"),
	"picture":    append(sign("ok-2.json"), "--qr-png"),
	"operations": {"batch", "show", "--scope", "ok-415.json", "--now", now, "--operations-out"},
	"scope":      {"batch", "show", "--scope", "ok-415.json", "--now", now, "--scope-out"},
	"keygen":     {"batch", "keygen", "--plaintext", "--out"},
}

// tmpfs mounts a file system of 64 KiB at a folder of the session.
func (s *session) tmpfs(name string, flags uintptr) string {
	s.t.Helper()
	dir := s.path(name)
	require.NoError(s.t, os.Mkdir(dir, 0o700))
	require.NoError(s.t, unix.Mount("tmpfs", dir, "tmpfs", flags, "size=64k"), "mounting a tmpfs: this test runs as root, see ./softhsm-test.sh")
	s.t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// requireNotWritten runs a command that cannot write its output: IO_ERROR, and the folder is as it was.
func (s *session) requireNotWritten(dir string, args ...string) result {
	s.t.Helper()
	before := listing(s.t, dir)
	r := s.run(args...)
	require.Equal(s.t, 1, r.status, "%v: %s", args, r.stderr)
	require.Regexp(s.t, "(?m)^IO_ERROR: ", r.stderr)
	require.Equal(s.t, before, listing(s.t, dir), "%v left something behind", args)
	return r
}

// listing gives what is in a folder: names, modes, sizes, times and targets of links.
func listing(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		target, _ := os.Readlink(filepath.Join(dir, e.Name()))
		list = append(list, fmt.Sprint(e.Name(), info.Mode(), info.Size(), info.ModTime().UnixNano(), target))
	}
	return list
}

func TestFullDisk(t *testing.T) {
	for name, args := range outputs {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			dir := s.tmpfs("stick", 0)
			filler := filepath.Join(dir, "filler")
			args := append(args, "stick/out")
			// From a disk without a page left to the first that the output fits on.
			pages := 0
			for ; pages < 16; pages++ {
				fill(t, filler, pages)
				before := listing(t, dir)
				r := s.run(args...)
				if r.status == 0 {
					break
				}
				require.Regexp(t, "(?m)^IO_ERROR: ", r.stderr)
				require.Equal(t, before, listing(t, dir), "something was left behind")
				require.NoError(t, os.Remove(filler))
			}
			want := map[string][]int{"sign": {1}, "picture": {1, 2}, "keygen": {3}, "operations": {2, 3, 4}, "scope": {16}} // the scope is larger than the disk
			require.Contains(t, want[name], pages)
		})
	}
}

// fill fills a file system, but for some pages.
func fill(t *testing.T, path string, free int) {
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	info, err := f.Stat()
	require.NoError(t, err)
	require.NoError(t, f.Truncate(info.Size()-int64(free)*4096))
}

func TestOutputPlaces(t *testing.T) {
	for name, args := range outputs {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			s.tmpfs("readonly", unix.MS_RDONLY)
			s.requireNotWritten(s.path("readonly"), append(args, "readonly/out")...)

			s.write("existing", []byte("do not touch"))
			require.NoError(t, os.Symlink("existing", s.path("link")))
			require.NoError(t, os.Symlink("elsewhere", s.path("dangling")))
			require.NoError(t, os.Mkdir(s.path("folder"), 0o700))
			for _, place := range []string{"existing", "link", "dangling", "folder", "folder/", "nowhere/out", "existing/out", ".", "/", "/dev/full", "/dev/null"} {
				s.requireNotWritten(s.dir, append(args, place)...)
			}
			require.Equal(t, "do not touch", string(s.read("existing")))
			require.NoFileExists(t, s.path("elsewhere"))

			// A folder may be a link, and names may be odd.
			require.NoError(t, os.Symlink("folder", s.path("by-link")))
			s.ok(append(args, "by-link/out")...)
			require.FileExists(t, s.path("folder/out"))
			s.ok(append(args, "folder/--out \xff\n")...)
			require.FileExists(t, s.path("folder/--out \xff\n"))
		})
	}
}

// keygen has three files to write, and writes none where one cannot be.
func TestKeygenWritesAllOrNothing(t *testing.T) {
	for _, suffix := range []string{"", ".pub", ".proof"} {
		s := newSession(t)
		require.NoError(t, os.Symlink("/dev/null", s.path("key"+suffix)))
		s.requireNotWritten(s.dir, "batch", "keygen", "--plaintext", "--out", "key")
	}
}

// Standard output that takes nothing, and somebody who stopped reading. What was made is gone.
func TestStandardOutputFails(t *testing.T) {
	for name, line := range map[string]string{
		"sign":                 "batch sign --scope ok-2.json --key alice.pem --yes --now " + now,
		"show":                 "batch show --scope ok-415.json --now " + now,
		"as JSON":              "batch show --json --scope ok-415.json --now " + now,
		"show to files":        "batch show --scope ok-415.json --operations-out all.json --scope-out again.json --now " + now,
		"verify":               "batch verify alice.sig --scope ok-2.json --approvers set.json --trust-domain compute.example.com --now " + now,
		"keygen":               "batch keygen --plaintext --out key.pem",
		"keygen as JSON":       "batch keygen --json --plaintext --out key.pem",
		"sign with operations": "batch sign --scope ok-2.json --key alice.pem --yes --operations-out all.json --now " + now,
		"help":                 "batch sign --help",
		"usage":                "batch",
		"version":              "--version",
		"demo":                 "demo",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			s.ok(append(sign("ok-2.json"), "--out", "alice.sig")...)
			s.write("status", nil)
			before := s.files()
			for _, to := range []string{">/dev/full", "| exec true"} {
				r := s.sh("exec 3>status; { sleep 0.05; $approver " + line + "; echo $? >&3; } " + to)
				require.Equal(t, "1\n", string(s.read("status")), "%s: %s", to, r.stderr)
				require.Regexp(t, `(?m)^(IO_ERROR: |\{"error":\{"code":"IO_ERROR")`, r.stderr)
				require.Equal(t, before, s.files(), "%s: something was left behind", to)
			}
		})
	}
}

// A signature is not made for a standard output that is closed, or that is /dev/null for reading and writing, as Go opens
// it in place of a closed one. Whoever throws output away that way gets everything else, and a signature in --out.
func TestStandardOutputClosed(t *testing.T) {
	s := newSession(t)
	signing := "batch sign --scope ok-2.json --key alice.pem --yes --now " + now
	for _, to := range []string{">&-", "1<>/dev/null"} {
		r := s.sh("$approver " + signing + " " + to)
		require.Contains(t, r.stderr, "IO_ERROR: standard output is closed", to)
		require.NotContains(t, r.stderr, "signed by", to)
		s.write("status", nil)
		s.sh("$approver batch show --scope ok-2.json --now " + now + " " + to + "; echo $? >status")
		require.Equal(t, "0\n", string(s.read("status")), to)
	}
	r := s.sh("$approver " + signing + " --out alice.sig 1<>/dev/null")
	require.Contains(t, r.stderr, "signed by", r.stderr)
	require.FileExists(t, s.path("alice.sig"))
}

// Nobody signs what nobody can have seen: where the review cannot be shown, nothing is signed.
func TestReviewCannotBeShown(t *testing.T) {
	s := newSession(t)
	for _, to := range []string{"2>/dev/full", "2>&1 >/dev/null | exec true"} {
		s.sh("{ sleep 0.05; $approver batch sign --scope ok-415.json --key alice.pem --yes --now " + now + " --out sig.json; } " + to)
		require.NoFileExists(t, s.path("sig.json"))
	}
}

// The root in the file that was written is the one that was displayed, and the one that was asked for.
func TestWrittenIsWhatWasShown(t *testing.T) {
	s := newSession(t)
	r := s.ok(append(sign("ok-415.json"), "--out", "sig.json")...)
	file, err := quorum.ParseSignatureFile(s.read("sig.json"))
	require.NoError(t, err)
	require.Equal(t, file.ScopeRoot.String(), shownRoot(t, r.stderr))
	require.True(t, bytes.HasSuffix(s.read("sig.json"), []byte("}\n")))
	s.requireVerifies(file, "alice")
}

// shownRoot reads the root off a review.
func shownRoot(t testing.TB, text string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, " to compare by voice with the other approvers\n")
	require.True(t, ok, "the review shows no root")
	root, _, _ := strings.Cut(after, "\n")
	require.Regexp(t, "^  [0-9a-f]{64}$", root)
	return strings.TrimSpace(root)
}
