package medium

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
)

// desk makes files, each in its folder, and gives the top. A folder that is not named is made.
func desk(t *testing.T, names ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range names {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(top, name), nil, 0o600))
	}
	return top
}

// mounted gives a machine on which the folders of a desk are file systems, numbered by what is in mounts.
func mounted(top string, mounts map[string]uint64, own ...string) machine {
	device := func(folder string) (uint64, bool) {
		if info, err := os.Stat(folder); err == nil && info.Mode().IsRegular() {
			return 99, true // the layer of the file, as on a live system
		}
		for {
			if rel, err := filepath.Rel(top, folder); err != nil || strings.HasPrefix(rel, "..") {
				return 0, false
			} else if id, ok := mounts[filepath.ToSlash(rel)]; ok {
				return id, true
			}
			folder = filepath.Dir(folder)
		}
	}
	for i := range own {
		own[i] = filepath.Join(top, own[i])
	}
	return machine{device: device, own: own}
}

func texts(list []review.Text, top string) (s []string) {
	for _, t := range list {
		s = append(s, strings.ReplaceAll(t.String(), top+"/", ""))
	}
	return s
}

func TestSameMedium(t *testing.T) {
	top := desk(t, "stick/scope.json", "stick/list", "stick/deep/set.json", "other/list", "disk/list", "disk/scope.json", "home/me/list", "data/a", "data/b")
	require.NoError(t, os.Symlink("../stick/list", filepath.Join(top, "disk/by-link")))
	require.NoError(t, os.Symlink("../stick", filepath.Join(top, "disk/by-folder")))
	require.NoError(t, os.Symlink("../disk/list", filepath.Join(top, "stick/away")))
	m := mounted(top, map[string]uint64{".": 1, "stick": 2, "other": 3, "home": 4, "data": 5}, ".", "home")
	for _, c := range []struct {
		name, scope string
		inputs      []string
		message     string
		places      []string
	}{
		{"beside it", "stick/scope.json", []string{"stick/list"}, "the list lies on the scope's own medium", []string{"list: stick/list"}},
		{"in a folder of it", "stick/scope.json", []string{"stick/deep/set.json"}, "the list lies on the scope's own medium", []string{"list: stick/deep/set.json"}},
		{"by a link", "stick/scope.json", []string{"disk/by-link"}, "the list lies on the scope's own medium", []string{"list: disk/by-link, which is stick/list"}},
		{"by a folder's link", "stick/scope.json", []string{"disk/by-folder/list"}, "the list lies on the scope's own medium", []string{"list: disk/by-folder/list, which is stick/list"}},
		{"the scope by a link", "disk/by-folder/scope.json", []string{"stick/list"}, "the list lies on the scope's own medium", []string{"list: stick/list"}},
		{"two of three", "stick/scope.json", []string{"stick/list", "disk/list", "stick/deep/set.json"}, "the list and the set lie on the scope's own medium",
			[]string{"list: stick/list", "set: stick/deep/set.json"}},
		{"a link that leads away", "stick/scope.json", []string{"stick/away"}, "", nil},
		{"another stick", "stick/scope.json", []string{"other/list"}, "", nil},
		{"on the machine", "stick/scope.json", []string{"disk/list", "home/me/list"}, "", nil},
		{"all on the machine", "disk/scope.json", []string{"disk/list"}, "", nil},
		{"all at home", "home/me/list", []string{"home/me/list"}, "", nil},
		{"a disk that is not the machine's own", "data/a", []string{"data/b"}, "the list lies on the scope's own medium", []string{"list: data/b"}},
		{"an input that is not there", "stick/scope.json", []string{"stick/absent"}, "", nil},
		{"a scope that is not there", "stick/absent", []string{"stick/list"}, "", nil},
		{"nothing beside it", "stick/scope.json", nil, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			roles := []string{"list", "key file", "set"}
			var inputs []Input
			for i, path := range c.inputs {
				inputs = append(inputs, Input{Role: roles[i], Path: filepath.Join(top, path)})
			}
			var found []review.Finding
			for _, f := range m.findings(scopeAt(filepath.Join(top, c.scope)), inputs) {
				if f.Rule == review.SameMedium {
					found = append(found, f)
				}
			}
			if c.message == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, c.message, found[0].Message.String())
			require.Equal(t, c.places, texts(found[0].Places, top))
			require.Equal(t, review.Acknowledge, found[0].Severity)
		})
	}
}

// A path that was not given is not the current folder.
func TestNoPathIsNoInput(t *testing.T) {
	t.Chdir(desk(t, "scope.json"))
	m := machine{device: func(string) (uint64, bool) { return 7, true }}
	require.Empty(t, m.findings(scopeAt("scope.json"), []Input{{Role: "expected list", Path: ""}}))
	require.Empty(t, m.findings(scopeAt(""), []Input{{Role: "expected list", Path: "scope.json"}}))
	require.Len(t, m.findings(scopeAt("scope.json"), []Input{{Role: "expected list", Path: "scope.json"}}), 1)
}

// On a machine like this one, files in the folder for temporary files have not come on a stick.
func TestTemporaryFilesAreTheMachines(t *testing.T) {
	top := desk(t, "scope.json", "list")
	require.Empty(t, Findings(filepath.Join(top, "scope.json"), []Input{{Role: "expected list", Path: filepath.Join(top, "list")}}))
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("TMPDIR", "/home/somebody/tmp")
	require.Subset(t, ownFolders(), []string{"/home/somebody", "/home/somebody/tmp", "/tmp", "/"})
}

// Roles are named once each, inputs each by itself.
func TestRolesAreNamedOnce(t *testing.T) {
	t.Chdir(desk(t, "scope.json", "ключ.pub", "clé.pub"))
	found := Findings("scope.json", []Input{{Role: "public key", Path: "ключ.pub"}, {Role: "public key", Path: "ключ.pub"}, {Role: "public key", Path: "clé.pub"}})
	require.Len(t, found, 1)
	require.Equal(t, "the paths of the public key are not what they look like", found[0].Message.String())
	require.Len(t, found[0].Places, 2)
}

func scopeAt(path string) []Input { return []Input{{Role: "scope", Path: path}} }

// What is signed is named as what it is.
func TestFindingsOfANewSet(t *testing.T) {
	m := machine{device: func(folder string) (uint64, bool) { return 7, true }}
	dir := t.TempDir()
	for _, name := range []string{"next.json", "set.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	found := m.findings([]Input{{Role: "new set", Path: filepath.Join(dir, "next.json")}}, []Input{{Role: "set in force", Path: filepath.Join(dir, "set.json")}})
	require.Len(t, found, 1)
	require.Equal(t, "the set in force lies on the new set's own medium", found[0].Message.String())
}
