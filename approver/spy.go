package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// spyMark is the variable that names the real module to OpenSC's pkcs11-spy: it stands in every copy of that library, and in no
// other module.
const spyMark = "PKCS11SPY"

// mostModuleBytes bounds what is read of a module to see whether it is a spy. The largest known have some 30 MiB.
const mostModuleBytes = 128 << 20

// refuseSpy refuses pkcs11-spy, which writes each PIN in clear to a file that others can read: by its name, by that of what a
// link leads to, and by what stands in it. What cannot be read is for the loading to refuse.
func refuseSpy(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	named := func(path string) bool { return strings.Contains(filepath.Base(path), "pkcs11-spy") }
	if named(path) || named(real) || holds(real, spyMark) {
		return wire.Errorf(wire.KeyUnavailable, "module", "%s is pkcs11-spy, which writes the PIN to a log; it was not loaded", path).With("spy", true)
	}
	return nil
}

// holds tells whether a file has the text in it.
func holds(path, text string) bool {
	f, err := durable.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r := io.LimitReader(f, mostModuleBytes)
	buf, kept := make([]byte, 1<<16), 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		if bytes.Contains(buf[:kept+n], []byte(text)) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buf, buf[len(buf)-len(text)+1:]) // it may stand across two pieces
	}
}
