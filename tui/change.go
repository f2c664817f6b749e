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
	words := o.Subjects[0].String()
	var before, after *review.Field
	all := o.Fields()
	for n := range all {
		switch f := &all[n]; f.Name.String() {
		case "file":
			name := strings.ReplaceAll(strings.TrimSpace(inWords(f)), `"`, "'") // it must not end before it ends
			words = `"` + name + `" ` + words
		case "before":
			before = f
		case "after":
			after = f
		}
	}
	if before != nil && after != nil {
		words += ": " + strings.TrimSpace(inWords(before)) + " -> " + strings.TrimSpace(inWords(after))
	}
	return title + ": ", review.Escape(words), i
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
	var before, after []string
	for _, f := range d.Facts {
		for _, v := range f.Value {
			switch f.Key {
			case "keysBefore":
				before = append(before, v.String())
			case "keys":
				after = append(after, v.String())
			}
		}
	}
	if before == nil {
		return
	}
	p.heading("Keys: - leaves, + joins")
	a, b := marked(before, after, "- "), marked(after, before, "+ ")
	if after == nil {
		b = []string{"none: the quorum is REMOVED"}
	}
	if twoColumns(p, 45, a, b) {
		return
	}
	for n, list := range [][]string{a, b} {
		p.say(2, strong, []string{"before", "after"}[n])
		for _, key := range list {
			p.text("    ", 4, plain, review.Escape(key))
		}
	}
}

// marked puts a mark before each text that another list does not have.
func marked(list, other []string, mark string) (out []string) {
	for _, text := range list {
		m := "  "
		if !slices.Contains(other, text) {
			m = mark
		}
		out = append(out, m+text)
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
	if !twoColumns(p, 15, []string{a}, []string{b}) {
		p.text("  before  ", 10, plain, review.Escape(a))
		p.text("  after   ", 10, warn, review.Escape(b))
	}
}

// twoColumns lays out lists that are plain ASCII beside each other, where each has so many columns.
func twoColumns(p *sheet, columns int, before, after []string) bool {
	half := (p.width - 7) / 2
	if half < columns || !isASCII(strings.Join(before, "")) || !isASCII(strings.Join(after, "")) {
		return false
	}
	p.add(row{own: pad("  before", half+5) + "after", ink: strong})
	for i := range max(len(before), len(after)) {
		left, right := review.Escape(at(before, i)).Rows(half), review.Escape(at(after, i)).Rows(half)
		for j := range max(len(left), len(right)) {
			p.add(row{own: pad("  "+at(left, j), half+2) + " | ", text: at(right, j)})
		}
	}
	return true
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
