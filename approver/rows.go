package main

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	rowIndent   = 5 + 2 + 17 + 2 // of what stands beside the name of a check
	widestRow   = 80
	leastWidth  = 40
	leastIndent = 8 // of a line that is not a row of its own
)

// rowWidth gives the columns of the controlling terminal, at most 80: what stands in a file is read on one too.
func (a *app) rowWidth() int {
	t := a.terminal()
	defer t.close()
	return min(t.columns(), widestRow)
}

// columns gives the width of the terminal, 40 for a smaller one and 80 for one that does not say.
func (t *terminal) columns() int {
	if t == nil {
		return widestRow
	}
	columns, _, err := term.GetSize(int(t.tty.Fd()))
	if err != nil || columns == 0 {
		return widestRow
	}
	return max(columns, leastWidth)
}

// drawRow writes a text after a head, broken so that no terminal of that width wraps it: a line that wraps could pose as the row
// of another check. Lines but the first are indented. A word that fits a line whole, as a digest does, is not broken: it begins
// further to the left. A rune beyond ASCII counts for two cells.
func drawRow(width int, head, text string) string {
	d := drawing{width: width, indent: min(len(head), width/3), at: len(head)}
	d.b.WriteString(head)
	fresh := true // nothing stands after the head or the indent yet
	for word := range strings.FieldsSeq(text) {
		n := cells(word)
		switch {
		case !fresh && d.at+1+n <= width:
			d.put(" ")
		case d.at+n <= width && fresh:
		case d.indent+n <= width:
			d.newLine(d.indent)
		case n <= width-leastIndent:
			d.newLine(width - n)
		case !fresh:
			d.newLine(d.indent)
		}
		d.word(word)
		fresh = false
	}
	return d.b.String() + "\n"
}

// A drawing is the text so far, and the cell that comes next.
type drawing struct {
	b                 strings.Builder
	width, indent, at int
}

func (d *drawing) newLine(indent int) {
	d.b.WriteString("\n" + strings.Repeat(" ", indent))
	d.at = indent
}

func (d *drawing) put(s string) {
	d.b.WriteString(s)
	d.at += cells(s)
}

// word writes a word, broken where a line cannot hold it: hex digits in pieces of a multiple of eight.
func (d *drawing) word(word string) {
	room := d.width
	piece := func() {
		if room = d.width; isHex(word) && cells(word) > d.width-d.at {
			room = d.at + (d.width-d.at)&^7
		}
	}
	piece()
	for _, r := range word {
		if d.at+cells(string(r)) > room {
			d.newLine(d.indent)
			piece()
		}
		d.put(string(r))
	}
}

// isHex tells whether a word is hex digits, but for what ends it.
func isHex(word string) bool {
	return strings.Trim(strings.TrimRight(word, ",;:."), "0123456789abcdef") == ""
}

func cells(s string) (n int) {
	for _, r := range s {
		n++
		if r >= utf8.RuneSelf {
			n++
		}
	}
	return n
}
