package durable

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// A Pending is an output that has a place but no name yet. Commit names it, Abandon removes it.
type Pending struct {
	path string
	base string // the last part of path
	dir  *os.File
	file *os.File
	tmp  string // name in dir, until the output has its own
	mode fs.FileMode
}

// Create begins an output at path with exactly that mode. Errors are IO_ERROR: something is there already, a symbolic link
// included, or the folder can't be written.
func Create(path string, mode fs.FileMode) (*Pending, error) {
	if path == "" {
		return nil, ioError(errors.New("the output has no name"))
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, exists(path)
	}
	folder, name := split(path)
	dir, err := os.Open(folder)
	if err != nil {
		return nil, ioError(err)
	}
	p := &Pending{path: path, base: name, dir: dir, tmp: "." + name[:min(len(name), longestNamed)] + ".tmp-" + rand.Text()[:8], mode: mode}
	p.file, err = p.open(p.tmp)
	if err == nil {
		note(func(paths []string) []string { return append(paths, p.file.Name()) })
		err = p.file.Chmod(mode)
	}
	if err != nil {
		p.Abandon()
		return nil, ioError(err)
	}
	return p, nil
}

// longestNamed bounds what a temporary name keeps of the name, so that a name as long as the file system takes has one.
const longestNamed = 200

// split parts a path at its last slash and cleans nothing: after a symbolic link ".." is not where the text says.
func split(path string) (folder, name string) {
	i := strings.LastIndexByte(path, '/')
	switch {
	case i < 0:
		return ".", path
	case i == 0:
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}

func (p *Pending) open(name string) (*os.File, error) {
	fd, err := unix.Openat(int(p.dir.Fd()), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(p.mode.Perm()))
	folder, _ := split(p.path)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: folder + "/" + name, Err: err}
	}
	return os.NewFile(uintptr(fd), folder+"/"+name), nil
}

func exists(path string) error {
	return wire.Errorf(wire.IOError, "", "%s is there already; nothing is overwritten", path)
}

func ioError(err error) error { return wire.Errorf(wire.IOError, "", "%w", err) }

// Write appends to the output. The error is an IO_ERROR.
func (p *Pending) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	if err != nil {
		return n, ioError(err)
	}
	return n, nil
}

// Path gives where the output will be.
func (p *Pending) Path() string { return p.path }

// Abandon removes what was made. After Commit it does nothing.
func (p *Pending) Abandon() {
	if p.dir == nil {
		return
	}
	if p.file != nil {
		p.file.Close()
	}
	if p.file != nil && p.tmp != "" {
		unix.Unlinkat(int(p.dir.Fd()), p.tmp, 0)
	}
	if p.file != nil {
		note(func(paths []string) []string {
			return slices.DeleteFunc(paths, func(path string) bool { return path == p.file.Name() })
		})
	}
	p.dir.Close()
	p.dir = nil
}

// Commit syncs the output, gives it its name without replacing anything, and reads it back. check is called with what was
// read and may refuse it. The error is an IO_ERROR, or check's own; nothing of the output is then left.
func (p *Pending) Commit(check func(io.Reader) error) error {
	defer p.Abandon()
	if err := p.file.Sync(); err != nil {
		return ioError(err)
	}
	if err := p.name(); err != nil {
		return err
	}
	p.tmp = ""
	err := p.dir.Sync()
	if err != nil && !errors.Is(err, unix.EINVAL) { // some file systems can't sync a folder
		err = ioError(err)
	} else {
		err = p.readBack(check)
	}
	if err != nil {
		unix.Unlinkat(int(p.dir.Fd()), p.base, 0)
	}
	return err
}

// name moves the temporary file to its place by the first of three ways that the file system has.
func (p *Pending) name() error {
	dir, name := int(p.dir.Fd()), p.base
	err := renameNoReplace(dir, p.tmp, name)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		if err = unix.Linkat(dir, p.tmp, dir, name, 0); err == nil {
			err = p.dropTemporary(name)
		} else if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
			err = p.copyInto(name)
		}
	}
	if errors.Is(err, unix.EEXIST) {
		return exists(p.path)
	}
	if err != nil {
		return wire.Errorf(wire.IOError, "", "naming %s: %w", p.path, err)
	}
	return nil
}

// copyInto writes the output once more under its name, for file systems without links.
func (p *Pending) copyInto(name string) error {
	in, err := os.Open(p.file.Name())
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := p.open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		unix.Unlinkat(int(p.dir.Fd()), name, 0)
		return err
	}
	return p.dropTemporary(name)
}

// dropTemporary removes the temporary file of an output that has its name, or else the name too.
func (p *Pending) dropTemporary(name string) error {
	err := unix.Unlinkat(int(p.dir.Fd()), p.tmp, 0)
	if err != nil {
		unix.Unlinkat(int(p.dir.Fd()), name, 0)
	}
	return err
}

func (p *Pending) readBack(check func(io.Reader) error) error {
	f, err := Open(p.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return check(f)
}

// WriteFile writes data to path in one go: Create, Write, Commit, and what is read back is data. Errors are IO_ERROR.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	p, err := Create(path, mode)
	if err != nil {
		return err
	}
	defer p.Abandon()
	if _, err := p.Write(data); err != nil {
		return err
	}
	return p.Commit(Same(data))
}

// Same is a check for Commit: what is read back is data.
func Same(data []byte) func(io.Reader) error {
	return func(r io.Reader) error {
		back, err := io.ReadAll(r)
		if err != nil {
			return ioError(err)
		}
		if !bytes.Equal(back, data) {
			return ioError(fmt.Errorf("what was read back differs from what was written"))
		}
		return nil
	}
}

// Remove takes back an output that was committed, because one that belongs to it could not be.
func (p *Pending) Remove() { os.Remove(p.path) }
