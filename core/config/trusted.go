package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// ReadTrusted reads a file that decides something, of at most most bytes: a regular file that nobody but root and the user
// could have changed. It belongs to one of them and neither its group nor others can write it, and the same holds of the
// folder it lies in, and of the folder of a symbolic link that leads to it; a sticky folder (such as /tmp) may be writable,
// since nobody can exchange another's file there. The file is looked at through the descriptor it is read from. Errors are
// INVALID_CONFIG naming owner and mode as found and as wanted, else those of durable.Open.
func ReadTrusted(path string, most int64) ([]byte, error) {
	f, err := openTrusted(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "%w", err)
	}
	if int64(len(data)) > most {
		return nil, wire.Errorf(wire.InvalidConfig, "", "%s is over %d bytes", path, most)
	}
	return data, nil
}

// CheckTrusted is ReadTrusted without reading.
func CheckTrusted(path string) error {
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

// checkFolders looks at the folder that path names and, where path is a symbolic link, at the one that the file lies in.
func checkFolders(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return wire.Errorf(wire.IOError, "", "%w", err)
	}
	for _, folder := range []string{filepath.Dir(path), filepath.Dir(real)} {
		if err := checkFolder(folder); err != nil {
			return err
		}
	}
	return nil
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
