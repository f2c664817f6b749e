//go:build unix

package hsm

import "golang.org/x/sys/unix"

// inherited tells whether a descriptor is open and came with the program: one that is closed on exec cannot have.
func inherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}
