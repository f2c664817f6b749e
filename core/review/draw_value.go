package review

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// text writes an escaped text from the column at on, where the line stands, and ends the line. Where the text goes on
// below, "> " stands to the left of the column, so that it cannot pose as a line of its own.
func (p *printer) text(s string, at int) {
	for {
		row := fitting(s, columns-at)
		p.line(s[:row])
		if s = s[row:]; s == "" {
			return
		}
		p.indent(at - 2)
		p.w.WriteString("> ")
	}
}

// prose writes the program's own words as text does, without marks.
func (p *printer) prose(s string, at int) {
	for {
		row := fitting(s, columns-at)
		p.line(strings.TrimRight(s[:row], " "))
		if s = s[row:]; s == "" {
			return
		}
		p.indent(at)
	}
}

// fitting gives how many bytes of an escaped text fit into so many cells, at least one unit, preferably up to a space.
func fitting(s string, cells int) int {
	if len(s) <= cells { // no unit has more cells than bytes
		return len(s)
	}
	i, used, space := 0, 0, 0
	for i < len(s) {
		n := unit(s[i:])
		if used += width(s[i : i+n]); used > cells && i > 0 {
			break
		}
		if s[i] == ' ' && used > cells*3/4 {
			space = i + n
		}
		i += n
	}
	if i < len(s) && space > 0 {
		return space
	}
	return i
}

// width gives the cells a unit takes at most: emoji, Hangul and Han take two, and nothing below Hangul does. Marks count, since
// there are terminals that give them a cell.
func width(u string) (cells int) {
	if u[0] < utf8.RuneSelf {
		return len(u)
	}
	for _, r := range u {
		cells++
		if r >= 0x1100 {
			cells++
		}
	}
	return cells
}

// value writes lines of text as one value from the column at on, and after it: none as "none", one as it is, in quotes
// where asked, and several with numbers, which no text can imitate.
func (p *printer) value(lines []Text, quote bool, after string, at int) {
	switch len(lines) {
	case 0:
		p.line("none" + after)
	case 1:
		p.single(lines[0].s, quote, after, at)
	default:
		p.line(Number(len(lines)) + " lines" + after)
		p.script(lines, at)
	}
}

// single writes a value of one line. Brief takes a long one's middle out, and says so below it.
func (p *printer) single(s string, quote bool, after string, at int) {
	head, tail := s, ""
	if p.detail == Brief {
		head, tail = shorten(s, briefBytes*p.scale)
	}
	drawn := head
	if tail != "" {
		drawn = head + " ... " + tail
	}
	if quote || s == "" {
		drawn = `"` + drawn + `"`
	}
	p.text(drawn+after, at)
	if tail != "" {
		p.elided = true
		p.indent(at)
		p.line("(" + Number(len(head)+len(tail)) + " of " + Number(len(s)) + " bytes shown)")
	}
}

// shorten gives the two ends of an escaped text that is over so many bytes long, else the text and "".
func shorten(s string, most int) (head, tail string) {
	if len(s) <= most {
		return s, ""
	}
	from, to := 0, 0
	for i := 0; i < len(s); i += unit(s[i:]) {
		if i <= most*2/3 {
			from = i
		}
		if to = i; len(s)-i <= most/3 {
			break
		}
	}
	return s[:from], s[to:]
}

// script writes a value of several lines, each with its number. Brief takes the middle out.
func (p *printer) script(lines []Text, at int) {
	digits := len(strconv.Itoa(len(lines)))
	skipFrom, skipTo := len(lines), len(lines)
	if shown := p.bound(len(lines), briefLines); shown < len(lines) {
		skipFrom, skipTo = shown-3, len(lines)-3
	}
	for i := 0; i < len(lines); i++ {
		if i == skipFrom {
			p.indent(at)
			p.line(strings.Repeat(" ", digits) + " : " + Number(skipTo-skipFrom) + " lines left out")
			i = skipTo
		}
		n := strconv.Itoa(i + 1)
		p.indent(at + digits - len(n))
		p.w.WriteString(n)
		p.scriptLine(lines[i].s, at+digits+3)
	}
}

// scriptLine writes a line of a script after its number. Spaces at its end, which a shell may care for, are counted below.
func (p *printer) scriptLine(s string, at int) {
	if s == "" {
		p.line(" |")
		return
	}
	p.w.WriteString(" | ")
	p.single(s, false, "", at)
	if ends := len(s) - len(strings.TrimRight(s, " ")); ends > 0 {
		p.indent(at)
		p.line("(" + Counted(ends, "space") + " at the end of this line)")
	}
}

// texts writes a list from the column at on, side by side; Brief draws a few.
func (p *printer) texts(list []Text, at int) {
	shown := p.bound(len(list), briefSubjects)
	for _, t := range list[:shown] {
		if strings.Contains(t.s, " ") { // side by side it could pass for two
			p.numbered(list[:shown], at)
			p.rest(len(list)-shown, at)
			return
		}
	}
	col := 0
	for _, t := range list[:shown] {
		if col > 0 && col+2+len(t.s) > columns {
			p.w.WriteByte('\n')
			col = 0
		}
		if col == 0 {
			p.indent(at)
			col = at
		} else {
			p.w.WriteString("  ")
			col += 2
		}
		if col+len(t.s) > columns { // alone on its line, and wrapped
			p.text(t.s, at)
			col = 0
			continue
		}
		p.w.WriteString(t.s)
		col += len(t.s)
	}
	if col > 0 {
		p.w.WriteByte('\n')
	}
	p.rest(len(list)-shown, at)
}

func (p *printer) numbered(list []Text, at int) {
	digits := len(strconv.Itoa(len(list)))
	for i, t := range list {
		n := strconv.Itoa(i + 1)
		p.indent(at + digits - len(n))
		p.w.WriteString(n)
		p.w.WriteString("  ")
		p.text(t.s, at+digits+2)
	}
}

// rest says how many of a list are not drawn, where any are not.
func (p *printer) rest(n, at int) {
	if n > 0 {
		p.indent(at)
		p.line("... and " + Number(n) + " more")
	}
}
