package hsm

import (
	"errors"
	"io"
	"io/fs"

	"github.com/better-compute/approver/core/wire"
)

// readPrivate reads a file that holds a secret: a regular file, opened once without blocking, looked at and read through
// that one descriptor (WIRE.md §5), that nobody but its owner can touch. what names it in errors. Errors are
// INVALID_INPUT for anything but a regular file of at most limit bytes, INVALID_STATE where others can read or change it,
// NOT_FOUND and IO_ERROR.
func readPrivate(what, path string, limit int64) ([]byte, error) {
	f, err := openNonblocking(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wire.Errorf(wire.NotFound, "", "the %s cannot be found: %w", what, err)
	} else if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "the %s cannot be opened: %w", what, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "the %s cannot be looked at: %w", what, err)
	}
	if !info.Mode().IsRegular() {
		return nil, wire.Errorf(wire.InvalidInput, "", "the %s %q is not a regular file", what, path)
	}
	if err := checkPrivate(what, path, info); err != nil {
		return nil, err
	}
	return readUpTo(what, f, limit)
}

// readUpTo reads 0 to limit bytes to the end of r. It never leaves a copy of what it read behind.
func readUpTo(what string, r io.Reader, limit int64) ([]byte, error) {
	buf := make([]byte, limit+1)
	n, err := io.ReadFull(r, buf)
	switch {
	case err == nil:
		clear(buf)
		return nil, wire.Errorf(wire.InvalidInput, "", "the %s is longer than %d bytes", what, limit)
	case err != io.ErrUnexpectedEOF && err != io.EOF:
		clear(buf)
		return nil, wire.Errorf(wire.IOError, "", "the %s cannot be read: %w", what, err)
	}
	return buf[:n], nil
}
