package config_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
)

// Whoever can write any folder on the way to the configuration, or to what it names, could lead it elsewhere.
func TestEveryFolderOnTheWayIsTrusted(t *testing.T) {
	d := newDesk(t)
	open := func(name string, mode os.FileMode) string {
		require.NoError(t, os.Mkdir(d.path(name), 0o755))
		require.NoError(t, os.Chmod(d.path(name), mode))
		return d.path(name)
	}
	link := func(to, name string) string {
		require.NoError(t, os.Symlink(to, d.path(name)))
		return d.path(name)
	}
	refused := func(path, folder string) {
		t.Helper()
		_, err := config.ReadTrusted(path, 1<<20)
		require.ErrorContains(t, err, "others can change the folder "+folder)
	}
	shared := open("shared", 0o777)
	require.NoError(t, os.Mkdir(d.path("shared/own"), 0o755))
	d.write("shared/own/a.toml", nil)
	refused(d.path("shared/own/a.toml"), shared) // above the file's own folder
	link("../root.crt", "shared/middle")         // from a folder of ours, by the shared one, into ours
	refused(link("shared/middle", "first"), shared)
	refused(link("shared/own", "way")+"/a.toml", shared) // a link in the middle of the path

	sticky := open("sticky", 0o777|os.ModeSticky)
	_, err := config.ReadTrusted(link("../root.crt", "sticky/own"), 1<<20)
	require.NoError(t, err, sticky)
	if os.Geteuid() == 0 {
		theirs := link("../root.crt", "sticky/theirs")
		require.NoError(t, os.Lchown(theirs, 12345, -1))
		_, err = config.ReadTrusted(theirs, 1<<20)
		require.ErrorContains(t, err, "is of another user")
	}

	require.NoError(t, os.Mkdir(d.path("shared/lists"), 0o755))
	d.change(`"lists"`, `"shared/lists"`)
	_, err = d.load()
	require.ErrorContains(t, err, "expected_lists: others can change the folder "+shared)
}

// A file of the most bytes is read; a longer one is the configuration's fault, as all else that is wrong with it.
func TestReadTrustedIsBounded(t *testing.T) {
	path := newDesk(t).write("long", []byte("four"))
	data, err := config.ReadTrusted(path, 4)
	require.NoError(t, err)
	require.Equal(t, "four", string(data))
	_, err = config.ReadTrusted(path, 3)
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
	require.ErrorContains(t, err, path+" is over 3 bytes")
}
