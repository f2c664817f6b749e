package hsm

import "golang.org/x/sys/unix"

// dropTypedAhead throws away what was typed on a terminal before it was asked for.
func dropTypedAhead(fd int) { unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
