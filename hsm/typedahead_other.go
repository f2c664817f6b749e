//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package hsm

// DropTypedAhead does nothing where there is no one call for it.
func DropTypedAhead(int) {}

// HideTyping leaves it to what reads the line.
func HideTyping(int) error { return nil }
