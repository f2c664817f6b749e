//go:build !linux

package hsm

// dropTypedAhead does nothing where there is no one call for it.
func dropTypedAhead(int) {}
