//go:build !cgo || !unix

package hsm

import "github.com/better-compute/approver/core/wire"

// openLibrary refuses: a PKCS#11 module is a C library, and this build cannot call one.
func openLibrary(path string) (Module, error) {
	return nil, wire.Errorf(wire.Unsupported, "",
		"this build has no cgo and cannot load the PKCS#11 module %q; install gcc, build again with CGO_ENABLED=1, or use a key file", path)
}

func endBySignal() {}
