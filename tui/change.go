package tui

import (
	"slices"
	"strings"

	"github.com/better-compute/approver/core/review"
)

// layChanges lists the changes of a set, each on a row or two, with what it is about.
func layChanges(p *sheet, d *review.Document) {
	if d.Counts == review.Operations {
		return
	}
	for i := range d.Operations {
		own, about, i := changeLine(&d.Operations[i])
		lead := "  * " + own
		if len(lead)+review.Width(about.String()) <= p.width {
			p.text(lead, len(lead), i, about)
			continue
		}
		p.say(0, i, lead)
		p.text("", 6, i, about)
	}
}

// changeLine gives one change in a line: what it is, in the program's own words where it is such, and what it is about. A key
// has its kid and the file it came in, anything else what was before and what is after.
func changeLine(o *review.Operation) (own string, about review.Text, i ink) {
	title := o.Title.String()
	if !isASCII(title) {
		return "", o.Title, plain
	}
	if hasLoudWord(title) {
		i = alarm
	}
	about = o.Subjects[0]
	var before, after, is *review.Field
	all := o.Fields()
	for n := range all {
		switch f := &all[n]; f.Name.String() {
		case "approvals", "commands":
			is = f
		case "file":
			about = review.Join(review.Escape(`"`), inWords(f).Unquoted(), review.Escape(`" `), about)
		case "before":
			before = f
		case "after":
			after = f
		}
	}
	if before != nil && after != nil {
		about = review.Join(about, review.Escape(": "), inWords(before), review.Escape(" -> "), inWords(after))
	}
	if is != nil { // of a set that is held against none
		about = review.Join(about, review.Escape(": "), inWords(is))
	}
	return title + ": ", about, i
}

// hasLoudWord tells whether a word of a title is all capitals, as where a threshold FALLS.
func hasLoudWord(title string) bool {
	for word := range strings.FieldsSeq(title) {
		if len(word) > 1 && strings.ToUpper(word) == word {
			return true
		}
	}
	return false
}

// layKeys lays the keys of the set in force beside those of the new one; what leaves is marked -, what joins +.
func layKeys(p *sheet, d *review.Document) {
	var before, after []review.Text
	for _, f := range d.Facts {
		switch f.Key {
		case "keysBefore":
			before = f.Value
		case "keys":
			after = f.Value
		}
	}
	if before == nil {
		return
	}
	p.heading("Keys: - leaves, + joins")
	a, b := marked(before, after, "- "), marked(after, before, "+ ")
	if after == nil {
		b = []review.Text{review.Escape("none: the quorum is REMOVED")}
	}
	if twoColumns(p, 45, a, b) {
		return
	}
	for n, list := range [][]review.Text{a, b} {
		p.say(2, strong, []string{"before", "after"}[n])
		for _, key := range list {
			p.text("    ", 4, plain, key)
		}
	}
}

// marked puts a mark before each text that another list does not have.
func marked(list, other []review.Text, mark string) (out []review.Text) {
	for _, text := range list {
		m := "  "
		if !slices.Contains(other, text) {
			m = mark
		}
		out = append(out, review.Join(review.Escape(m), text))
	}
	return out
}

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
	if !twoColumns(p, 15, []review.Text{a}, []review.Text{b}) {
		p.text("  before  ", 10, plain, a)
		p.text("  after   ", 10, warn, b)
	}
}

// twoColumns lays out lists that are plain ASCII beside each other, where each has so many columns.
func twoColumns(p *sheet, columns int, before, after []review.Text) bool {
	half := (p.width - 7) / 2
	notASCII := func(t review.Text) bool { return !isASCII(t.String()) }
	if half < columns || slices.ContainsFunc(before, notASCII) || slices.ContainsFunc(after, notASCII) {
		return false
	}
	p.add(row{own: pad("  before", half+5) + "after", ink: strong})
	for i := range max(len(before), len(after)) {
		left, right := at(before, i).Rows(half), at(after, i).Rows(half)
		for j := range max(len(left), len(right)) {
			p.add(row{own: pad("  "+at(left, j), half+2) + " | ", text: at(right, j)})
		}
	}
	return true
}

// at gives the ith of a list, or nothing.
func at[T any](list []T, i int) (none T) {
	if i < len(list) {
		return list[i]
	}
	return none
}

// inWords gives what a field of a change holds on one line.
func inWords(f *review.Field) review.Text {
	if f == nil {
		return review.Escape("nothing")
	}
	var parts []review.Text
	for _, v := range f.Value {
		if len(parts) > 0 {
			parts = append(parts, review.Escape(" "))
		}
		parts = append(parts, v)
	}
	if f.Note != "" {
		note := f.Note
		if len(parts) > 0 {
			note = " " + note
		}
		parts = append(parts, review.Escape(note))
	}
	return review.Join(parts...)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
