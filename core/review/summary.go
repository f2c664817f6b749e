package review

import (
	"cmp"
	"strings"
)

// SummaryAbove is how many operations of one kind are read one by one; of more, what is read first is their Summary.
const SummaryAbove = 50

// A Summary says what the many operations of one kind hold, field by field. Whoever makes a document gives one for each
// kind of more than SummaryAbove operations.
type Summary struct {
	Title   Text     `json:"title"` // of the operations: the kind
	Columns []Column `json:"columns,omitzero"`
}

// A Column is what one field holds in all operations of a kind, counted by subjects.
type Column struct {
	Name     Text   `json:"name"`
	Type     string `json:"type"`            // as of a Field
	Distinct int    `json:"distinct"`        // values, an absent one among them
	Range    string `json:"range,omitempty"` // of numbers: "0 to 79"
	Common   []Held `json:"common"`          // the commonest, or all where they are few
	Rare     []Held `json:"rare,omitzero"`   // the rarest
	Odd      []Held `json:"odd,omitzero"`    // of outliers, where they are neither of these
}

// Held is one value of a field and the number of subjects that have it.
type Held struct {
	N     int    `json:"n"`
	Value []Text `json:"value,omitzero"` // lines
	Note  string `json:"note,omitempty"` // instead of a value, as in "not set"
}

// summary finds the summary of a kind; the zero Summary where its fields are not known.
func (d *Document) summary(title Text) Summary {
	for _, s := range d.Summaries {
		if s.Title.s == title.s {
			return s
		}
	}
	return Summary{Title: title}
}

// summary draws many operations of one kind by field: how many values it has, their range, the commonest and the rarest.
func (p *printer) summary(s Summary, group []*Operation) {
	subjects := make([]Text, 0, len(group))
	shared := *group[0]
	shared.Marks, shared.Outlier = nil, false
	marks := map[string]int{}
	for _, o := range group {
		subjects = append(subjects, o.Subjects...)
		for _, m := range o.Marks {
			if marks[m]++; marks[m] == 1 {
				shared.Marks = append(shared.Marks, m)
			}
		}
	}
	for i, m := range shared.Marks {
		shared.Marks[i] = m + " (" + Number(marks[m]) + ")"
	}
	p.w.WriteByte('\n')
	at := p.ordinal(Number(len(group)) + " distinct")
	p.text(shared.Title.s, at)
	p.indent(fieldsAt)
	p.prose(shared.standing()+"on "+Counted(len(subjects), "subject")+"; by field:", fieldsAt)
	shown := p.bound(len(s.Columns), briefRows)
	for i := range s.Columns[:shown] {
		p.column(&s.Columns[i])
	}
	p.rest(len(s.Columns)-shown, fieldsAt)
	p.indent(fieldsAt)
	p.line("Subjects (" + Number(len(subjects)) + "):")
	p.texts(subjects, fieldsAt+2)
}

// column draws the values of a field: the commonest, then the rarest.
func (p *printer) column(c *Column) {
	at := fieldsAt + 2
	p.indent(fieldsAt)
	if IsName(c.Name.s) {
		p.text(c.Name.s, fieldsAt)
	} else {
		p.text(`"`+c.Name.s+`"`, fieldsAt)
	}
	p.indent(at)
	head := Counted(c.Distinct, "distinct value")
	if c.Range != "" {
		head += ", " + c.Range
	}
	p.line(head)
	quote := (&Field{Type: c.Type}).IsText()
	if len(c.Odd) > 0 {
		p.indent(at)
		p.line("of outliers:")
		p.heldValues(c.Odd, quote, at)
		p.indent(at)
		p.line("then the commonest:")
	}
	p.heldValues(c.Common, quote, at)
	if between := c.Distinct - len(c.Odd) - len(c.Common) - len(c.Rare); between > 0 {
		p.indent(at)
		p.line("... " + Number(between) + " others")
	}
	p.heldValues(c.Rare, quote, at)
}

func (p *printer) heldValues(values []Held, quote bool, at int) {
	for _, h := range values {
		n := Number(h.N)
		p.indent(at + 2 + max(0, 6-len(n)))
		p.w.WriteString(n)
		p.w.WriteString(" x ")
		if h.Value == nil {
			p.prose(cmp.Or(strings.TrimSpace(h.Note), "none"), at+2+6+3)
			continue
		}
		p.value(h.Value, quote, "", at+2+6+3)
	}
}
