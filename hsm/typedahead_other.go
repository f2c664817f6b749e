//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package hsm

// DropTypedAhead does nothing where there is no one call for it.
func DropTypedAhead(int) {}

// hideTyping leaves it to what reads the line.
func hideTyping(int) error { return nil }

// EchoOff leaves it to what reads the line.
func EchoOff(int) error { return nil }
