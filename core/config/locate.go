package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/better-compute/approver/core/wire"
)

// PathVariable is the environment variable that names the configuration file where no flag does.
const PathVariable = "APPROVER_CONFIG"

// locate gives the path of the configuration file, or "" where there is none, and what named it. A file that is named by
// the flag or the variable must be there; one in the default place may be absent. A relative XDG_CONFIG_HOME is ignored, as
// the XDG Base Directory Specification says, and a relative HOME with it.
func locate(named string, getenv func(string) string) (path, by string, err error) {
	if named != "" {
		return named, "--config", nil
	}
	if path = getenv(PathVariable); path != "" {
		return path, PathVariable, nil
	}
	by = "XDG_CONFIG_HOME"
	folder := getenv(by)
	if !filepath.IsAbs(folder) {
		by = "HOME"
		home := getenv(by)
		if !filepath.IsAbs(home) {
			return "", "", nil
		}
		folder = filepath.Join(home, ".config")
	}
	path = filepath.Join(folder, "approver", "config.toml")
	switch _, err = os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", "", nil
	case err != nil: // somebody may have configured something: not to look would drop it
		return "", "", wire.Errorf(wire.IOError, "", "whether there is a configuration cannot be told: %w", err)
	}
	return path, by, nil
}
