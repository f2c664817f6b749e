package tui

import (
	"encoding/hex"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// An operation screen shows one operation, all of its fields and all of its subjects. It counts as opened once the last row
// of the fields and the first subject were on the screen.
type operation struct {
	sheetReader // the tail is the subjects
	index       int
}

func newOperation(index int) screen { return &operation{index: index} }

func (o *operation) title(s *session) string {
	return upper(s.document().Counts.String()) + " " + ordinal(o.index, len(s.document().Operations))
}

func (o *operation) commands(s *session) []command {
	return s.listed(pageDown, next, back, filter, showOperations, showOverview)
}

func (o *operation) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	c := commandOf(k)
	due, opened := s.reading.Operation(o.index)
	switch {
	case o.follow(s, c, due, opened):
		return step{}
	case c == next:
		return o.next(s, o.ended(), opened)
	case (c == filter || c == showSubjects) && s.hasSubjects():
		return toSubjects(s, selection{by: byOperation, operation: o.index})
	}
	st, _ := s.travel(c)
	return st
}

func (o *operation) place(s *session, width, height int) {
	if o.settle(s, width, height, o.lay) {
		s.reading.OpenOperation(o.index)
	}
}

func (o *operation) lay(s *session, width int) {
	d := s.document()
	op := &d.Operations[o.index]
	p := sheet{width: width}
	if d.Counts != review.Operations {
		layChange(&p, d, op)
		o.sheet, o.tail = p, tail{}
		return
	}
	p.text("", 2, strong, op.Title)
	if words := standing(op, false); words != "" {
		p.say(2, inkOfOperation(op), words)
	}
	for _, m := range op.Marks {
		p.say(2, warn, m)
	}
	p.say(2, plain, "on "+review.Counted(len(op.Subjects), "subject"))
	if op.Digest != nil {
		p.say(2, faint, "payload SHA-256 "+hex.EncodeToString(op.Digest))
	}
	if op.Type.String() != "" {
		p.text("  type ", 7, faint, op.Type)
	}
	p.blankRow()
	switch all := op.Fields(); {
	case len(all) > 0:
		fields(&p, all, 0)
	case all != nil:
		p.say(2, plain, "This operation has no fields.")
	default:
		p.say(2, alarm, "What it would do is not known here.")
	}
	p.heading("Subjects (" + review.Number(len(op.Subjects)) + ")")
	o.sheet, o.tail = p, newTail(op.Subjects, fieldsAt, width)
}
