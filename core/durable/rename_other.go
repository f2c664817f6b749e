//go:build !linux

package durable

import "golang.org/x/sys/unix"

// renameNoReplace tells that there is no such call; a link does the same.
func renameNoReplace(int, string, string) error { return unix.ENOSYS }
