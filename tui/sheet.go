package tui

import (
	"strconv"
	"strings"

	"github.com/better-compute/approver/core/review"
)

// A sheet is rows laid out for one width, longer than the screen as a rule.
type sheet struct {
	width int
	rows  []row
}

// add appends rows as they are.
func (p *sheet) add(rows ...row) { p.rows = append(p.rows, rows...) }

// blankRow appends an empty row, never two, and none at the top.
func (p *sheet) blankRow() {
	if n := len(p.rows); n > 0 && p.rows[n-1] != (row{}) {
		p.add(row{})
	}
}

// say appends the program's own words, wrapped, from a column on.
func (p *sheet) say(at int, i ink, words string) { p.lead("", at, i, words) }

// heading appends a title after an empty row.
func (p *sheet) heading(words string) {
	p.blankRow()
	p.say(0, strong, words)
}

// lead appends the program's own words from a column on, after a lead that stands before that column.
func (p *sheet) lead(lead string, at int, i ink, words string) {
	at = p.column(at)
	for n, words := range review.Escape(words).Rows(p.width - at) {
		r := row{own: pad(lead, at) + words, ink: i}
		if n > 0 {
			r.own = pad("", at) + strings.TrimPrefix(words, " ")
		}
		p.add(r)
	}
}

// goesOn stands before a text that goes on from the row above. The mark of the cursor is another.
const goesOn = "\\ "

// text appends a text from outside from a column on, after a lead; where it goes on below, "\\ " stands to its left. The
// lead is never empty for a text that could begin a row.
func (p *sheet) text(lead string, at int, i ink, t review.Text) { p.quoted(lead, at, i, t, false) }

// quoted appends a text as text does, between quotes where asked.
func (p *sheet) quoted(lead string, at int, i ink, t review.Text, quote bool) {
	at = max(p.column(at), 2)
	mark := ""
	if quote || t.String() == "" {
		mark = `"`
	}
	rows := t.Rows(p.width - at - 2*len(mark))
	for n, s := range rows {
		r := row{own: pad(lead, at) + mark, text: s, ink: i}
		if n > 0 {
			r.own = pad("", at-2) + goesOn + pad("", len(mark))
		}
		if n == len(rows)-1 {
			r.text += mark
		}
		p.add(r)
	}
}

// column keeps a column within two thirds of the sheet, so that something fits to its right.
func (p *sheet) column(at int) int { return min(at, p.width*2/3) }

// value appends the lines of a value from a column on: none as "none", one as it is, several with numbers.
func (p *sheet) value(lead string, at int, i ink, lines []review.Text, quote bool, note string) {
	switch len(lines) {
	case 0:
		p.lead(lead, at, i, "none"+note)
		return
	case 1:
		p.quoted(lead, at, i, lines[0], quote)
	default:
		p.lead(lead, at, i, review.Counted(len(lines), "line")+note)
		note = ""
		at, digits := p.column(at), len(strconv.Itoa(len(lines)))
		for n, line := range lines {
			p.script(at, i, pad("", digits-len(strconv.Itoa(n+1)))+strconv.Itoa(n+1), line)
		}
	}
	if note != "" {
		p.say(at, faint, note[1:])
	}
}

// script appends a numbered line of a script. Spaces at its end are counted below it.
func (p *sheet) script(at int, i ink, number string, line review.Text) {
	lead := pad("", at) + number + " |"
	if line.String() == "" {
		p.add(row{own: lead, ink: i})
		return
	}
	p.text(lead+" ", len(lead)+1, i, line)
	if ends := trailingSpaces(line.String()); ends > 0 {
		p.say(len(lead)+1, faint, "("+review.Counted(ends, "space")+" at the end of this line)")
	}
}

func trailingSpaces(s string) (n int) {
	for n < len(s) && s[len(s)-1-n] == ' ' {
		n++
	}
	return n
}

const blanks = "                                                                                                    "

// pad fills s up with spaces to so many columns; what is longer gets one.
func pad(s string, columns int) string {
	if n := columns - len(s); n > 0 {
		for n > len(blanks) {
			s, n = s+blanks, n-len(blanks)
		}
		return s + blanks[:n]
	}
	if s == "" || columns <= 0 {
		return s
	}
	return s[:columns-1] + " "
}
