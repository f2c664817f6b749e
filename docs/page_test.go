package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A block is a fenced block of a page that is run.
//
//	```sh              bash runs it; it ends with status 0
//	```sh status=1     it ends with status 1
//	```go              a whole program; it is built, and runs where the commands run
//	```text            after one of these: the lines are in the output, in this order; … stands for anything
//
// Blocks of any other kind, such as ```console and ```json, are not run. Nothing that runs is hidden from a reader: a page
// has no HTML comments.
type block struct {
	line     int
	language string
	status   int
	code     string
	output   []string // lines that are wanted
}

var fence = regexp.MustCompile("^```([a-z]+)(?: status=([0-9]+))?$")

// blocks gives what a page runs.
func blocks(t *testing.T, text string) (found []*block) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		begin := fence.FindStringSubmatch(lines[i])
		if begin == nil {
			require.False(t, strings.HasPrefix(lines[i], "```") && lines[i] != "```", "line %d: %q is no fence this test knows", i+1, lines[i])
			require.NotContains(t, lines[i], "<!--", "line %d: a reader does not see it", i+1)
			continue
		}
		first := i + 1
		for i++; lines[i] != "```"; i++ {
			require.Less(t, i+1, len(lines), "the block of line %d does not end", first)
		}
		body := lines[first:i]
		switch begin[1] {
		case "sh", "go":
			status, _ := strconv.Atoi(begin[2])
			found = append(found, &block{line: first, language: begin[1], status: status, code: strings.Join(body, "\n") + "\n"})
		case "text":
			require.NotEmpty(t, found, "line %d: output of nothing", first)
			last := found[len(found)-1]
			require.Empty(t, last.output, "line %d: a second output", first)
			last.output = body
		}
	}
	return found
}

// pages gives README.md and every page of docs, by its path from the top of the module.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	add := func(path string) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		found[filepath.ToSlash(filepath.Join("docs", path))] = string(data)
	}
	add("../README.md")
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			add(path)
		}
		return err
	}))
	require.Greater(t, len(found), 10)
	return found
}

// wanted turns a line of a text block into a pattern.
func wanted(line string) *regexp.Regexp {
	parts := strings.Split(strings.TrimRight(line, " "), "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

// requireOutput holds what a block printed against what the page says.
func requireOutput(t *testing.T, b *block, printed string) {
	t.Helper()
	lines := strings.Split(printed, "\n")
	for _, line := range b.output {
		if strings.TrimSpace(line) == "" || strings.TrimSpace(line) == "…" {
			continue
		}
		pattern := wanted(line)
		for len(lines) > 0 && !pattern.MatchString(strings.TrimRight(lines[0], " ")) {
			lines = lines[1:]
		}
		require.NotEmpty(t, lines, "line %d: the page says it prints\n%s\nin this place, and it printed\n%s", b.line, line, printed)
		lines = lines[1:]
	}
}
