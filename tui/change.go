package tui

import (
	"github.com/better-compute/approver/core/review"
)

// layChange lays out one change of an approver set, or one part of it: in words, then before and after side by side, and of
// a removal what it hands over.
func layChange(p *sheet, d *review.Document, o *review.Operation) {
	p.text("", 2, strong, o.Title)
	p.text("", 2, plain, o.Subjects[0])
	all := o.Fields()
	var rest []review.Field
	var before, after *review.Field
	for i := range all {
		switch f := &all[i]; f.Name.String() {
		case "before":
			before = f
		case "after":
			after = f
		default:
			rest = append(rest, *f)
		}
	}
	if before != nil || after != nil {
		p.blankRow()
		sideBySide(p, before, after)
	}
	if len(rest) > 0 {
		p.blankRow()
		fields(p, rest, 0)
	}
	for _, f := range d.Facts {
		if f.Key == "handsOver" && o == &d.Operations[0] {
			p.blankRow()
			p.say(2, alarm, upper(f.Name)+":")
			p.value("", 4, alarm, f.Value, false, "")
			p.say(4, alarm, "("+f.Note+")")
		}
	}
}

// sideBySide lays two values out in two columns where both are plain ASCII and there is room, else one below the other.
func sideBySide(p *sheet, before, after *review.Field) {
	a, b := inWords(before), inWords(after)
	half := (p.width - 7) / 2
	if half < 15 || !isASCII(a) || !isASCII(b) {
		p.text("  before  ", 10, plain, review.Escape(a))
		p.text("  after   ", 10, warn, review.Escape(b))
		return
	}
	left, right := review.Escape(a).Rows(half), review.Escape(b).Rows(half)
	p.add(row{own: pad("  before", half+5) + "after", ink: strong})
	for i := range max(len(left), len(right)) {
		r := row{own: pad("  "+at(left, i), half+2) + " | ", ink: plain}
		r.text = at(right, i)
		p.add(r)
	}
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return ""
}

// inWords gives what a field of a change holds on one line.
func inWords(f *review.Field) string {
	if f == nil {
		return "nothing"
	}
	words := ""
	for _, v := range f.Value {
		words += v.String() + " "
	}
	if f.Note != "" {
		words += f.Note
	}
	return words
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
