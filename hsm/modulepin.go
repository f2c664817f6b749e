package hsm

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/better-compute/approver/core/wire"
)

// loadPinned loads a library whose digest was looked at.
func (f ModuleFile) loadPinned(ctx context.Context) (Module, error) {
	file, err := openNonblocking(f.Path)
	if err != nil {
		return nil, errUnreadable(err)
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return nil, errUnreadable(err)
	}
	if !before.Mode().IsRegular() {
		return nil, errNotRegular(f.Path)
	}
	found := sha256.New()
	if _, err := io.Copy(found, file); err != nil {
		return nil, errUnreadable(err)
	}
	if sum := [sha256.Size]byte(found.Sum(nil)); sum != *f.SHA256 {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q has SHA-256 %x; pinned is %x", f.Path, sum, *f.SHA256).
			With("found", fmt.Sprintf("%x", sum)).With("pinned", fmt.Sprintf("%x", *f.SHA256))
	}
	if err := checkUnchanged(f.Path, before); err != nil {
		return nil, err
	}
	m, err := f.load(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkUnchanged(f.Path, before); err != nil {
		return nil, err
	}
	return m, nil
}

// checkUnchanged tells whether path still leads to the file that was looked at, with the bytes that were there.
func checkUnchanged(path string, before fs.FileInfo) error {
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
		return wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q was exchanged while it was loaded", path)
	}
	return nil
}
