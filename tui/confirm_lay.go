package tui

import (
	"encoding/hex"

	"github.com/better-compute/approver/core/review"
)

// lay writes what is signed: how much of what, and what speaks against it, every distinct operation, then all facts and the root
// in whole.
func (c *confirmScreen) lay(s *session, width int) sheet {
	d := c.review.Document()
	p := sheet{width: width}
	if d.Declines() {
		p.say(0, strong, "You are about to DECLINE this "+d.What+". A decline approves nothing.")
	} else {
		p.say(0, strong, "You are about to APPROVE this "+d.What+" with your key.")
	}
	conclusion := d.Conclusion()
	for _, sentence := range conclusion[1:] { // the first says what to do, which is done by now
		p.say(0, plain, sentence)
	}
	layChanges(&p, d)
	layKeys(&p, d)
	for _, t := range d.Tallies {
		tally(&p, t, d.Size)
	}
	if len(d.Findings) > 0 {
		p.heading("Findings")
	}
	for _, i := range bySeverity(d.Findings) {
		layFinding(&p, &d.Findings[i])
	}
	if c.reading != nil && d.Counts == review.Operations {
		layOperations(&p, c.reading)
	}
	p.heading(upper(d.What))
	p.text("  file", factsAt, plain, s.opened.Path)
	if s.opened.Key != "" {
		p.lead("  key", factsAt, plain, s.opened.Key)
	}
	facts(&p, d.Facts)
	layRoot(&p, "Root", d.Root, d.RootOf)
	return p
}

// layOperations writes every distinct operation with all of its fields, the outliers first; of a kind that was read by its
// summary that, and how many were not opened.
func layOperations(p *sheet, g *review.Reading) {
	d := g.Review().Document()
	p.heading("What is done, " + review.Number(len(d.Operations)) + " distinct")
	for n, e := range entriesOf(d, g.Groups()) {
		if n > 0 {
			p.blankRow()
		}
		switch {
		case e.summary:
			group := &g.Groups()[e.index]
			unopened := 0
			for _, i := range group.Operations {
				if _, opened := g.Operation(i); !opened {
					unopened++
				}
			}
			laySummary(p, d, group)
			p.say(2, warn, review.Number(unopened)+" were not opened one by one.")
		case !e.grouped:
			layDistinct(p, &d.Operations[e.index])
		}
	}
}

// layDistinct writes one operation: how often, what, on what, and its fields.
func layDistinct(p *sheet, o *review.Operation) {
	mark := "     "
	if o.Outlier {
		mark = "  != "
	}
	lead := mark + review.Number(len(o.Subjects)) + " x " + standing(o, false)
	if title := o.Title.String(); review.IsName(title) {
		p.say(0, inkOfOperation(o), lead+title)
	} else {
		p.say(0, inkOfOperation(o), lead)
		p.text("", fieldsAt, inkOfOperation(o), o.Title)
	}
	for _, m := range o.Marks {
		p.say(fieldsAt, warn, m)
	}
	on, subjects := onSubjects(o)
	if p.column(fieldsAt+len(on)) < fieldsAt+len(on) {
		p.say(fieldsAt, plain, on)
		on = ""
	}
	p.text(pad("", fieldsAt)+on, fieldsAt+len(on), plain, subjects)
	if all := o.Fields(); len(all) > 0 {
		fields(p, all, 0)
	} else if all == nil {
		p.say(fieldsAt, alarm, "What it would do is not known here.")
	}
}

// layRoot writes 32 bytes that are compared by voice: in hex and in numbered words.
func layRoot(p *sheet, name string, root []byte, of string) {
	if of != "" {
		name += " of " + of
	}
	p.heading(name)
	p.hex(hex.EncodeToString(root))
	rootWords(p, root)
}

// hex writes digits in whole, broken where the row ends.
func (p *sheet) hex(digits string) {
	for digits != "" {
		n := min(len(digits), max((p.width-2)/8*8, 8))
		p.add(row{own: "  " + digits[:n]})
		digits = digits[n:]
	}
}
