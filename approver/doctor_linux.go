package main

import (
	"fmt"
	"math"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// inheritedCoreLimit is what whoever started this program lets it dump, read before main lowers it.
var inheritedCoreLimit = coreLimit()

func coreLimit() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) != nil {
		return math.MaxUint64
	}
	return limit.Cur
}

// thisLaptop looks at the machine and process that this runs in.
func thisLaptop(getenv func(string) string) laptop {
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	return laptop{
		files: os.DirFS("/"), interfaces: net.Interfaces, uptime: uptime, device: deviceOf, getenv: getenv, root: os.Geteuid() == 0,
		umask: umask(), coreLimit: inheritedCoreLimit, exposed: err != nil || dumpable != 0 || coreLimit() != 0,
	}
}

// uptime gives the time since the machine was started, sleep included.
func uptime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// umask reads the mask, which can only be read by setting it.
func umask() int {
	mask := unix.Umask(0o077)
	unix.Umask(mask)
	return mask
}

// deviceOf gives the number of a block device, or of the one that a file lies on.
func deviceOf(path string) string {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return ""
	}
	device := stat.Dev
	if stat.Mode&unix.S_IFMT == unix.S_IFBLK {
		device = stat.Rdev
	}
	return fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
}
