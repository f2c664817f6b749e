//go:build unix

package hsm

import (
	"os/exec"
	"syscall"
)

// inGroup puts the child into a process group, and has the end of its context kill all of it: the library may have started
// programs.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

func closeOnExec(fd int) { syscall.CloseOnExec(fd) }
