package hsm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestFindModules(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	known := write(t, at("lib/libsofthsm2.so"), "")
	relative := write(t, at("lib/pkcs11/opensc-pkcs11.so"), "")
	require.NoError(t, os.Symlink(relative, at("lib/opensc.so")))
	l := layout{
		wellKnown:  []string{known, at("lib/opensc.so"), at("lib/absent.so"), at("lib")},
		moduleDirs: []string{at("lib/none"), at("lib/pkcs11")},
		configDirs: []string{at("user[1]"), at("etc"), at("absent")},
	}
	write(t, at("etc/a.module"), "# a comment: x\nmodule: opensc-pkcs11.so\npriority: 7\ndisable-in: p11-kit-proxy, seahorse\n enable-in:ssh\n")
	write(t, at("user[1]/b.module"), "module: /nowhere/x.so\r\npriority: 9\n")
	write(t, at("etc/c.module"), "module: nowhere.so\npriority: many\n")
	write(t, at("etc/d.module"), "priority: 1\n")
	write(t, at("etc/e.module"), "module: opensc-pkcs11.so\nremote: |ssh root@x\n")
	write(t, at("etc/f.module"), strings.Repeat("x", maxConfigBytes+1))
	write(t, at("etc/g.module"), "module: opensc-pkcs11.so\n")
	write(t, at("etc/h.conf"), "module: opensc-pkcs11.so\n")
	require.NoError(t, os.Mkdir(at("etc/folder.module"), 0o755))
	var rows []string
	for _, c := range l.find() {
		rows = append(rows, strings.ReplaceAll(strings.Join([]string{c.Name, c.Path, filepath.Base(c.From), c.Trouble}, "|"), dir, ""))
		if c.Name == "a" {
			require.Equal(t, []string{"p11-kit-proxy", "seahorse"}, c.DisableIn)
			require.Equal(t, []string{"ssh"}, c.EnableIn)
		}
	}
	require.Equal(t, []string{
		"b|/nowhere/x.so|b.module|",
		"a|/lib/pkcs11/opensc-pkcs11.so|a.module|",
		"d||d.module|it names no module",
		`c||c.module|no folder of p11-kit's modules has "nowhere.so"`,
		"e||e.module|it runs a program (remote:), which is not done here",
		"f||f.module|the configuration is not a regular file of at most 64 KiB",
		"folder||folder.module|the configuration is not a regular file of at most 64 KiB",
		"|/lib/libsofthsm2.so|well-known|",
	}, rows, "one row a library: the link and the second configuration of one are left out")
}

// On this system what is found has absolute paths, whatever is installed.
func TestFindModulesHere(t *testing.T) {
	for _, c := range FindModules() {
		require.True(t, c.Trouble != "" || filepath.IsAbs(c.Path), "%+v", c)
		require.NotContains(t, c.Path, "spy")
	}
}
