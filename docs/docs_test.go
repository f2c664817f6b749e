//go:build unix

package docs_test

import (
	"context"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var binaries string // the folder of the built approver

var buildApprover = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "build", "-o", binaries+"/", "../approver").CombinedOutput()
	return string(out), err
})

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "approver-docs"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(binaries)
	os.Exit(status)
}

// A desk is where a page's commands run: a folder with the examples, approver on PATH, and a SoftHSM without tokens. A page
// has one shell, as its reader has: folder, exported variables, functions and mask of a block are those of the next.
type desk struct {
	dir   string
	shell string // the file that holds the shell's state between blocks
}

func newDesk(t *testing.T) desk {
	t.Helper()
	out, err := buildApprover()
	require.NoError(t, err, out)
	d := desk{dir: t.TempDir(), shell: filepath.Join(t.TempDir(), "shell")}
	require.NoError(t, os.WriteFile(d.shell, []byte("umask 022\n"), 0o600))
	for _, name := range []string{"examples", "golden/interop"} {
		require.NoError(t, os.CopyFS(filepath.Join(d.dir, name), os.DirFS(filepath.Join("..", name))))
	}
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.Mkdir(tokens, 0o700))
	require.NoError(t, os.WriteFile(tokens+".conf", []byte("directories.tokendir = "+tokens+"\nobjectstore.backend = file\nlog.level = ERROR\n"), 0o600))
	t.Setenv("SOFTHSM2_CONF", tokens+".conf")
	return d
}

// keepShell goes on where the block before ended, and keeps where this one ends; $0 is the file of the state.
const keepShell = `. "$0"
trap 'status=$?; { export -p; declare -f; umask -p; printf "cd %q\n" "$PWD"; } >"$0"; exit $status' EXIT
`

// run runs a block without a terminal and gives what it printed and its status.
func (d desk) run(t *testing.T, b *block) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	code := b.code
	if b.language == "go" {
		formatted, err := format.Source([]byte(b.code))
		require.NoError(t, err)
		require.Equal(t, string(formatted), b.code, "line %d: not formatted", b.line)
		program := filepath.Join(t.TempDir(), "main")
		require.NoError(t, os.WriteFile(program+".go", []byte(b.code), 0o600))
		build := exec.CommandContext(ctx, "go", "build", "-o", program, program+".go") // here, where the module is
		printed, err := build.CombinedOutput()
		require.NoError(t, err, "line %d: %s", b.line, printed)
		code = "'" + program + "'\n" // it finds the files that commands made
	}
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", keepShell+code, d.shell)
	c.Dir = d.dir
	c.Env = append(os.Environ(), "PATH="+binaries+":"+os.Getenv("PATH"), "TMPDIR="+d.dir, "LC_ALL=C.UTF-8", "TZ=UTC",
		"APPROVER_CONFIG=", "XDG_CONFIG_HOME="+filepath.Join(d.dir, ".config"), "XDG_STATE_HOME="+filepath.Join(d.dir, ".state"),
		"BETTER_COMPUTE_APPROVER_KEYS=", "BETTER_COMPUTE_APPROVER_THRESHOLD=", "BETTER_COMPUTE_UNBATCHED_PER_HOUR=",
		"BETTER_COMPUTE_APPROVER_SET_SIGNATURES=", "BETTER_COMPUTE_TRUST_VERSION=") // whatever the developer has configured is not the page's
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // whatever terminal the tests have is not the page's
	out, err := c.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		require.NoError(t, err)
	}
	return string(out), c.ProcessState.ExitCode()
}

func TestEveryCommandOfTheDocumentationRuns(t *testing.T) {
	ran := 0
	all := pages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			found := blocks(t, all[name])
			if len(found) == 0 {
				return
			}
			d := newDesk(t)
			for _, b := range found {
				out, status := d.run(t, b)
				require.Equal(t, b.status, status, "line %d ended with status %d:\n%s\n%s", b.line, status, b.code, out)
				requireOutput(t, b, out)
				ran++
			}
		})
	}
	require.Greater(t, ran, 20, "the pages run next to nothing")
}
