package hsm

import "golang.org/x/sys/unix"

// DropTypedAhead throws away what was typed on a terminal, by its descriptor, before it was asked for (tcflush,
// TCIFLUSH). What is no terminal is left alone.
func DropTypedAhead(fd int) { unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
