//go:build unix

package main

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// lockRetry is how often a lock that another process holds is tried again.
const lockRetry = 20 * time.Millisecond

// lockModule waits until no other approver makes a key by this module on this machine: of two that make one of a label at once,
// the second shall see what the first made. The lock is one of the open file (flock), of whoever can read it, and ends with the
// process. A file that cannot be locked is not: then the look at the token afterwards is all there is.
func lockModule(ctx context.Context, path string, longest time.Duration) (unlock func(), err error) {
	file, err := os.Open(path)
	if err != nil {
		return func() {}, nil
	}
	for deadline := time.Now().Add(longest); ; {
		switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err != unix.EWOULDBLOCK && err != unix.EINTR:
			return func() { file.Close() }, nil
		case ctx.Err() != nil:
			file.Close()
			return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "interrupted; no key was made")
		case time.Now().After(deadline):
			file.Close()
			return nil, wire.Errorf(wire.InvalidState, "", "another program makes a key by the module %q; no key was made", path)
		}
		time.Sleep(lockRetry)
	}
}
