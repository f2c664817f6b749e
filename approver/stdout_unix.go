//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// keepStdout moves standard output to another descriptor, and has the old one lead to standard error: what a library prints
// must not stand in a signature or in JSON.
func (a *app) keepStdout() {
	moved, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return
	}
	if err := unix.Dup2(2, 1); err != nil {
		unix.Close(moved)
		return
	}
	a.stdout = os.NewFile(uintptr(moved), os.Stdout.Name())
}
