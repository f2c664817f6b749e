package medium

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// oddities says in what a path is not what it looks like, one clause for each cause.
func oddities(path string) (causes []string) {
	if odd := oddRunes(path); odd != "" {
		causes = append(causes, odd+" in "+path)
	}
	for _, link := range links(path) {
		to := target(link)
		causes = append(causes, "the symbolic link "+link+" leads to "+to)
		if odd := oddRunes(to); odd != "" {
			causes = append(causes, odd+" in "+to)
		}
	}
	return causes
}

// links gives the beginnings of a path that are symbolic links.
func links(path string) (found []string) {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && !os.IsPathSeparator(path[end]) {
			continue // in the middle of a component
		}
		info, err := os.Lstat(path[:end])
		if err != nil {
			return found
		}
		if info.Mode()&os.ModeSymlink != 0 {
			found = append(found, path[:end])
		}
	}
	return found
}

// target gives what a link leads to in the end, or what it says where that is nothing.
func target(link string) string {
	if file, err := filepath.EvalSymlinks(link); err == nil {
		return file
	}
	to, err := os.Readlink(link)
	if err != nil {
		return "an unknown place"
	}
	return to
}

// namedMost is how many different runes of a path are named; the others are counted.
const namedMost = 8

// oddRunes names the different runes of a path that are not plain, in their order, or gives "".
func oddRunes(path string) string {
	var odd []string
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		name := ""
		switch {
		case r == utf8.RuneError && size == 1:
			name = fmt.Sprintf("byte 0x%02X (not UTF-8)", path[i])
		case !plain(r):
			name = fmt.Sprintf("U+%04X (%s)", r, nature(r))
		}
		if name != "" && !slices.Contains(odd, name) {
			odd = append(odd, name)
		}
		i += size
	}
	if more := len(odd) - namedMost; more > 0 {
		odd = append(odd[:namedMost], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(odd, ", ")
}
