//go:build linux && !cgo

package main

import "golang.org/x/sys/unix"

// closed tells whether a standard stream was closed by whoever started the program, as far as a build without cgo can: Go
// opens /dev/null in its place, for reading and writing, before anything here runs. One that was handed over like that is
// taken for closed too; a shell opens it for writing only.
func closed(fd int) bool {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFCHR || stat.Rdev != unix.Mkdev(1, 3) {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}
