//go:build unix

package hsm

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// inherited tells whether a descriptor is open and came with the program: one that is closed on exec cannot have.
func inherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// closeInherited closes the descriptors from first on that came with the program, a PIN's among them: a library that is only
// tried is none of those that may read it.
func closeInherited(first int) error {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first && inherited(fd) {
			unix.Close(fd)
		}
	}
	return nil
}
