package tui

import (
	"strings"

	"github.com/better-compute/approver/core/review"
)

// A row is one line of the terminal: the program's own words, then a text from outside. The own words are ASCII.
type row struct {
	lead    string // own, in an ink of its own
	leadInk ink
	own     string // own
	text    string // escaped; nothing ever follows it
	ink     ink    // of own and text
}

// paint draws the row in so many columns at most.
func (r row) paint(b *strings.Builder, t *Theme, width int) {
	lead := r.lead[:min(len(r.lead), width)]
	own := r.own[:min(len(r.own), width-len(lead))]
	if n := len(own); n > 0 && n < len(r.own) {
		own = own[:n-1] + "+"
	}
	t.paint(b, r.leadInk, lead)
	t.paint(b, r.ink, own)
	if r.ink == paper { // drawn of blocks by this program, where there is room for it
		b.WriteString("\x1b[30;47m" + r.text + "\x1b[0m")
		return
	}
	t.paint(b, r.ink, review.Fit(r.text, width-len(lead)-len(own)))
}

// marked gives the row with a mark before it where its text is longer than the row; Enter shows all of it.
func (r row) marked(width int) row {
	n, m := len(r.lead), len(r.own)
	if r.ink == paper || review.Width(r.text) <= width-n-m {
		return r
	}
	switch {
	case n > 0:
		r.lead = r.lead[:n-1] + "+"
	case m > 0:
		r.own = r.own[:m-1] + "+"
	}
	return r
}

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
