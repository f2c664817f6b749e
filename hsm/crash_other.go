//go:build !cgo || !linux

package hsm

// CatchCrashes does nothing where no library is loaded, or the system is not Linux.
func CatchCrashes(string) {}

// RemoveInCrash does nothing there either.
func RemoveInCrash([]string) {}
