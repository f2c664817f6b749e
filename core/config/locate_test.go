package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
)

// A home is a folder with a configuration in every place where one may be, and an environment that leads there.
type home struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newHome(t *testing.T) *home {
	h := &home{t: t, dir: t.TempDir()}
	for _, name := range []string{"flag.toml", "variable.toml", "xdg/approver/config.toml", "home/.config/approver/config.toml"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
		require.NoError(t, os.WriteFile(h.path(name), []byte("max_hours = 24\n"), 0o600))
	}
	h.env = map[string]string{"APPROVER_CONFIG": h.path("variable.toml"), "XDG_CONFIG_HOME": h.path("xdg"), "HOME": h.path("home")}
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

func (h *home) load(named string) (*config.Settings, error) {
	return config.Load(named, func(name string) string { return h.env[name] })
}

func (h *home) requireFound(path, by, named string) {
	h.t.Helper()
	s, err := h.load(named)
	require.NoError(h.t, err)
	require.Equal(h.t, []string{path, by}, []string{s.File, s.NamedBy})
}

// The first place that names a configuration has it.
func TestPrecedence(t *testing.T) {
	h := newHome(t)
	xdg, home := h.path("xdg/approver/config.toml"), h.path("home/.config/approver/config.toml")
	h.requireFound(h.path("flag.toml"), "--config", h.path("flag.toml"))
	h.requireFound(h.path("variable.toml"), "APPROVER_CONFIG", "")
	h.env["APPROVER_CONFIG"] = ""
	h.requireFound(xdg, "XDG_CONFIG_HOME", "")
	require.NoError(t, os.Remove(xdg))
	h.requireFound("", "", "") // XDG_CONFIG_HOME is there, so ~/.config is not the place
	for _, ignored := range []string{"", "xdg", "./home/.config"} {
		h.env["XDG_CONFIG_HOME"] = ignored
		h.requireFound(home, "HOME", "")
	}
	t.Chdir(h.dir)
	h.env["HOME"] = "home" // relative, though one is there
	h.requireFound("", "", "")
	h.env["HOME"] = h.path("flag.toml") // no folder
	h.requireFound("", "", "")
	h.env["HOME"] = ""
	h.requireFound("", "", "")
}

// What is named must be there.
func TestNamedConfigurationIsAbsent(t *testing.T) {
	h := newHome(t)
	_, err := h.load(h.path("absent.toml"))
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.ErrorContains(t, err, "the configuration that --config names: ")
	h.env["APPROVER_CONFIG"] = h.path("absent.toml")
	_, err = h.load("")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.ErrorContains(t, err, "the configuration that APPROVER_CONFIG names: ")
	h.env["APPROVER_CONFIG"], h.env["XDG_CONFIG_HOME"] = "", ""
	home := h.path("home/.config/approver/config.toml")
	require.NoError(t, os.Remove(home))
	require.NoError(t, os.Symlink("nowhere", home))
	_, err = h.load("")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "a link that leads nowhere was put there by somebody")
}

// Where something stands in the way, whether there is a configuration is not known.
func TestWayToConfigurationIsBarred(t *testing.T) {
	h := newHome(t)
	h.env["APPROVER_CONFIG"], h.env["XDG_CONFIG_HOME"] = "", ""
	for _, name := range []string{"one/.config", "two/.config/approver"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
		h.env["HOME"] = h.path(strings.Split(name, "/")[0])
		require.NoError(t, os.Symlink("nowhere", h.path(name)))
		_, err := h.load("")
		require.Equal(t, wire.IOError, wire.CodeOf(err), name)
		require.NoError(t, os.Remove(h.path(name)))
		require.NoError(t, os.WriteFile(h.path(name), nil, 0o600))
		_, err = h.load("")
		require.Equal(t, wire.IOError, wire.CodeOf(err), name)
	}
	require.NoError(t, os.Symlink("nowhere", h.path("gone")))
	h.env["HOME"] = h.path("gone")
	h.requireFound("", "", "")
}

func TestConfigurationIsARegularFile(t *testing.T) {
	d := newDesk(t)
	fifo := d.path("fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, d.path("lists"), "/dev/zero"} {
		_, err := config.Load(path, func(string) string { return "" })
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), path)
		require.ErrorContains(t, err, "is not a regular file", path)
	}
	d.write("config.toml", make([]byte, wire.MaxTOMLBytes+1))
	_, err := d.load()
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
	require.ErrorContains(t, err, "is over 1048576 bytes")
}

// Nobody but root and the user may have written the configuration, what it names, or the folders of either.
func TestOthersCannotHaveWritten(t *testing.T) {
	refused := func(d *desk, says string) {
		t.Helper()
		_, err := d.load()
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, says)
	}
	for _, name := range []string{"config.toml", "alice.pub", "bob.pub", "set.json", "kinds.toml", "lists", "root.crt", "alice.sig"} {
		d := newDesk(t)
		d.loaded()
		require.NoError(t, os.Chmod(d.path(name), 0o720))
		refused(d, d.path(name)+": owner "+itoa(os.Geteuid())+", mode 0720; wanted: mode 0700 (chmod go-w)")
		require.NoError(t, os.Chmod(d.path(name), 0o702))
		refused(d, d.path(name)+": owner ")
		require.NoError(t, os.Chmod(d.path(name), 0o744))
		d.loaded()
	}
	d := newDesk(t)
	require.NoError(t, os.Chmod(d.dir, 0o777))
	refused(d, "others can change the folder "+d.dir+": owner "+itoa(os.Geteuid())+", mode 0777; wanted: mode 0755 (chmod go-w)")
	require.NoError(t, os.Chmod(d.dir, os.ModeSticky|0o777))
	d.loaded()

	// A link is as good as both folders.
	require.NoError(t, os.Mkdir(d.path("open"), 0o755))
	require.NoError(t, os.Rename(d.path("set.json"), d.path("open/set.json")))
	require.NoError(t, os.Symlink("open/set.json", d.path("set.json")))
	d.loaded()
	require.NoError(t, os.Chmod(d.path("open"), 0o777))
	refused(d, "others can change the folder "+d.path("open"))
	require.NoError(t, os.Chmod(d.path("open"), 0o755))
	require.NoError(t, os.Mkdir(d.path("links"), 0o755))
	require.NoError(t, os.Symlink("../open/set.json", d.path("links/set.json")))
	d.change(`"set.json"`, `"links/set.json"`)
	d.loaded()
	require.NoError(t, os.Chmod(d.path("links"), 0o777))
	refused(d, "others can change the folder "+d.path("links"))
}

func TestOthersDoNotOwn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a file away takes root")
	}
	for _, name := range []string{"config.toml", "set.json", "lists", "."} {
		d := newDesk(t)
		require.NoError(t, os.Chown(d.path(name), 65534, -1))
		_, err := d.load()
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), name)
		require.ErrorContains(t, err, ": owner 65534, mode ", name)
		require.ErrorContains(t, err, "wanted: owner 0 (root) or 0 (you) (chown 0)", name)
	}
}
