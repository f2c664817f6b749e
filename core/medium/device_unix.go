//go:build unix

package medium

import (
	"os"
	"syscall"
)

// device gives the file system that holds a folder, by its st_dev.
func device(folder string) (id uint64, ok bool) {
	info, err := os.Stat(folder)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(stat.Dev), true
}
