//go:build !linux

package main

import "golang.org/x/sys/unix"

// dropTypedAhead throws away what was typed before the question stood on the screen.
func (t *terminal) dropTypedAhead() {
	const fread = 1
	unix.IoctlSetPointerInt(int(t.tty.Fd()), unix.TIOCFLUSH, fread)
	t.in.Reset(t.tty)
}

// isControlling tells whether a descriptor is the terminal that controls this process: only that one has its foreground
// group to tell.
func isControlling(fd int) bool {
	_, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil
}
