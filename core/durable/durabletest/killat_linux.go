package durabletest

import (
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// KillAt runs a process and ends it with SIGKILL at the entry of its nth system call of those numbers, counted from 1, which is
// then not done. It tells whether it came to that; otherwise the process has ended with status 0, or the test fails.
func KillAt(t testing.TB, cmd *exec.Cmd, n int, calls []uint64) (killed bool) {
	t.Helper()
	runtime.LockOSThread() // ptrace knows the tracer by its thread
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Ptrace = true
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
			if enters(tid, calls) {
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

// enters tells whether a thread that stopped at a system call enters one of those.
func enters(tid int, calls []uint64) bool {
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
	return errno == 0 && info.op == entry && slices.Contains(calls, info.number)
}
