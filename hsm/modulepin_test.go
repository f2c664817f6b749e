//go:build cgo && unix

package hsm_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

func digestOf(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return sha256.Sum256(data)
}

func loadPinned(t *testing.T, path string, digest [sha256.Size]byte) (hsm.Module, error) {
	t.Helper()
	return hsm.ModuleFile{Path: path, SHA256: &digest}.Load(t.Context())
}

// A library with another digest runs no instruction.
func TestPinnedModuleIsNotLoadedBefore(t *testing.T) {
	dir := t.TempDir()
	mark, source, path := filepath.Join(dir, "ran"), filepath.Join(dir, "m.c"), filepath.Join(dir, "m.so")
	require.NoError(t, os.WriteFile(source, fmt.Appendf(nil, "#include <stdio.h>\n__attribute__((constructor)) static void ran(void) { fclose(fopen(\"%s\", \"w\")); }\n", mark), 0o600))
	run(t, "gcc", "-shared", "-fPIC", "-o", path, source)
	good := digestOf(t, path)
	bad := good
	bad[31] ^= 1
	_, err := loadPinned(t, path, bad)
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.ErrorContains(t, err, fmt.Sprintf("has SHA-256 %x; pinned is %x", good, bad))
	require.Equal(t, map[string]any{"found": fmt.Sprintf("%x", good), "pinned": fmt.Sprintf("%x", bad)}, err.(*wire.Error).Details)
	require.NoFileExists(t, mark)
	_, err = loadPinned(t, path, good)
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.ErrorContains(t, err, "C_GetFunctionList")
	require.FileExists(t, mark, "it was loaded, and is no PKCS#11 module")
}

func TestPinnedModuleLoads(t *testing.T) {
	f := newSoftHSM(t).faulty()
	m, err := loadPinned(t, f.module, digestOf(t, f.module))
	require.NoError(t, err)
	require.NoError(t, m.Initialize())
	require.NoError(t, m.Finalize())
	for name, path := range map[string]string{"relative": "m.so", "absent": filepath.Join(t.TempDir(), "m.so"), "folder": t.TempDir()} {
		_, err := loadPinned(t, path, [sha256.Size]byte{})
		requireRefused(t, err, wire.KeyUnavailable, "module")
		require.Error(t, err, name)
	}
}

// A library that exchanges its own file as it is loaded is not used.
func TestPinnedModuleStaysTheSame(t *testing.T) {
	dir := t.TempDir()
	source, path := filepath.Join(dir, "m.c"), filepath.Join(dir, "m.so")
	require.NoError(t, os.WriteFile(source, fmt.Appendf(nil, `#include <stdio.h>
#include <unistd.h>
static int none(void) { return 0; }
static struct { unsigned char version[2]; void *f[68]; } list = { { 2, 40 } };
int C_GetFunctionList(void **l) { for (int i = 0; i < 68; i++) list.f[i] = none; *l = &list; return 0; }
__attribute__((constructor)) static void exchange(void) { unlink("%[1]s"); link("%[1]s.other", "%[1]s"); }
`, path), 0o600))
	run(t, "gcc", "-shared", "-fPIC", "-o", path, source)
	copyFile(t, path, path+".other")
	_, err := loadPinned(t, path, digestOf(t, path))
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.ErrorContains(t, err, "was exchanged while it was loaded")
}
