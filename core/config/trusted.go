package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// ReadTrusted reads a file that decides something, of at most most bytes: a regular file that nobody but root and the user
// could have changed. It belongs to one of them and neither its group nor others can write it, and the same holds of every
// folder on the way to it, through symbolic links too; a sticky folder (such as /tmp) may be writable, since nobody can
// exchange another's file there. The file is looked at through the descriptor it is read from. Errors are
// INVALID_CONFIG for a longer file, or naming owner and mode as found and as wanted; else those of durable.Open.
func ReadTrusted(path string, most int64) ([]byte, error) {
	f, err := openTrusted(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := durable.ReadOpen(f, most)
	if wire.CodeOf(err) == wire.InvalidInput { // too long
		return nil, wire.Errorf(wire.InvalidConfig, "", "%s", wire.MessageOf(err))
	}
	return data, err
}

// checkTrusted is ReadTrusted without reading.
func checkTrusted(path string) error {
	f, err := openTrusted(path)
	if err != nil {
		return err
	}
	return f.Close()
}

func openTrusted(path string) (*os.File, error) {
	f, err := durable.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkOwner(path, info)
	}
	if err == nil {
		err = checkFolders(path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// checkFolders looks at every folder in which a name of the path is looked up, from the root down and through each symbolic
// link: whoever can change one of them chooses where the path leads, if only to an older file, a file of another purpose, or
// to none.
func checkFolders(path string) error {
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			return wire.Errorf(wire.IOError, "", "%w", err)
		}
		path = here + "/" + path // unlike Join: what ".." leads to is not a matter of text where there are links
	}
	at, names := "/", strings.Split(path, "/")
	for links := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		to, err := step(at, name)
		switch {
		case err != nil:
			return err
		case to == "":
			at = filepath.Join(at, name)
			continue
		case links == mostLinks:
			return wire.Errorf(wire.InvalidConfig, "", "%s: more than %d symbolic links", path, mostLinks)
		case filepath.IsAbs(to):
			at = "/"
		}
		links++
		names = append(strings.Split(to, "/"), names...)
	}
	return nil
}

// mostLinks is how many symbolic links Linux follows in one path.
const mostLinks = 40

// step looks a name up in a folder that nobody else can change. to is what it says where it is a symbolic link, which must
// be the user's or root's: in a sticky folder there may be those of others.
func step(folder, name string) (to string, err error) {
	if err := checkFolder(folder); err != nil {
		return "", err
	}
	path := filepath.Join(folder, name)
	info, err := os.Lstat(path)
	if err != nil {
		return "", wire.Errorf(wire.IOError, "", "%w", err)
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return "", nil
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return "", wire.Errorf(wire.InvalidConfig, "", "the symbolic link %s is of another user", path)
	}
	if to, err = os.Readlink(path); err != nil {
		return "", wire.Errorf(wire.IOError, "", "%w", err)
	}
	return to, nil
}

// checkFolder refuses a folder in which others could exchange files.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wire.Errorf(wire.NotFound, "", "%s: there is no such folder", path)
	case err != nil:
		return wire.Errorf(wire.IOError, "", "%w", err)
	case !info.IsDir():
		return wire.Errorf(wire.InvalidConfig, "", "%s is not a folder", path)
	}
	return checkOwner(path, info)
}

// othersWrite are the mode bits that let the group or others write.
const othersWrite = 0o022

func checkOwner(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return wire.Errorf(wire.Unsupported, "", "%s: this system does not say who owns a file", path)
	}
	user := os.Geteuid()
	var wanted, mend []string
	if owner := int(stat.Uid); owner != 0 && owner != user {
		wanted = append(wanted, fmt.Sprintf("owner 0 (root) or %d (you)", user))
		mend = append(mend, fmt.Sprintf("chown %d", user))
	}
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	if info.Mode().Perm()&othersWrite != 0 && !sticky {
		wanted = append(wanted, fmt.Sprintf("mode %04o", info.Mode().Perm()&^othersWrite))
		mend = append(mend, "chmod go-w")
	}
	if wanted == nil {
		return nil
	}
	what := "file"
	if info.IsDir() {
		what = "folder"
	}
	return wire.Errorf(wire.InvalidConfig, "", "others can change the %s %s: owner %d, mode %04o; wanted: %s (%s)", what, path,
		stat.Uid, info.Mode().Perm(), strings.Join(wanted, ", "), strings.Join(mend, "; ")).
		With("path", path).With("owner", stat.Uid).With("mode", fmt.Sprintf("%04o", info.Mode().Perm()))
}
