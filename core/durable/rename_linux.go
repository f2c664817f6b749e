package durable

import "golang.org/x/sys/unix"

// renameNoReplace is renameat2 with RENAME_NOREPLACE.
func renameNoReplace(dir int, from, to string) error {
	return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
}
