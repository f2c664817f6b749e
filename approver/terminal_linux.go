package main

import "golang.org/x/sys/unix"

// isControlling tells whether a descriptor is the terminal that controls this process, the one that /dev/tty is.
func isControlling(fd int) bool {
	_, err := unix.IoctlGetInt(fd, unix.TIOCGSID) // answers for no other
	return err == nil
}
