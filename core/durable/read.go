// Package durable reads and writes the files of a ceremony: inputs that are what they seem, outputs that are whole or not
// there.
//
// An input is a regular file, opened once without blocking, looked at through the open descriptor and read through it, so
// a FIFO, a device or a folder is refused before a byte is read, and what was looked at is what is read (WIRE.md §5).
//
// An output is written beside its place and moved there without replacing anything. The system calls, in order:
//
//	openat(dir, ".NAME.tmp-<random>", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW, mode)
//	fchmod(mode)                       whatever the umask says
//	write … fsync
//	renameat2(tmp, NAME, RENAME_NOREPLACE)
//	                                   where the file system has none: linkat(tmp, NAME), unlinkat(tmp);
//	                                   where it has no links either (FAT): openat(NAME, O_EXCL), write, fsync, unlinkat(tmp)
//	fsync(dir)
//	openat(NAME), read                 what is there is compared with what was written
//
// The temporary file is made before a PIN is asked for, so an output that can't be written is an error before anything is
// signed. A failure at any step removes what was made.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// Open opens a regular file for reading. Errors are INVALID_INPUT for a FIFO, device, socket or folder, NOT_FOUND where
// nothing is there, and IO_ERROR.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wire.Errorf(wire.NotFound, "", "%s: there is no such file", path)
	case errors.Is(err, unix.ENXIO):
		return nil, notRegular(path)
	case err != nil:
		return nil, wire.Errorf(wire.IOError, "", "%w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, nil
	}
	f.Close()
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "%w", err)
	}
	return nil, notRegular(path)
}

func notRegular(path string) error {
	return wire.Errorf(wire.InvalidInput, "", "%s is not a regular file; a FIFO, device or folder is not read", path)
}

// ReadFile reads a regular file of at most most bytes. Errors are those of Open, and INVALID_INPUT for a longer file.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadOpen(f, most)
}

// ReadOpen reads a file that Open gave, of at most most bytes, for whoever looks at it in between. Errors are INVALID_INPUT
// for a longer file, and IO_ERROR.
func ReadOpen(f *os.File, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "%w", err)
	}
	if int64(len(data)) > most {
		return nil, wire.Errorf(wire.InvalidInput, "", "%s is over %d bytes", f.Name(), most)
	}
	return data, nil
}
