//go:build unix

package hsm

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/better-compute/approver/core/wire"
)

func openNonblocking(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// checkPrivate refuses a file that its group or others can read, write or run, and one that somebody else owns. As in
// ssh, the owner is no matter to root, who may use the keys of those it works for.
func checkPrivate(what, path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return wire.Errorf(wire.InvalidState, "", "the %s %q can be used by others (mode %04o); make it yours alone: chmod 600",
			what, path, info.Mode().Perm())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); !ok || uid != 0 && int(stat.Uid) != uid {
		return wire.Errorf(wire.InvalidState, "", "the %s %q belongs to another user", what, path)
	}
	return nil
}
