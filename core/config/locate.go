package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/better-compute/approver/core/wire"
)

// PathVariable is the environment variable that names the configuration file where no flag does.
const PathVariable = "APPROVER_CONFIG"

// locate gives the path of the configuration file, or "" where there is none, and what named it. A file that is named by
// the flag or the variable must be there; one in the default place may be absent. A relative XDG_CONFIG_HOME is ignored, as
// the XDG Base Directory Specification says, and a relative HOME with it.
//
// passed is the file in the default place where another one is named, "" where there is none or it is the same.
func locate(named string, getenv func(string) string) (path, by, passed string, err error) {
	path, by, err = byDefault(getenv)
	passed = path
	switch variable := getenv(PathVariable); {
	case named != "":
		path, by, err = named, "--config", nil
	case variable != "":
		path, by, err = variable, PathVariable, nil
	default:
		return path, by, "", err
	}
	if passed != "" && samePath(path, passed) {
		passed = ""
	}
	return path, by, passed, nil
}

// byDefault gives the file in the default place, "" where none is there.
func byDefault(getenv func(string) string) (path, by string, err error) {
	by = "XDG_CONFIG_HOME"
	base := getenv(by)
	folder := base
	if !filepath.IsAbs(folder) {
		by = "HOME"
		if base = getenv(by); !filepath.IsAbs(base) {
			return "", "", nil
		}
		folder = filepath.Join(base, ".config")
	}
	if info, err := os.Stat(base); err == nil && !info.IsDir() { // HOME=/dev/null says that there is no home
		return "", "", nil
	}
	path = filepath.Join(folder, "approver", "config.toml")
	_, err = os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = dangling(folder, filepath.Dir(path))
		if err == nil {
			return "", "", nil
		}
	}
	if err != nil { // somebody may have configured something: not to look would drop it
		return "", "", wire.Errorf(wire.IOError, "", "whether there is a configuration cannot be told: %w", err)
	}
	return path, by, nil
}

// dangling tells of a folder that is a symbolic link to nothing: what was configured behind it is gone.
func dangling(folders ...string) error {
	for _, folder := range folders {
		if _, err := os.Lstat(folder); err == nil {
			if _, err := os.Stat(folder); err != nil {
				return err
			}
		}
	}
	return nil
}
