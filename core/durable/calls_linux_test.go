package durable_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// straced lets a process write "content" to the file "out" of a folder under strace, with faults injected, and gives the
// folder, the calls that concern the folder, and whether it succeeded.
func straced(t *testing.T, inject ...string) (dir string, calls []string, ok bool) {
	t.Helper()
	_, err := exec.LookPath("strace")
	require.NoError(t, err, "run ./softhsm-test.sh, which installs what these tests need")
	dir = t.TempDir()
	trace := filepath.Join(t.TempDir(), "trace")
	args := []string{"-f", "-qq", "-o", trace, "-e", "trace=openat,fchmod,write,copy_file_range,fsync,renameat2,linkat,unlinkat,close", "-y"}
	for _, fault := range inject {
		args = append(args, "-e", "inject="+fault)
	}
	cmd := exec.Command("strace", append(args, os.Args[0])...)
	cmd.Env = append(os.Environ(), writerVariable+"="+filepath.Join(dir, "out"))
	cmd.Stdin = strings.NewReader("content")
	text, err := cmd.CombinedOutput()
	_, exited := err.(*exec.ExitError)
	require.True(t, err == nil || exited, "%v", err)
	log, err := os.ReadFile(trace)
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(log), "\n") {
		if strings.Contains(line, dir) {
			calls = append(calls, plain(line, dir))
		}
	}
	require.NotEmpty(t, calls, "%s", text)
	if cmd.ProcessState.ExitCode() != 0 {
		require.Regexp(t, "^IO_ERROR: ", string(text))
	}
	return dir, calls, cmd.ProcessState.Success()
}

var (
	processID = regexp.MustCompile(`^\d+ +`)
	random    = regexp.MustCompile(`\.out\.tmp-[A-Z2-7]{8}`)
	number    = regexp.MustCompile(`\d+<([^>]*)>`)
	spaces    = regexp.MustCompile(` +`)
)

// plain puts a line of strace into the words of the package comment.
func plain(line, dir string) string {
	line = processID.ReplaceAllString(line, "")
	line = random.ReplaceAllString(line, "TMP")
	line = number.ReplaceAllString(line, "$1")
	line = strings.ReplaceAll(strings.ReplaceAll(line, dir+"/", ""), dir, "DIR")
	return strings.Replace(spaces.ReplaceAllString(line, " "), "AT_FDCWD</", "AT_FDCWD, </", 1)
}

// The calls are those of the package comment, in its order.
func TestCallsInOrder(t *testing.T) {
	dir, calls, ok := straced(t)
	require.True(t, ok)
	require.Equal(t, []string{
		`openat(DIR, "TMP", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0640) = TMP`,
		`fchmod(TMP, 0640) = 0`,
		`write(TMP, "content", 7) = 7`,
		`fsync(TMP) = 0`,
		`renameat2(DIR, "TMP", DIR, "out", RENAME_NOREPLACE) = 0`,
		`fsync(DIR) = 0`,
	}, without(calls, "close(", `, "DIR", `, `, "out", O_RDONLY`))
	requireOutput(t, dir)
}

// without leaves out the calls that make no difference to what is on the disk.
func without(calls []string, parts ...string) (rest []string) {
next:
	for _, call := range calls {
		for _, part := range parts {
			if strings.Contains(call, part) {
				continue next
			}
		}
		rest = append(rest, call)
	}
	return rest
}

func requireOutput(t *testing.T, dir string) {
	t.Helper()
	require.Equal(t, []string{"out"}, names(t, dir))
	data, err := os.ReadFile(filepath.Join(dir, "out"))
	require.NoError(t, err)
	require.Equal(t, "content", string(data))
	info, err := os.Stat(filepath.Join(dir, "out"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}

// File systems that lack a call: the output is there all the same.
func TestCallsThatAreMissing(t *testing.T) {
	for name, faults := range map[string][]string{
		"no rename without replacing": {"renameat2:error=EINVAL"},
		"an old kernel":               {"renameat2:error=ENOSYS"},
		"no links either (FAT)":       {"renameat2:error=EINVAL", "linkat:error=EPERM"},
		"no links, in other words":    {"renameat2:error=EINVAL", "linkat:error=EOPNOTSUPP"},
		"a folder that does not sync": {"fsync:error=EINVAL:when=2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, calls, ok := straced(t, faults...)
			require.True(t, ok, "%s", strings.Join(calls, "\n"))
			require.Contains(t, strings.Join(calls, "\n"), "(INJECTED)")
			requireOutput(t, dir)
		})
	}
}

// Each call that fails in turn: an IO_ERROR, and nothing is left.
func TestCallsThatFail(t *testing.T) {
	const noRename, noLink = "renameat2:error=EINVAL", "linkat:error=EPERM"
	for name, faults := range map[string][]string{
		"fchmod":                       {"fchmod:error=EPERM"},
		"write":                        {"write:error=ENOSPC:when=1"},
		"fsync of the file":            {"fsync:error=EIO:when=1"},
		"rename":                       {"renameat2:error=EXDEV"},
		"link":                         {noRename, "linkat:error=EIO"},
		"unlink after link":            {noRename, "unlinkat:error=EIO:when=1"},
		"write of the copy":            {noRename, noLink, "copy_file_range:error=ENOSPC"},
		"fsync of the copy":            {noRename, noLink, "fsync:error=EIO:when=2"},
		"unlink after the copy":        {noRename, noLink, "unlinkat:error=EIO:when=1"},
		"fsync of the folder":          {"fsync:error=EIO:when=2"},
		"fsync of the folder, by link": {noRename, "fsync:error=EIO:when=2"},
		"fsync of the folder, by copy": {noRename, noLink, "fsync:error=EIO:when=3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, calls, ok := straced(t, faults...)
			require.Contains(t, strings.Join(calls, "\n"), "(INJECTED)")
			require.False(t, ok, "%s", strings.Join(calls, "\n"))
			require.Empty(t, names(t, dir), "%s", strings.Join(calls, "\n"))
		})
	}
}
