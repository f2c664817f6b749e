package main

import "golang.org/x/sys/unix"

// dropTypedAhead throws away what was typed before the question stood on the screen.
func (t *terminal) dropTypedAhead() {
	unix.IoctlSetInt(int(t.tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
	t.in.Reset(t.tty)
}

// isControlling tells whether a descriptor is the terminal that controls this process, the one that /dev/tty is.
func isControlling(fd int) bool {
	_, err := unix.IoctlGetInt(fd, unix.TIOCGSID) // answers for no other
	return err == nil
}
