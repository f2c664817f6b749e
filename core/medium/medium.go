package medium

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/better-compute/approver/core/review"
)

// An Input is a file that a scope is checked against or signed with.
type Input struct {
	Role string // what a person calls it: "expected list", "approver set", "public key", "key file", "PKCS#11 module", "kinds table", "descriptor set", "configuration"
	Path string // as it was given

	// Installed tells that the system's packages put the file there: a symbolic link is how they do it, and no oddity.
	Installed bool
}

// Findings gives the findings of same-medium and odd-path (WIRE.md §10), at most one of each, with a place for each file
// and cause. scope is the path of the scope file, "" where there is none. A file that cannot be looked at has no place in
// same-medium; whoever reads it says what is wrong with it.
func Findings(scope string, inputs []Input) []review.Finding {
	return FindingsOf([]Input{{Role: "scope", Path: scope}}, inputs)
}

// FindingsOf is Findings for what is signed that is no scope, such as a new approver set, in all the files that it came in.
func FindingsOf(signed, inputs []Input) []review.Finding {
	return machine{device: device, own: ownFolders()}.findings(signed, inputs)
}

// A machine is what the rules ask about the system.
type machine struct {
	device func(folder string) (id uint64, ok bool) // the file system that holds a folder
	own    []string                                 // folders that are the machine's own
}

func ownFolders() []string {
	own := []string{string(filepath.Separator), os.TempDir(), "/tmp"}
	if home, err := os.UserHomeDir(); err == nil {
		own = append(own, home)
	}
	return own
}

func (m machine) findings(signed, inputs []Input) (found []review.Finding) {
	noPath := func(i Input) bool { return i.Path == "" }
	signed, inputs = slices.DeleteFunc(slices.Clone(signed), noPath), slices.DeleteFunc(slices.Clone(inputs), noPath)
	if shared := m.onStickOf(signed, inputs); len(shared) > 0 {
		verb := " lies"
		if len(shared) > 1 {
			verb = " lie"
		}
		found = append(found, review.NewFinding(review.SameMedium,
			review.Escape(theRoles(shared)+verb+" on "+theRoles(signed)+"'s own medium"), places(shared, Input.resolution)...))
	}
	odd := slices.DeleteFunc(slices.Concat(signed, inputs), func(i Input) bool { return len(i.oddities()) == 0 })
	if len(odd) > 0 {
		says := "the path of " + theRoles(odd) + " is not what it looks like"
		if len(odd) > 1 {
			says = "the paths of " + theRoles(odd) + " are not what they look like"
		}
		found = append(found, review.NewFinding(review.OddPath, review.Escape(says), places(odd, Input.oddities)...))
	}
	return found
}

// onStickOf gives the inputs on a file system of what is signed, where that is not the machine's own.
func (m machine) onStickOf(signed, inputs []Input) (shared []Input) {
	sticks := map[uint64]bool{}
	for _, i := range signed {
		if id, ok := m.holding(i.Path); ok {
			sticks[id] = true
		}
	}
	for _, folder := range m.own {
		if id, ok := m.device(folder); ok {
			delete(sticks, id)
		}
	}
	for _, i := range inputs {
		if id, ok := m.holding(i.Path); ok && sticks[id] {
			shared = append(shared, i)
		}
	}
	return shared
}

// holding gives the file system of the file that a path leads to. The folder is asked: where layers lie over each other, as
// on a live system, files have the number of their layer and folders that of the whole.
func (m machine) holding(path string) (id uint64, ok bool) {
	file, err := filepath.EvalSymlinks(path)
	if err != nil || path == "" { // no path at all is not the current folder
		return 0, false
	}
	return m.device(filepath.Dir(file))
}

// resolution gives the path, and the file where that is another.
func (i Input) resolution() []string {
	path := i.Path
	if file, err := filepath.EvalSymlinks(path); err == nil && file != filepath.Clean(path) {
		return []string{path + ", which is " + file}
	}
	return []string{path}
}

// oddities says in what the path is not what it looks like.
func (i Input) oddities() []string {
	if !i.Installed {
		return oddities(i.Path)
	}
	if odd := oddRunes(i.Path); odd != "" {
		return []string{odd + " in " + i.Path}
	}
	return nil
}

// places names the inputs with what says tells about each.
func places(inputs []Input, says func(Input) []string) (texts []review.Text) {
	for _, i := range inputs {
		for _, s := range says(i) {
			texts = append(texts, review.Escape(i.Role+": "+s))
		}
	}
	return texts
}

// theRoles names each role once: "the expected list, the public key and the key file".
func theRoles(inputs []Input) string {
	var names []string
	for _, i := range inputs {
		if name := "the " + i.Role; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
