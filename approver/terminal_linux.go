package main

import "golang.org/x/sys/unix"

// dropTypedAhead throws away what was typed before the question stood on the screen.
func (t *terminal) dropTypedAhead() {
	unix.IoctlSetInt(int(t.tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
	t.in.Reset(t.tty)
}
