package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// A process of its own writes a file under strace: the content is its standard input, the path this variable.
const writerVariable = "DURABLE_TEST_WRITE"

func TestMain(m *testing.M) {
	path := os.Getenv(writerVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // strace counts the calls of each thread
	data, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = durable.WriteFile(path, data, 0o640)
	}
	if err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
}

func requireCode(t *testing.T, code wire.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
}

// names gives what is in a folder, temporary files included.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestOpenTakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("x"), 0o600))
	require.NoError(t, unix.Mkfifo(at("fifo"), 0o600))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("fifo", at("to-fifo")))
	require.NoError(t, os.Symlink("loop", at("loop")))
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: at("socket")}))
	for path, code := range map[string]wire.Code{
		at("file"): "", at("link"): "",
		at("fifo"): wire.InvalidInput, at("to-fifo"): wire.InvalidInput, at("socket"): wire.InvalidInput, dir: wire.InvalidInput,
		"/dev/null": wire.InvalidInput, "/dev/zero": wire.InvalidInput,
		at("absent"): wire.NotFound, "": wire.NotFound, at("loop"): wire.IOError, at("file/below"): wire.IOError, at("a\x00b"): wire.IOError,
	} {
		f, err := durable.Open(path)
		if code == "" {
			require.NoError(t, err, path)
			require.NoError(t, f.Close())
			continue
		}
		require.Nil(t, f, path)
		requireCode(t, code, err)
	}
}

// What is looked at is what is read, also where another file takes its place meanwhile.
func TestOpenReadsWhatItLookedAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("first"), 0o600))
	f, err := durable.Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("second"), 0o600))
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "first", string(data))
}

func TestReadFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "data")
		most := rapid.Int64Range(0, 64).Draw(t, "most")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		got, err := durable.ReadFile(path, most)
		if int64(len(data)) > most {
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
			return
		}
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
	})
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[^/\x00]{1,60}`).Filter(func(s string) bool { return s != "." && s != ".." && len(s) < 200 }).Draw(rt, "name")
		data := rapid.SliceOf(rapid.Byte()).Draw(rt, "data")
		path := filepath.Join(dir, name)
		require.NoError(rt, durable.WriteFile(path, data, 0o600))
		got, err := os.ReadFile(path)
		require.NoError(rt, err)
		require.True(rt, bytes.Equal(data, got))
		require.Error(rt, durable.WriteFile(path, data, 0o600))
		require.NoError(rt, os.Remove(path))
	})
	require.Empty(t, names(t, dir))
}

// The mode is the one that was asked for, whatever the umask.
func TestModeDespiteUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		before := unix.Umask(umask)
		path := filepath.Join(t.TempDir(), "file")
		unix.Umask(before)
		unix.Umask(umask)
		err := durable.WriteFile(path, nil, 0o640)
		unix.Umask(before)
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("kept"), 0o600))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("elsewhere", at("dangling")))
	before := names(t, dir)
	for _, path := range []string{at("file"), at("link"), at("dangling"), dir, at("."), at(".."), at("file/below"), at("absent/below"), "/dev/full", ""} {
		p, err := durable.Create(path, 0o600)
		require.Nil(t, p, path)
		requireCode(t, wire.IOError, err)
	}
	require.Equal(t, before, names(t, dir))
}

// Until Commit there is no name, and what takes it meanwhile is not replaced.
func TestCommitReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	p, err := durable.Create(path, 0o600)
	require.NoError(t, err)
	require.Equal(t, path, p.Path())
	_, err = p.Write([]byte("ours"))
	require.NoError(t, err)
	require.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o600))
	requireCode(t, wire.IOError, p.Commit(durable.Same([]byte("ours"))))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(data))
	require.Equal(t, []string{"file"}, names(t, dir))
}

// What does not read back as it was written is taken back, and so is what the check refuses.
func TestCommitReadsBack(t *testing.T) {
	refusal := errors.New("refused")
	for name, test := range map[string]struct {
		check func(io.Reader) error
		want  func(*testing.T, error)
	}{
		"other bytes": {durable.Same([]byte("other")), func(t *testing.T, err error) { requireCode(t, wire.IOError, err) }},
		"fewer bytes": {durable.Same([]byte("our")), func(t *testing.T, err error) { requireCode(t, wire.IOError, err) }},
		"refused":     {func(io.Reader) error { return refusal }, func(t *testing.T, err error) { require.ErrorIs(t, err, refusal) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p, err := durable.Create(filepath.Join(dir, "file"), 0o600)
			require.NoError(t, err)
			_, err = p.Write([]byte("ours"))
			require.NoError(t, err)
			test.want(t, p.Commit(test.check))
			require.Empty(t, names(t, dir))
			p.Abandon()
		})
	}
}

func TestAbandonAndRemove(t *testing.T) {
	dir := t.TempDir()
	p, err := durable.Create(filepath.Join(dir, "file"), 0o600)
	require.NoError(t, err)
	require.Len(t, names(t, dir), 1)
	require.True(t, strings.HasPrefix(names(t, dir)[0], ".file.tmp-"))
	p.Abandon()
	p.Abandon()
	require.Empty(t, names(t, dir))

	p, err = durable.Create(filepath.Join(dir, "file"), 0o600)
	require.NoError(t, err)
	require.NoError(t, p.Commit(durable.Same(nil)))
	p.Abandon()
	require.Equal(t, []string{"file"}, names(t, dir))
	p.Remove()
	require.Empty(t, names(t, dir))
}

// A path is taken as the kernel takes it: ".." after a symbolic link is the folder the link leads to.
func TestPathsAreTheKernels(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "a")
	require.NoError(t, os.MkdirAll(filepath.Join(inside, "b"), 0o755))
	require.NoError(t, os.Symlink("a/b", filepath.Join(dir, "link")))
	path := dir + "/link/../out"
	require.NoError(t, durable.WriteFile(path, []byte("x"), 0o644))
	require.Equal(t, []string{"b", "out"}, names(t, inside))
	require.Equal(t, []string{"a", "link"}, names(t, dir))
	requireCode(t, wire.IOError, durable.WriteFile(path, []byte("y"), 0o644))

	// What is taken back is what was written, and no other file of that name.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o644))
	p, err := durable.Create(dir+"/link/../other", 0o644)
	require.NoError(t, err)
	require.NoError(t, p.Commit(durable.Same(nil)))
	require.FileExists(t, filepath.Join(inside, "other"))
	p.Remove()
	require.Equal(t, []string{"b", "out"}, names(t, inside))
	require.FileExists(t, filepath.Join(dir, "other"))
	p, err = durable.Create(dir+"/link/../other", 0o644)
	require.NoError(t, err)
	p.Abandon()
	require.Equal(t, []string{"b", "out"}, names(t, inside))
}

// A name as long as the file system takes has a temporary one too, and a longer one is refused.
func TestNamesAsLongAsTheyCanBe(t *testing.T) {
	for _, name := range []string{strings.Repeat("n", 200), strings.Repeat("n", 201), strings.Repeat("n", 255), strings.Repeat("é", 127)} {
		dir := t.TempDir()
		require.NoError(t, durable.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644))
		require.Equal(t, []string{name}, names(t, dir))
	}
	dir := t.TempDir()
	requireCode(t, wire.IOError, durable.WriteFile(filepath.Join(dir, strings.Repeat("n", 256)), []byte("x"), 0o644))
	require.Empty(t, names(t, dir))
}
