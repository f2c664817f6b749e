//go:build unix && cgo

package main

/*
#include <fcntl.h>

static int closed_streams; // bit n: stream n

// note_closed runs before Go, which opens /dev/null in the place of a standard stream that is closed.
static void __attribute__((constructor)) note_closed(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) == -1)
			closed_streams |= 1 << fd;
}

static int was_closed(int fd) { return closed_streams >> fd & 1; }
*/
import "C"

// closed tells whether a standard stream was closed by whoever started the program. /dev/null is not, however it was opened:
// Python's subprocess.DEVNULL is for reading and writing.
func closed(fd int) bool { return C.was_closed(C.int(fd)) == 1 }
