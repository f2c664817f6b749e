package tui

import (
	"github.com/better-compute/approver/core/review"
)

// purpose says in a sentence what a signature would say, for the screens that ask for a PIN: whether it approves or declines,
// how much of what, and the first two words of the root. Kinds are texts from outside.
func purpose(r *review.Review) review.Text { return saying(verbOf(r.Document()), r.Document()) }

// did is purpose once it was signed.
func did(r *review.Review) review.Text { return saying(verbOf(r.Document())+"D", r.Document()) }

func saying(verb string, d *review.Document) review.Text {
	words := review.Words(d.Root)
	return review.Join(review.Escape(verb+" "+review.Counted(d.Size, d.Counts.String())+": "), contents(d), review.Escape("; root "+words[0]+" "+words[1]))
}

// verbOf says what a signature under a document does.
func verbOf(d *review.Document) string {
	if d.Declines() {
		return "DECLINE"
	}
	return "APPROVE"
}

// kindsNamed is how many kinds, or changes, a purpose names.
const kindsNamed = 3

// contents names the kinds of a batch, those that destroy as such, or the changes of a set.
func contents(d *review.Document) review.Text {
	rows := changesByTitle(d)
	if d.Counts == review.Operations {
		rows = nil
		for _, t := range d.Tallies[:min(len(d.Tallies), 1)] { // by kind
			rows = t.Rows
		}
	}
	var parts []review.Text
	add := func(texts ...review.Text) {
		if len(parts) > 0 {
			parts = append(parts, review.Escape(", "))
		}
		parts = append(parts, texts...)
	}
	for _, c := range rows[:min(len(rows), kindsNamed)] {
		before, after := "", ""
		if d.Counts == review.Operations || c.N > 1 {
			before = review.Number(c.N) + " "
		}
		if c.Destructive {
			after = " DESTRUCTIVE"
		}
		add(review.Escape(before), c.Name, review.Escape(after))
	}
	if left := len(rows) - kindsNamed; left > 0 {
		add(review.Escape(review.Number(left) + " more"))
	}
	return review.Join(parts...)
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
func (p *sheet) sentence(i ink, words review.Text) {
	if isASCII(words.String()) && words.Escapes() == 0 {
		p.say(0, i, words.String())
		return
	}
	p.text("", 2, i, words)
}
