//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package hsm

import "golang.org/x/sys/unix"

// DropTypedAhead throws away what was typed on a terminal, by its descriptor, before it was asked for (TIOCFLUSH). What is
// no terminal is left alone.
func DropTypedAhead(fd int) {
	const fread = 1
	unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}
