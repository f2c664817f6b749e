package hsm

import (
	"bufio"
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A Candidate is a PKCS#11 library that may be on this computer: where it would be and who says so. Nothing was loaded.
type Candidate struct {
	Path                string   // absolute; "" where Trouble is that there is none
	From                string   // "well-known", or the p11-kit configuration file
	Name                string   // of the p11-kit module, that of its file without .module; "" for a well-known path
	Priority            int      // p11-kit's, 0 where none is given
	EnableIn, DisableIn []string // p11-kit's, shown and not acted on
	Trouble             string   // why the configuration names nothing that can be tried; "" where it does
}

// A layout is where libraries and p11-kit's configuration lie.
type layout struct {
	wellKnown  []string // libraries
	moduleDirs []string // of p11-kit, for a module: without a folder (p11-kit's p11_module_path)
	configDirs []string // with *.module files
}

// maxConfigFiles and maxConfigBytes bound what is read of p11-kit's configuration.
const (
	maxConfigFiles = 256
	maxConfigBytes = 64 << 10
)

// systemLayout has the places of Debian (multiarch), Fedora, Arch and Homebrew. Libraries that hand on to others by what a
// person configured (p11-kit's) are among them; pkcs11-spy is not, since it writes PINs into a file.
func systemLayout() layout {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "i386", "riscv64": "riscv64", "ppc64le": "powerpc64le", "s390x": "s390x"}[runtime.GOARCH]
	libs := []string{"/usr/lib/" + arch + "-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"}
	var l layout
	for _, name := range []string{
		"softhsm/libsofthsm2.so", "pkcs11/libsofthsm2.so", "libsofthsm2.so", "opensc-pkcs11.so", "pkcs11/opensc-pkcs11.so",
		"libykcs11.so", "libykcs11.so.2", "libykcs11.dylib", "libtpm2_pkcs11.so.1", "libtpm2_pkcs11.so", "pkcs11/libtpm2_pkcs11.so",
		"opencryptoki/libopencryptoki.so", "opencryptoki/libopencryptoki.so.0", "pkcs11/libopencryptoki.so",
		"pkcs11/p11-kit-client.so", "p11-kit-proxy.so",
	} {
		for _, lib := range libs {
			l.wellKnown = append(l.wellKnown, filepath.Join(lib, name))
		}
	}
	for _, lib := range libs {
		l.moduleDirs = append(l.moduleDirs, filepath.Join(lib, "pkcs11"))
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		l.configDirs = append(l.configDirs, filepath.Join(home, ".config/pkcs11/modules"))
	}
	l.configDirs = append(l.configDirs, "/etc/pkcs11/modules", "/usr/share/p11-kit/modules", "/usr/local/share/p11-kit/modules")
	return l
}

// FindModules gives the libraries that p11-kit is configured for, by priority, then those at well-known paths; a library
// with several names once, by the first. A configuration that leads nowhere is listed with its trouble.
func FindModules() []Candidate { return systemLayout().find() }

func (l layout) find() []Candidate {
	var configured []Candidate
	for _, dir := range l.configDirs {
		files, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*.module"))
		for _, file := range files[:min(len(files), maxConfigFiles)] {
			configured = append(configured, l.readConfig(file))
		}
	}
	slices.SortStableFunc(configured, func(a, b Candidate) int { return cmp.Compare(b.Priority, a.Priority) })
	var all []Candidate
	seen := make(map[string]bool)
	add := func(c Candidate) {
		real, err := filepath.EvalSymlinks(c.Path)
		if c.Trouble != "" || err != nil || !seen[real] {
			all = append(all, c)
			seen[real] = c.Trouble == "" && err == nil || seen[real]
		}
	}
	for _, c := range configured {
		add(c)
	}
	for _, path := range l.wellKnown {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			add(Candidate{Path: path, From: "well-known"})
		}
	}
	return all
}

// escapeGlob keeps a folder's own characters from being a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// readConfig reads one file of p11-kit's configuration (pkcs11.conf(5)): lines "name: value", # for comments.
func (l layout) readConfig(file string) Candidate {
	c := Candidate{From: file, Name: strings.TrimSuffix(filepath.Base(file), ".module")}
	f, err := openNonblocking(file)
	if err != nil {
		c.Trouble = err.Error()
		return c
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxConfigBytes {
		c.Trouble = "the configuration is not a regular file of at most 64 KiB"
		return c
	}
	module, remote := "", false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		switch name {
		case "module":
			module = value
		case "remote":
			remote = true
		case "priority":
			c.Priority, _ = strconv.Atoi(value) // what is no number is none to p11-kit either
		case "enable-in":
			c.EnableIn = words(value)
		case "disable-in":
			c.DisableIn = words(value)
		}
	}
	switch {
	case lines.Err() != nil:
		c.Trouble = lines.Err().Error()
	case remote:
		c.Trouble = "it runs a program (remote:), which is not done here"
	case module == "":
		c.Trouble = "it names no module"
	default:
		c.Path, c.Trouble = l.resolve(module)
	}
	return c
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// resolve gives the absolute path of a module: value.
func (l layout) resolve(module string) (path, trouble string) {
	if filepath.IsAbs(module) {
		return module, "" // whether it is there is what the probe says
	}
	for _, dir := range l.moduleDirs {
		path := filepath.Join(dir, module)
		if _, err := os.Stat(path); err == nil {
			return path, ""
		}
	}
	return "", "no folder of p11-kit's modules has " + quoted(module)
}
