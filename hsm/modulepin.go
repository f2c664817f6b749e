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

// LoadPinnedModule is LoadModule for a library whose file must have the given SHA-256. A library runs code as soon as it is
// loaded, so the digest is taken of the opened file before. The dynamic linker opens the path a second time: it must still
// lead to that file, unchanged, before and after. Whoever may change the file or its folder in between could win; that they
// belong to nobody else is for the caller to see. What a library loads in its turn has no pin. Errors are those of
// LoadModule; for another digest KEY_UNAVAILABLE, "module", with the details found and pinned.
func LoadPinnedModule(ctx context.Context, path string, digest [sha256.Size]byte) (Module, error) {
	if err := checkModulePath(path); err != nil {
		return nil, err
	}
	f, err := openNonblocking(path)
	if err != nil {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module cannot be read: %w", err)
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module cannot be read: %w", err)
	}
	if !before.Mode().IsRegular() {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q is not a regular file", path)
	}
	found := sha256.New()
	if _, err := io.Copy(found, f); err != nil {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module cannot be read: %w", err)
	}
	if sum := [sha256.Size]byte(found.Sum(nil)); sum != digest {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q has SHA-256 %x; pinned is %x", path, sum, digest).
			With("found", fmt.Sprintf("%x", sum)).With("pinned", fmt.Sprintf("%x", digest))
	}
	if err := checkUnchanged(path, before); err != nil {
		return nil, err
	}
	m, err := loadLibrary(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := checkUnchanged(path, before); err != nil {
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
