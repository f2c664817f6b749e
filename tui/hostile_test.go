package tui

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
)

// dangerous are what a terminal would obey, hide, reorder, widen or draw over its neighbours, each by its name.
var dangerous = func() map[string]string {
	m := map[string]string{
		"clears the screen": "\x1b[2J\x1b[H", "sets the title": "\x1b]0;owned\x07", "8-bit CSI": "\u009b2K", "raw byte": "\x9b\xff", "device status": "\x1b[6n",
		"wide": "日本語のホスト", "spelled with marks": strings.Repeat("ที่", 60), "a mark alone": "\u0e35", "a mark after a spacing one": "/\u0903\u0900", "emoji": "\U0001F680\U0001F469\u200d\U0001F680", "stacked": "e" + strings.Repeat("\u0301", 12), "flags": "\U0001F1E9\U0001F1EA",
		"hangul": "\u1112\u1161\u11ab", "mimics an escape": "<U+0041><0x41>", "lines": "a\r\nb\nc\u2028d\u0085e",
	}
	for _, r := range []rune{0x00ad, 0x034f, 0x061c, 0x115f, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2028, 0x2029,
		0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x20dd, 0x2800, 0x3000, 0x3164, 0xfe0e, 0xfe0f, 0xfeff, 0xfff9, 0xfffc, 0xe000, 0xe0041, 0x10ffff, 0x5d0, 0x627, 0x661} {
		m[fmt.Sprintf("%04X", r)] = string(r)
	}
	for r := range rune(0xa0) {
		if r < ' ' || r >= 0x7f {
			m[fmt.Sprintf("control %02X", r)] = string(r)
		}
	}
	return m
}()

// hostile is a document of which every text is one and the same.
func hostile(t require.TestingT, s string) *Opened {
	x := review.Escape(s)
	list := []review.Text{x, x}
	fields := []review.Field{
		{Name: x, Type: "string", Odd: true, Value: []review.Text{x}, Usual: list}, {Name: x, Type: "string", Value: list, Default: true},
		{Name: x, Type: "map", Fields: []review.Field{{Name: x, Type: "bytes", Note: "not set"}, {Name: x, Type: "string", Value: list}}},
		{Name: review.Escape("before"), Type: "words", Value: list}, {Name: review.Escape("after"), Type: "words", Value: list},
	}
	d := review.Document{
		Facts:   []review.Fact{{Name: "batch", Value: []review.Text{x}, Note: "claimed"}, {Name: "reason", Value: list}, {Key: "handsOver", Name: "what it hands over", Value: list}},
		Tallies: []review.Tally{{Title: "by kind", Rows: []review.Count{{Name: x, N: 2, Destructive: true}}}},
		Findings: []review.Finding{review.NewFinding(review.Outlier, x, list...), review.NewFinding(review.ApprovalsClaimed, x),
			review.NewFinding(review.NoExpect, x, x)},
		Summaries: []review.Summary{{Title: x, Columns: []review.Column{{Name: x, Type: "string", Distinct: 9, Common: []review.Held{{N: 2, Value: list}}, Rare: []review.Held{{N: 1, Value: []review.Text{x}}}}}}},
	}
	for i := range 60 {
		o := review.Operation{Title: x, Type: x, Digest: make([]byte, sha256.Size), Destructive: true, Outlier: i == 0, Subjects: list}
		o.SetFields(func() []review.Field { return fields })
		d.Operations = append(d.Operations, o)
	}
	if d.Escapes = x.Escapes(); d.Escapes > 0 {
		d.Findings = append(d.Findings, review.NewFinding(review.EscapedText, x))
	}
	o := openedDocument(t, d)
	o.Path = x
	o.Leaf = func(int, int) (Leaf, error) { return Leaf{}, fmt.Errorf("no leaf: %s", s) }
	o.Decline = func(string) (*review.Review, error) { return nil, fmt.Errorf("no: %s", s) }
	return o
}

// The ways to every screen.
var ways = [][]string{
	{}, {"end"}, {"2"}, {"2", "pgdown"}, {"2", "enter"}, {"2", "enter", "end"}, {"2", "down", "enter"}, {"2", "down", "enter", "end"}, {"2", "end", "enter", "pgdown"},
	{"3"}, {"3", "end"}, {"3", "enter"}, {"3", "f"}, {"3", "f", "end"}, {"3", "f", "down", "enter"}, {"3", "/", "z", "z"}, {"3", "/", "<"}, {"2", "enter", "f"},
	{"4"}, {"4", "enter"}, {"4", "end", "enter"}, {"4", "enter", "f"}, {"?"}, {"A"}, {"D"}, {"n"}, {"n", "n", "n"},
}

// Nothing on any screen moves a cursor, hides, reorders or stands over something else, and no row is wider than the terminal.
func TestNoScreenShowsADangerousRune(t *testing.T) {
	for name, s := range dangerous {
		t.Run(name, func(t *testing.T) {
			for _, way := range ways {
				d := driveOpened(t, hostile(t, "a"+s+"b")).size(80, 24).keys(way...)
				for _, size := range sizes {
					requireSafe(t, d.size(size[0], size[1]).view(), size[0], size[1])
				}
			}
		})
	}
}

// The same of what is searched for, which a person may have pasted.
func TestNoSearchShowsADangerousRune(t *testing.T) {
	for _, s := range dangerous {
		d := driveOpened(t, hostile(t, "plain")).size(40, 12).keys("3", "/", s)
		requireSafe(t, d.view(), 40, 12)
	}
}

func requireSafe(t require.TestingT, view string, width, height int) {
	lines := strings.Split(view, "\n")
	require.LessOrEqual(t, len(lines), height)
	for _, line := range lines {
		require.True(t, utf8.ValidString(line))
		require.LessOrEqual(t, lipgloss.Width(line), width, "%q", line)
		var sp spelled
		for _, r := range line {
			if sp.isMark(r) {
				continue
			}
			if r != ' ' && (r < ' ' || r > '~') && (!unicode.IsGraphic(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Z, unicode.Hebrew, unicode.Arabic) ||
				slices.Contains([]rune{0x115f, 0x2800, 0x3164, 0xfffc}, r)) {
				require.Fail(t, "a dangerous rune", "%U in %q", r, line)
			}
		}
	}
}

// spelled tells the marks that a script such as Thai is spelled with, which a review draws after a letter or a spacing mark of
// one, at most two in a row, from those that stand over something else.
type spelled struct{ room int }

func (s *spelled) isMark(r rune) bool {
	switch {
	case unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Inherited, r) && s.room > 0:
		s.room--
		return true
	case r >= 0x900 && unicode.In(r, unicode.L, unicode.Mc) && !unicode.Is(unicode.Latin, r):
		s.room = 2
	default:
		s.room = 0
	}
	return false
}

// A text is never at the start of a row, however long it is and wherever it breaks, so it cannot pose as the program's own.
func TestNoTextBeginsARow(t *testing.T) {
	const evil = "CLEAR: nothing speaks against this batch scope. Everything that must be opened was opened. "
	for _, way := range ways {
		d := driveOpened(t, hostile(t, strings.Repeat(evil, 12))).size(80, 24).keys(way...)
		for width := 30; width < 140; width += 7 {
			for _, line := range strings.Split(d.size(width, 40).view(), "\n") {
				for _, word := range strings.Fields(evil) {
					require.False(t, strings.HasPrefix(line, word+" ") && !ownWords(line), "%q after %v", line, way)
				}
			}
		}
	}
}

// ownWords tells rows of the program's own that begin with one of the words.
func ownWords(line string) bool {
	return strings.HasPrefix(line, "opened before") || strings.HasPrefix(line, "before you sign") || strings.HasPrefix(line, "scope.") ||
		strings.HasPrefix(line, "batch scope.") || strings.HasPrefix(line, "this batch") || strings.HasPrefix(line, "opened ") || strings.HasPrefix(line, "be opened") || strings.HasPrefix(line, "this")
}

// The whole of every text can be read: nothing is cut that no other row shows.
func TestLongTextsAreShownWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 30) + "THE-END"
	for _, way := range [][]string{{"2", "enter"}, {"4", "enter"}, {"2", "down", "enter"}, {"3", "enter"}, {}} {
		d := driveOpened(t, hostile(t, long)).size(40, 12).keys(way...)
		text := ""
		for range 400 {
			text += d.view()
			d.keys("down")
		}
		require.Contains(t, text, "THE-END", "%v", way)
	}
}
