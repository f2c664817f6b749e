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

// The first place that names a configuration has it.
func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	place := func(parts ...string) string {
		path := filepath.Join(append([]string{dir}, parts...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("max_hours = 24\n"), 0o600))
		return path
	}
	flag, variable := place("flag.toml"), place("variable.toml")
	xdg, home := place("xdg", "approver", "config.toml"), place("home", ".config", "approver", "config.toml")
	env := map[string]string{"APPROVER_CONFIG": variable, "XDG_CONFIG_HOME": filepath.Join(dir, "xdg"), "HOME": filepath.Join(dir, "home")}
	read := func(named string) *config.Settings {
		t.Helper()
		s, err := config.Load(named, func(name string) string { return env[name] })
		require.NoError(t, err)
		return s
	}
	found := func(path, by, named string) {
		t.Helper()
		s := read(named)
		require.Equal(t, []string{path, by}, []string{s.File, s.NamedBy})
	}
	found(flag, "--config", flag)
	found(variable, "APPROVER_CONFIG", "")
	env["APPROVER_CONFIG"] = ""
	found(xdg, "XDG_CONFIG_HOME", "")
	require.NoError(t, os.Remove(xdg))
	found("", "", "") // XDG_CONFIG_HOME is there, so ~/.config is not the place
	for _, ignored := range []string{"", "xdg", "./home/.config"} {
		env["XDG_CONFIG_HOME"] = ignored
		found(home, "HOME", "")
	}
	t.Chdir(dir)
	env["HOME"] = "home" // relative, though one is there
	found("", "", "")
	env["HOME"] = flag // no folder
	found("", "", "")
	env["HOME"] = ""
	found("", "", "")

	// What is named must be there.
	_, err := config.Load(filepath.Join(dir, "absent.toml"), func(string) string { return "" })
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.ErrorContains(t, err, "the configuration that --config names: ")
	env["APPROVER_CONFIG"] = filepath.Join(dir, "absent.toml")
	_, err = config.Load("", func(name string) string { return env[name] })
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.ErrorContains(t, err, "the configuration that APPROVER_CONFIG names: ")
	env["APPROVER_CONFIG"], env["HOME"] = "", filepath.Join(dir, "home")
	require.NoError(t, os.Remove(home))
	require.NoError(t, os.Symlink("nowhere", home))
	_, err = config.Load("", func(name string) string { return env[name] })
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "a link that leads nowhere was put there by somebody")

	// Where something stands in the way, whether there is a configuration is not known.
	lost := func(name string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		env["HOME"] = filepath.Join(dir, strings.Split(name, "/")[0])
		require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, name)))
		_, err = config.Load("", func(name string) string { return env[name] })
		require.Equal(t, wire.IOError, wire.CodeOf(err), name)
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		_, err = config.Load("", func(name string) string { return env[name] })
		require.Equal(t, wire.IOError, wire.CodeOf(err), name)
	}
	lost("one/.config")
	lost("two/.config/approver")
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "gone")))
	env["HOME"] = filepath.Join(dir, "gone")
	found("", "", "")
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
