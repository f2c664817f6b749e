package ledger

import (
	"crypto/sha256"
	"io"
	"os"
	"sync"

	"github.com/better-compute/approver/core/wire"
)

// ThisProgram gives the running program: the version it says it has, and the SHA-256 of its binary as it is run. The error is
// an IO_ERROR.
func ThisProgram(version string) (Program, error) {
	sum, err := ownDigest()
	if err != nil {
		return Program{}, wire.Errorf(wire.IOError, "", "reading this program's own binary: %w", err)
	}
	return Program{version, sum}, nil
}

var ownDigest = sync.OnceValues(func() (Hash, error) {
	f, err := os.Open("/proc/self/exe") // what runs, also where its name has another file by now
	if err != nil {
		path, err := os.Executable()
		if err != nil {
			return Hash{}, err
		}
		if f, err = os.Open(path); err != nil {
			return Hash{}, err
		}
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return Hash{}, err
	}
	return Hash(sum.Sum(nil)), nil
})
