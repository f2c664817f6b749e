package tui

import (
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// burstRunes is how many letters at once are no longer somebody who types: terminals without bracketed paste send a paste
// like keys, but faster than anybody is.
const burstRunes = 3

// A line is a line of text that is typed.
type line struct{ text string }

func (l *line) empty() bool { return l.text == "" }
func (l *line) clear()      { l.text = "" }

// burst tells whether a key is more than a person types at once.
func (l *line) burst(k tea.KeyMsg) bool { return k.Paste || len(k.Runes) > burstRunes }

// key takes a key into the line, up to so many characters.
func (l *line) key(k tea.KeyMsg, most int) {
	switch k.Type {
	case tea.KeyBackspace:
		_, n := utf8.DecodeLastRuneInString(l.text)
		l.text = l.text[:len(l.text)-n]
	case tea.KeyCtrlU:
		l.clear()
	case tea.KeyRunes, tea.KeySpace:
		if text := l.text + string(k.Runes); !k.Alt && utf8.RuneCountInString(text) <= most {
			l.text = text
		}
	}
}

// row draws the line behind a mark.
func (l *line) row() row {
	return row{own: "> ", text: review.Escape(l.text).String() + "_", ink: strong}
}

// rows draws a long line in several rows.
func (l *line) rows(width int) (rows []row) {
	parts := review.Escape(l.text + "_").Rows(max(width-2, 1))
	for i, part := range parts {
		mark := map[bool]string{true: "> ", false: goesOn}[i == 0]
		rows = append(rows, row{own: mark, text: part, ink: strong})
	}
	return rows
}
