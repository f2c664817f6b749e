//go:build !linux

package main

import "golang.org/x/sys/unix"

// isControlling tells whether a descriptor is the terminal that controls this process: only that one has its foreground
// group to tell.
func isControlling(fd int) bool {
	_, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil
}
