package medium

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Mount is a medium that somebody plugged in.
type Mount struct {
	Path   string // the folder where its files are, as the kernel says it
	Source string // the device, as in "/dev/sdb1"
}

// Plugged gives the media that were plugged in and are mounted, in the order they were: file systems on a device that the
// kernel calls removable or that hangs on USB, and whatever lies below /media or /run/media, where desktops mount what was
// plugged in. Linux tells in /proc/self/mountinfo (proc(5)) and /sys/dev/block; elsewhere there are none.
func Plugged() []Mount { return system("/").plugged() }

// A system is the folder that stands for "/".
type system string

func (s system) plugged() (mounts []Mount) {
	table, err := os.ReadFile(filepath.Join(string(s), "proc/self/mountinfo"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash < 6 || len(fields) < dash+3 {
			continue
		}
		m := Mount{Path: unescape(fields[4]), Source: unescape(fields[dash+2])}
		if s.isRemovable(fields[2]) || strings.HasPrefix(m.Path, "/media/") || strings.HasPrefix(m.Path, "/run/media/") {
			mounts = append(mounts, m)
		}
	}
	return mounts
}

// isRemovable tells of a block device, by its numbers MAJOR:MINOR, whether somebody can take it away.
func (s system) isRemovable(numbers string) bool {
	folder, err := filepath.EvalSymlinks(filepath.Join(string(s), "sys/dev/block", numbers))
	if err != nil {
		return false
	}
	if strings.Contains(folder, "/usb") { // a disk on USB says that it is fixed
		return true
	}
	for _, of := range []string{folder, filepath.Dir(folder)} { // a partition's disk says it
		if flag, err := os.ReadFile(filepath.Join(of, "removable")); err == nil {
			return strings.TrimSpace(string(flag)) == "1"
		}
	}
	return false
}

// unescape takes the kernel's escapes of a space, tab, line feed and backslash out of a field: \040.
func unescape(field string) string {
	var b strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '\\' && i+4 <= len(field) {
			if c, err := strconv.ParseUint(field[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(field[i])
	}
	return b.String()
}
