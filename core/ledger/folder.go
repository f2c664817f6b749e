package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// A folder is the state folder, held open and locked.
type folder struct {
	dir  *os.File
	path string
}

// lockWait is how long another process may hold the folder before the wait ends.
const lockWait = 2 * time.Second

// openFolder opens a state folder that nobody but the user and root can write, and locks it: for this process alone, or to
// be shared with other readers. With create it is made where it is not there. Where it is locked for this process alone others
// can not even read it: whoever can open a folder can lock it, and so keep anybody from signing.
func openFolder(path string, create, alone bool) (*folder, error) {
	if create {
		if err := makeFolder(path); err != nil {
			return nil, ioError(err)
		}
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		if _, link := os.Readlink(path); link == nil {
			return nil, unsafeState("%s is a symbolic link that leads nowhere", path)
		}
		return nil, noLedger(path)
	case err != nil:
		return nil, ioError(&fs.PathError{Op: "open", Path: path, Err: err})
	}
	f := &folder{os.NewFile(uintptr(fd), path), path}
	if err = f.checkOwn(f.dir, path, unix.S_IFDIR); err == nil && alone {
		err = f.checkPrivate()
	}
	if err == nil {
		err = f.lock(alone)
	}
	if err != nil {
		f.dir.Close()
		return nil, err
	}
	return f, nil
}

// makeFolder makes a folder and those above it that are not there, each so that it stays when the power fails.
func makeFolder(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(path)
	if err := makeFolder(above); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := os.Open(above)
	if err != nil {
		return err
	}
	defer dir.Close()
	return syncFolder(dir)
}

// syncFolder makes the names in a folder durable. Some file systems cannot and have no need to.
func syncFolder(dir *os.File) error {
	if err := dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

// checkOwn refuses what others could have changed: of another type, of another owner than the user or root, or writable by
// group or others.
func (f *folder) checkOwn(open *os.File, path string, kind uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(open.Fd()), &st); err != nil {
		return ioError(err)
	}
	switch mode := uint32(st.Mode); {
	case mode&unix.S_IFMT != kind:
		return unsafeState("%s is not a regular file", path)
	case st.Uid != uint32(os.Geteuid()) && st.Uid != 0:
		return unsafeState("%s belongs to user %d; a ledger belongs to whoever uses it", path, st.Uid)
	case mode&0o022 != 0:
		return unsafeState("others can write %s (mode %04o); wanted: chmod go-w", path, mode&0o7777)
	case kind == unix.S_IFREG && st.Nlink != 1:
		return unsafeState("%s has %d names; a ledger has one", path, st.Nlink)
	}
	return nil
}

// checkPrivate refuses a folder that others can open.
func (f *folder) checkPrivate() error {
	info, err := f.dir.Stat()
	if err != nil {
		return ioError(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return unsafeState("others can open %s (mode %04o), and lock it; wanted: chmod 700", f.path, mode)
	}
	return nil
}

func (f *folder) lock(alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.dir.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return ioError(&fs.PathError{Op: "lock", Path: f.path, Err: err})
		case time.Since(start) > lockWait:
			return inUse(f.path)
		}
	}
}

// open opens a file of the folder by its own name, never through a symbolic link.
func (f *folder) open(name string, flag int) (*os.File, error) {
	path := filepath.Join(f.path, name)
	fd, err := unix.Openat(int(f.dir.Fd()), name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, unsafeState("%s is a symbolic link; a ledger is a file", path)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(fd), path)
	if err := f.checkOwn(file, path, unix.S_IFREG); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// IsElsewhere tells whether there is a ledger in the folder usual, and given is another folder.
func IsElsewhere(given, usual string) bool {
	if _, err := os.Lstat(filepath.Join(usual, storeName)); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	u, err := os.Stat(usual)
	g, errGiven := os.Stat(given)
	return err != nil || errGiven != nil || !os.SameFile(u, g)
}

// at gives an error of a name in the folder the whole path.
func (f *folder) at(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: filepath.Join(f.path, name), Err: err}
}

// has tells whether something has a name in the folder.
func (f *folder) has(name string) (bool, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(f.dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	return err == nil, f.at("look at", name, err)
}

// holds refuses to write where nobody would find it: the folder or the store was moved, removed or replaced since it was opened.
// The lock is on what was opened, so another process may have begun another ledger there meanwhile.
func (f *folder) holds(store *os.File) error {
	for _, held := range []struct {
		path string
		open *os.File
	}{{f.path, f.dir}, {filepath.Join(f.path, storeName), store}} {
		ours, err := held.open.Stat()
		if err != nil {
			return ioError(err)
		}
		there, err := os.Stat(held.path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(ours, there):
			return unsafeState("the ledger in %s was moved, removed or replaced since this review began; nothing is recorded", f.path)
		case err != nil:
			return ioError(err)
		}
	}
	return nil
}

func ioError(err error) error { return wire.Errorf(wire.IOError, "", "ledger: %w", err) }

func noLedger(path string) error {
	return wire.Errorf(wire.NotFound, "", "%s: there is no ledger", path)
}

func inUse(path string) error {
	return wire.Errorf(wire.InvalidState, "ledger-in-use", "another process has the ledger in %s open", path)
}

func unsafeState(format string, args ...any) error {
	return wire.Errorf(wire.InvalidState, "", format, args...)
}
