//go:build unix

package docs_test

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "draw the pictures anew")

// The picture of README.md is a real review: what approver prints about examples/415, with three stretches left out.
//
//	go test ./docs -run Picture -update
func TestThePictureIsWhatApproverPrints(t *testing.T) {
	const command = "approver batch show --scope examples/415/scope.json \\\n" +
		"    --expect examples/415/expected.json \\\n" +
		"    --trust-domain compute.example.com --now 2099-12-31T12:00:00Z\n"
	out, status := newDesk(t).run(t, &block{language: "sh", code: command})
	require.Equal(t, 0, status, out)
	lines := strings.Split(out, "\n")
	from := func(line string) int {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, line) })
		require.GreaterOrEqual(t, i, 0, "%q is not there:\n%s", line, out)
		return i
	}
	outlier := from("  ACKNOWLEDGE outlier")
	operation := from("1 of 3")
	shown := strings.Split("$ "+strings.TrimSpace(command), "\n")
	for _, stretch := range [][2]int{
		{0, from("Batch scope") + 2}, {from("  reason"), from("  agent ")}, {from("Root,"), from("By kind") + 3},
		{outlier, outlier + 6}, {operation, from("2 of 3")},
	} {
		shown = append(shown, lines[stretch[0]:stretch[1]]...)
		if last := shown[len(shown)-1]; stretch[1] < len(lines) && last != "" {
			shown = append(shown, "  ⋮")
		}
	}
	requirePicture(t, "review.svg", draw("A review: 415 operations, and the one machine whose image differs", 760, shown[:len(shown)-1], paint))
}

// requirePicture holds a drawing against the file that is shipped.
func requirePicture(t *testing.T, name, picture string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(picture), 0o644))
	}
	have, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, picture, string(have), "draw it anew: go test ./docs -run Picture -update")
}

// colours paint the words that a person looks for.
var colours = []struct {
	words  *regexp.Regexp
	colour string
}{
	{regexp.MustCompile(`^\$ .*|^    --.*`), "#7ee787"},
	{regexp.MustCompile(`\bDESTRUCTIVE\b`), "#ff7b72"},
	{regexp.MustCompile(`\bOUTLIER\b|^  != \w+|most have|gpu-0231`), "#ffa657"},
	{regexp.MustCompile(`\bACKNOWLEDGE\b`), "#e3b341"},
	{regexp.MustCompile(`^[A-Z][a-z]+( .*|, .*)?$|^1 of 3 .*`), "#79c0ff"},
	{regexp.MustCompile(`⋮`), "#8b949e"},
}

// draw draws lines of text as a terminal would, as SVG; paint gives the text elements of a line.
func draw(label string, width int, lines []string, paint func(string) string) string {
	const (
		step, left, top = 18, 20, 52
		font            = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
	)
	var b strings.Builder
	height := top + len(lines)*step
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", width, height, width, height, label)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`+"\n", width, height)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="20" r="6" fill="%s"/>`+"\n", 22+i*20, colour)
	}
	fmt.Fprintf(&b, `<g font-family="%s" font-size="14" fill="#c9d1d9" xml:space="preserve">`+"\n", font)
	for i, line := range lines {
		if line != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", left, top+i*step, paint(line))
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// paint colours a line by the first rule for each stretch of it. Spaces become no-break spaces, since not every viewer
// keeps the others.
func paint(line string) string {
	var b strings.Builder
	for line != "" {
		at, colour := []int{len(line), len(line)}, ""
		for _, c := range colours {
			if found := c.words.FindStringIndex(line); found != nil && found[0] < at[0] {
				at, colour = found, c.colour
			}
		}
		b.WriteString(escaped(line[:at[0]]))
		if colour != "" {
			fmt.Fprintf(&b, `<tspan fill="%s">%s</tspan>`, colour, escaped(line[at[0]:at[1]]))
		}
		line = line[at[1]:]
	}
	return b.String()
}

func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(strings.ReplaceAll(s, " ", "\u00a0"))); err != nil {
		panic(err)
	}
	return b.String()
}
