package ledger_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ledger"
)

const waitLong, waitTick = 30 * time.Second, 10 * time.Millisecond

func outFile(t testing.TB) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "out")
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func contains(list []string, line string) bool { return slices.Contains(list, line) }

// A process of its own records one signed batch in the folder that this variable names, and says on standard output how far
// it came: opened, begun, done, closed. It waits before what the other variable names until its standard input ends.
const (
	recorderFolder = "LEDGER_TEST_RECORD"
	recorderWaits  = "LEDGER_TEST_WAIT"
	recorderBatch  = "LEDGER_TEST_BATCH"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(recorderFolder)
	if dir == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // strace counts the calls of each thread
	if err := record(dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func record(dir string) error {
	wait := func(step string) {
		if os.Getenv(recorderWaits) == step {
			os.Stdin.Read(make([]byte, 1))
		}
	}
	l, err := ledger.Open(dir)
	if err != nil {
		return err
	}
	fmt.Println("opened")
	b := batch(os.Getenv(recorderBatch), 300)
	p, err := l.Begin(signing(carol, noon+hour, b), subjects(100, 400))
	if err != nil {
		return err
	}
	fmt.Println("begun")
	wait("append")
	if _, err = p.Append(signature(carol)); err != nil {
		// What failed is not there, and whoever asks this process is told so.
		if again := l.CheckBatch(carol, b); again != nil {
			fmt.Println("afterwards:", again)
		}
		return err
	}
	fmt.Println("done")
	if err := l.Close(); err != nil {
		return err
	}
	fmt.Println("closed")
	return nil
}

// recorder gives the command of such a process, which writes to out.
func recorder(dir string, out *os.File, id string, more ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), recorderFolder+"="+dir, recorderBatch+"="+id, "GOMAXPROCS=1", "GOGC=off")
	cmd.Env = append(cmd.Env, more...)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}

// said gives what a process wrote to a file.
func said(t testing.TB, out *os.File) []string {
	t.Helper()
	data, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// Two processes want to record at once: one does, the other is told, and neither is lost.
func TestTwoProcesses(t *testing.T) {
	dir := home(t)
	l, receipts := filled(t, dir)
	require.NoError(t, l.Close())
	first := outFile(t)
	cmd := recorder(dir, first, "p1", recorderWaits+"=append")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return contains(said(t, first), "begun") }, waitLong, waitTick)

	second := outFile(t)
	require.Error(t, recorder(dir, second, "p2").Run())
	require.Equal(t, []string{"INVALID_STATE: another process has the ledger in " + dir + " open"}, said(t, second))
	stdin.Close()
	require.NoError(t, cmd.Wait())
	require.NoError(t, recorder(dir, second, "p2").Run())
	require.Contains(t, said(t, second), "done")
	require.Equal(t, uint64(len(receipts)+2), verified(t, open(t, dir)).Head().Seq)
}

// Many at once, none of which waits for a person: each is recorded, in one chain.
func TestProcessesInTurn(t *testing.T) {
	dir := home(t)
	var cmds []*exec.Cmd
	for i := range 4 {
		cmds = append(cmds, recorder(dir, outFile(t), fmt.Sprintf("p%d", i)))
		require.NoError(t, cmds[i].Start())
	}
	taken := uint64(0)
	for _, cmd := range cmds {
		if cmd.Wait() == nil {
			taken++
		}
	}
	require.Positive(t, taken)
	require.Equal(t, taken, verified(t, open(t, dir)).Head().Seq)
}
