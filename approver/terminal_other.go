//go:build !linux

package main

import "golang.org/x/sys/unix"

// dropTypedAhead throws away what was typed before the question stood on the screen.
func (t *terminal) dropTypedAhead() {
	const fread = 1
	unix.IoctlSetPointerInt(int(t.tty.Fd()), unix.TIOCFLUSH, fread)
	t.in.Reset(t.tty)
}
