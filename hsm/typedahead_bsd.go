//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package hsm

import "golang.org/x/sys/unix"

// DropTypedAhead throws away what was typed on a terminal, by its descriptor, before it was asked for (TIOCFLUSH). What is
// no terminal is left alone.
func DropTypedAhead(fd int) {
	const fread = 1
	unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread)
}

// hideTyping turns the echo of a terminal off and throws away what was typed on it before, in one call (tcsetattr,
// TCSAFLUSH), so that nothing typed in between is shown or taken.
func hideTyping(fd int) error { return echoOff(fd, unix.TIOCSETAF) }

// EchoOff turns the echo of a terminal off and keeps what was typed on it before (tcsetattr, TCSANOW).
func EchoOff(fd int) error { return echoOff(fd, unix.TIOCSETA) }

func echoOff(fd int, request uint) error {
	state, err := unix.IoctlGetTermios(fd, unix.TIOCGETA)
	if err != nil {
		return err
	}
	state.Lflag &^= unix.ECHO
	state.Cc[unix.VSUSP] = 0xff // none: where nobody is stopped by it, ^Z would drop what was typed, and the rest would pass for all
	return unix.IoctlSetTermios(fd, request, state)
}
