package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// A summary screen shows the many operations of one kind field by field: how many values each has, their range, the
// commonest and the rarest; then the random sample that is opened beside it.
type summary struct {
	sheetReader
	index int
}

func newSummary(index int) screen { return &summary{index: index} }

func (o *summary) title(s *session) string {
	return "Summary of " + review.Number(len(s.reading.Groups()[o.index].Operations)) + " operations"
}

func (o *summary) commands(*session) []command {
	return []command{pageDown, next, back, filter, showOperations, showOverview}
}

func (o *summary) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	c := commandOf(k)
	switch {
	case o.follow(s, c, true, s.reading.Summary(o.index)):
		return step{}
	case c == next:
		return o.next(s, o.ended(), s.reading.Summary(o.index))
	case c == filter || c == showSubjects:
		group := s.reading.Groups()[o.index]
		return toSubjects(s, selection{by: byKind, name: s.document().Operations[group.Operations[0]].Title.String()})
	}
	st, _ := s.travel(c)
	return st
}

func (o *summary) place(s *session, width, height int) {
	if o.settle(s, width, height, o.lay) {
		s.reading.OpenSummary(o.index)
	}
}

func (o *summary) lay(s *session, width int) {
	group := s.reading.Groups()[o.index]
	d := s.document()
	p := sheet{width: width}
	laySummary(&p, d, &group)
	p.heading("Opened one by one: a sample drawn at random")
	for _, i := range group.Sample {
		op := &d.Operations[i]
		lead := "  " + ordinal(i, len(d.Operations)) + " on "
		p.text(lead, len(lead), plain, op.Subjects[0])
	}
	o.sheet = p
}

// laySummary lays out what the many operations of a kind hold.
func laySummary(p *sheet, d *review.Document, group *review.Group) {
	p.text("", 2, strong, d.Operations[group.Operations[0]].Title)
	p.say(2, plain, review.Number(len(group.Operations))+" distinct operations that are no outliers, too many to read one by one. What all of this kind hold, by field, the outliers included:")
	if len(group.Summary.Columns) == 0 {
		p.say(2, alarm, "What they would do is not known here.")
	}
	for i := range group.Summary.Columns {
		layColumn(p, &group.Summary.Columns[i])
	}
}

// layColumn lays out the values of one field, the commonest first.
func layColumn(p *sheet, c *review.Column) {
	p.blankRow()
	p.quoted("  ", 2, strong, c.Name, !review.IsName(c.Name.String()))
	head := review.Counted(c.Distinct, "distinct value")
	if c.Range != "" {
		head += ", " + c.Range
	}
	p.say(4, plain, head)
	quote := (&review.Field{Type: c.Type}).IsText()
	if len(c.Odd) > 0 {
		p.say(4, warn, "of outliers:")
		heldValues(p, c.Odd, quote, warn)
		p.say(4, plain, "then the commonest:")
	}
	heldValues(p, c.Common, quote, plain)
	if between := c.Distinct - len(c.Odd) - len(c.Common) - len(c.Rare); between > 0 {
		p.say(8, faint, "... "+review.Number(between)+" others")
	}
	heldValues(p, c.Rare, quote, warn)
}

func heldValues(p *sheet, values []review.Held, quote bool, i ink) {
	for _, h := range values {
		lead := "    " + pad("", 6-len(review.Number(h.N))) + review.Number(h.N) + " x "
		if h.Value == nil {
			note := strings.TrimSpace(h.Note)
			if note == "" {
				note = "none"
			}
			p.lead(lead, len(lead), i, note)
			continue
		}
		p.value(lead, len(lead), i, h.Value, quote, "")
	}
}
