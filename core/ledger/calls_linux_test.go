package ledger_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

// changes are the system calls by which files are made, filled, synced, named, removed and locked, and memory of them let go.
var changes = []uint64{unix.SYS_MKDIRAT, unix.SYS_OPENAT, unix.SYS_FLOCK, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE,
	unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_CLOSE, unix.SYS_MUNMAP}

// killAt runs a process and ends it with SIGKILL at the entry of its nth call of those, which is then not done: after each
// call is before the next. It tells whether it came to that; otherwise the process has ended with status 0.
func killAt(t testing.TB, cmd *exec.Cmd, n int) (killed bool) {
	t.Helper()
	runtime.LockOSThread() // ptrace knows the tracer by its thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	require.NoError(t, cmd.Start(), "tracing a process: see ./softhsm-test.sh")
	pid := cmd.Process.Pid
	var status unix.WaitStatus
	_, err := unix.Wait4(pid, &status, unix.WALL, nil)
	require.NoError(t, err)
	require.NoError(t, unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_EXITKILL))
	require.NoError(t, unix.PtraceSyscall(pid, 0))
	for {
		tid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		require.NoError(t, err)
		switch {
		case tid == pid && status.Exited():
			require.Zero(t, status.ExitStatus())
			return false
		case tid == pid && status.Signaled():
			require.Equal(t, unix.SIGKILL, status.Signal())
			return true
		case !status.Stopped():
			continue // a thread that ended
		}
		deliver := status.StopSignal()
		switch {
		case deliver == unix.SIGTRAP|0x80:
			deliver = 0
			if entersChange(tid) {
				if n--; n == 0 {
					require.NoError(t, unix.Kill(pid, unix.SIGKILL))
					continue
				}
			}
		case deliver == unix.SIGTRAP, deliver == unix.SIGSTOP: // a new thread, and its first stop
			deliver = 0
		}
		unix.PtraceSyscall(tid, int(deliver)) // which fails for a thread that was killed meanwhile
	}
}

// entersChange tells whether a thread that stopped at a system call enters one of those in changes.
func entersChange(tid int) bool {
	var info struct { // struct ptrace_syscall_info
		op     uint8
		_      [3]byte
		_      uint32 // arch
		_      [2]uint64
		number uint64
		_      [6]uint64
	}
	const entry = 1 // PTRACE_SYSCALL_INFO_ENTRY
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	return errno == 0 && info.op == entry && slices.Contains(changes, info.number)
}

// A state is what there is before a process records: nothing, or a ledger.
var states = map[string]func(t *testing.T, dir string) uint64{
	"no folder yet": func(*testing.T, string) uint64 { return 0 },
	"a ledger": func(t *testing.T, dir string) uint64 {
		l, receipts := filled(t, dir)
		require.NoError(t, l.Close())
		return uint64(len(receipts))
	},
}

// Killed after each of its system calls in turn, a process that records leaves the ledger as it was or with the whole record;
// what it said was done is there; and the next one records.
func TestKilledWhileRecording(t *testing.T) {
	for name, prepare := range states {
		t.Run(name, func(t *testing.T) {
			seen := map[bool]int{} // whether the record was there
			for n := 1; ; n++ {
				dir := home(t)
				before := prepare(t, dir)
				out := outFile(t)
				killed := killAt(t, recorder(dir, out, "killed"), n)
				l := open(t, dir)
				count := verified(t, l).Head().Seq
				there := count == before+1
				require.True(t, there || count == before, "call %d: %d records, and there were %d", n, count, before)
				if contains(said(t, out), "done") {
					require.True(t, there, "call %d: it said that it was done", n)
				}
				o, err := l.ApprovedSubjects(batch("next", 5), subjects(200, 500), noon+hour)
				require.NoError(t, err)
				require.Equal(t, there, o.Subjects == 200, "call %d", n)
				if err := l.CheckBatch(carol, batch("killed", 300)); there {
					requireCode(t, err, wire.InvalidState, "already-approved")
				} else {
					require.NoError(t, err)
				}
				add(t, l, signing(carol, noon+hour, batch("next", 5)), subjects(0, 5))
				require.Equal(t, count+1, verified(t, reopen(t, l, dir)).Head().Seq)
				require.Equal(t, []string{"ledger.db"}, names(t, dir), "call %d", n)
				seen[there]++
				if !killed {
					break
				}
			}
			t.Logf("killed %d times before the record was there, and %d after", seen[false], seen[true]-1)
			require.Greater(t, seen[false], 15)
			require.Greater(t, seen[true], 3)
		})
	}
}

func names(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// straced runs a process that records under strace with a fault injected, and gives what it said, which calls concern the
// folder, and whether the fault came to pass.
func straced(t *testing.T, dir string, inject ...string) (lines, calls []string, injected, ok bool) {
	t.Helper()
	_, err := exec.LookPath("strace")
	require.NoError(t, err, "run ./softhsm-test.sh, which installs what these tests need")
	trace := filepath.Join(t.TempDir(), "trace")
	out := outFile(t)
	plain := recorder(dir, out, "faulty")
	args := []string{"-f", "-qq", "-y", "-s", "16", "-o", trace, "-e", "trace=mkdirat,openat,write,pwrite64,ftruncate,fsync,fdatasync,renameat,unlinkat"}
	for _, fault := range inject {
		args = append(args, "-e", "inject="+fault)
	}
	cmd := exec.Command("strace", append(args, os.Args[0])...)
	cmd.Env, cmd.Stdout, cmd.Stderr = plain.Env, out, out
	err = cmd.Run()
	if err != nil {
		require.IsType(t, &exec.ExitError{}, err)
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%v", said(t, out))
	}
	log, err := os.ReadFile(trace)
	require.NoError(t, err)
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, dir) {
			calls = append(calls, line)
		}
	}
	return said(t, out), calls, strings.Contains(string(log), "(INJECTED)"), cmd.ProcessState.Success()
}

var callName = regexp.MustCompile(`^\d+ +(\w+)\(`)

// The calls of an append are those of the package comment: new pages, sync, the switch, sync.
func TestCallsOfAnAppend(t *testing.T) {
	dir := home(t)
	states["a ledger"](t, dir)
	_, calls, _, ok := straced(t, dir)
	require.True(t, ok)
	var order []string
	for _, call := range calls {
		name := callName.FindStringSubmatch(call)[1]
		if name == "pwrite64" && regexp.MustCompile(`, 4096, (0|4096)\) = 4096`).MatchString(call) {
			name = "switch"
		}
		order = append(order, name)
	}
	joined := strings.Join(order, " ")
	require.Regexp(t, `( pwrite64)+ fdatasync switch fdatasync$`, joined)
	require.Equal(t, 3, strings.Count(joined, "fdatasync switch fdatasync"), "the room, its freeing, and the record: %s", joined)
}

// Each call that fails in turn: an IO_ERROR, the ledger is as it was, before anything is signed or after, and the next process
// records.
func TestCallsThatFail(t *testing.T) {
	for _, fault := range []string{
		"pwrite64:error=ENOSPC", "ftruncate:error=ENOSPC", "ftruncate:error=EIO", "fdatasync:error=EIO", "fsync:error=EIO",
		"mkdirat:error=EROFS", "renameat:error=EIO",
	} {
		t.Run(fault, func(t *testing.T) {
			for name, prepare := range states {
				failed, appending := 0, 0
				for n := 1; ; n++ {
					dir := home(t)
					before := prepare(t, dir)
					lines, _, injected, ok := straced(t, dir, fmt.Sprintf("%s:when=%d", fault, n))
					if !injected {
						require.True(t, ok, "%v", lines)
						break
					}
					failed++
					require.False(t, ok, "%s: call %d: %v", name, n, lines)
					require.Regexp(t, "^IO_ERROR: ", lines[len(lines)-1])
					require.NotContains(t, lines, "done")
					require.NotContains(t, strings.Join(lines, "\n"), "afterwards:")
					require.NotContains(t, strings.Join(lines, "\n"), "put back")
					if contains(lines, "begun") {
						appending++
					}
					l := open(t, dir)
					require.Equal(t, before, verified(t, l).Head().Seq, "%s: call %d: %v", name, n, lines)
					add(t, l, signing(carol, noon+hour, batch("faulty", 300)), subjects(100, 400))
					verified(t, reopen(t, l, dir))
				}
				t.Logf("%s: %d calls failed, %d of them in Append", name, failed, appending)
				if name == "a ledger" && (strings.HasPrefix(fault, "pwrite64") || strings.HasPrefix(fault, "fdatasync")) {
					require.Greater(t, appending, 1)
				}
			}
		})
	}
}

// mount gives a file system of its own in memory, of that many bytes.
func mount(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		t.Skipf("mounting needs root: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// fill leaves no byte of a file system free.
func fill(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return path
}

// On a disk that is full Begin says so; on one that fills up after Begin, Append finds its room.
func TestFullDisk(t *testing.T) {
	top := mount(t, 64<<20)
	dir := filepath.Join(top, "state")
	l, receipts := filled(t, dir)
	full := fill(t, top)
	e := signing(carol, noon+hour, batch("full", 50_000))
	for range 3 {
		_, err := l.Begin(e, subjects(0, 50_000))
		requireCode(t, err, wire.IOError, "")
		require.ErrorIs(t, err, unix.ENOSPC)
	}
	require.Equal(t, uint64(len(receipts)), verified(t, l).Head().Seq)
	require.NoError(t, os.Remove(full))

	for i, at := range []uint64{noon + hour, noon + 2*hour, noon + 30*hour} { // the last lets go of 100,000 subjects
		e := signing(carol, at, batch(fmt.Sprintf("full%d", i), 50_000))
		p, err := l.Begin(e, subjects(20_000*i, 50_000+20_000*i))
		require.NoError(t, err)
		full = fill(t, top)
		_, err = p.Append(signature(carol))
		require.NoError(t, err)
		require.Equal(t, uint64(len(receipts)+i+1), verified(t, l).Head().Seq)
		require.NoError(t, os.Remove(full))
	}
	l = reopen(t, l, dir)
	verified(t, l)

	other := filepath.Join(top, "other")
	full = fill(t, top)
	_, err := ledger.Open(other)
	requireCode(t, err, wire.IOError, "")
	require.NoError(t, os.Remove(full))
	verified(t, open(t, other))
	require.NoError(t, l.Close())
}

// A medium that is read-only can be read, and is no place to record: that is said before anything is signed.
func TestReadOnlyDisk(t *testing.T) {
	top := mount(t, 16<<20)
	dir := filepath.Join(top, "state")
	l, receipts := filled(t, dir)
	require.NoError(t, l.Close())
	require.NoError(t, unix.Mount("none", top, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	for _, dir := range []string{dir, filepath.Join(top, "other")} {
		_, err := ledger.Open(dir)
		requireCode(t, err, wire.IOError, "")
		require.ErrorIs(t, err, unix.EROFS)
	}
	l, err := ledger.OpenReadOnly(dir)
	require.NoError(t, err)
	require.Equal(t, uint64(len(receipts)), verified(t, l).Head().Seq)
	require.NoError(t, l.Close())
}
