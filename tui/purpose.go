package tui

import (
	"strings"

	"github.com/better-compute/approver/core/review"
)

// purpose says in a sentence what a signature would say, for the screens that ask for a PIN: whether it approves or declines,
// how much of what, and the first two words of the root. Kinds are texts from outside.
func purpose(r *review.Review) string {
	d := r.Document()
	verb := "APPROVE "
	if d.Declines() {
		verb = "DECLINE "
	}
	words := review.Words(d.Root)
	return verb + count(d.Size, d.Counts.String()) + ": " + contents(d) + "; root " + words[0] + " " + words[1]
}

// kindsNamed is how many kinds, or changes, a purpose names.
const kindsNamed = 3

// contents names the kinds of a batch, those that destroy as such, or the changes of a set.
func contents(d *review.Document) string {
	rows := changesByTitle(d)
	if d.Counts == review.Operations {
		rows = nil
		for _, t := range d.Tallies[:min(len(d.Tallies), 1)] { // by kind
			rows = t.Rows
		}
	}
	var parts []string
	for _, c := range rows[:min(len(rows), kindsNamed)] {
		part := c.Name.String()
		if d.Counts == review.Operations || c.N > 1 {
			part = number(c.N) + " " + part
		}
		if c.Destructive {
			part += " DESTRUCTIVE"
		}
		parts = append(parts, part)
	}
	if left := len(rows) - kindsNamed; left > 0 {
		parts = append(parts, number(left)+" more")
	}
	return strings.Join(parts, ", ")
}

// changesByTitle counts the changes of a set by what they are, in their order.
func changesByTitle(d *review.Document) (rows []review.Count) {
	at := map[string]int{}
	for i := range d.Operations {
		title := d.Operations[i].Title
		k, seen := at[title.String()]
		if !seen {
			k = len(rows)
			at[title.String()] = k
			rows = append(rows, review.Count{Name: title})
		}
		rows[k].N++
	}
	return rows
}

// sentence appends words that may hold a text from outside.
func (p *sheet) sentence(i ink, words string) {
	if isASCII(words) {
		p.say(0, i, words)
		return
	}
	p.text("", 2, i, review.Escape(words))
}
