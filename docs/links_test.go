package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors gives the names that headings have in links.
func anchors(text string) (found []string) {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ReplaceAll(strings.ToLower(noSlug.ReplaceAllString(h[1], "")), " ", "-"))
	}
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	all := pages(t)
	n := 0
	for name, text := range all {
		for _, l := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(l[1], "://") {
				continue
			}
			n++
			file, anchor, _ := strings.Cut(l[1], "#")
			target := path.Join(path.Dir(name), file)
			if file == "" {
				target = name
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s: %s leads nowhere", name, l[1])
			}
			if anchor != "" && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s: %s has no heading of that name", name, l[1])
			}
		}
	}
	require.Greater(t, n, 20)
}

// Code comments cite sections of WIRE.md; each must be there.
func TestCitedSectionsExist(t *testing.T) {
	cited := regexp.MustCompile(`WIRE\.md §(\d+)`)
	there := anchors(pages(t)["docs/formats/WIRE.md"])
	n := 0
	eachFile(t, func(name string, lines []string) {
		for _, c := range cited.FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
			n++
			if !slices.ContainsFunc(there, func(a string) bool { return strings.HasPrefix(a, c[1]+"-") }) {
				t.Errorf("%s cites WIRE.md §%s, which is not there", name, c[1])
			}
		}
	})
	require.Greater(t, n, 50)
}
