package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// A findings screen lists the findings, the severe first.
type findings struct {
	cursor
	order []int
}

func newFindings(s *session) screen { return &findings{order: bySeverity(s.document().Findings)} }

func (o *findings) title(s *session) string { return "Findings: " + review.Number(len(o.order)) }

func (o *findings) commands(s *session) []command {
	return s.listed(enter, next, back, showOverview, showOperations, showSubjects, search, filter, confirm)
}

func (o *findings) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	c := commandOf(k)
	switch {
	case o.move(c):
		return step{}
	case c == enter && len(o.order) > 0:
		return step{push: newFinding(o.order[o.at])}
	}
	st, _ := s.travel(c)
	return st
}

func (o *findings) place(_ *session, width, height int) { o.set(len(o.order), height) }

func (o *findings) view(s *session, width, height int) []row {
	if len(o.order) == 0 {
		return []row{{own: "  There are none."}}
	}
	rows := make([]row, 0, height)
	for i := o.offset; i < o.end(); i++ {
		f := &s.document().Findings[o.order[i]]
		r := row{lead: state(s.reading.Finding(o.order[i])),
			own: strings.ToUpper(f.Severity.String()) + " " + string(f.Rule) + ": ", text: f.Message.String(), ink: inkOf(f.Severity)}
		rows = append(rows, r.pointed(i == o.at).marked(width))
	}
	return rows
}

// A finding screen shows one finding: its rule and what that means, what was found, what to do, and every place. It counts
// as opened once all but the places, and the first of them, were on the screen.
type finding struct {
	sheetReader
	index int
}

func newFinding(index int) screen { return &finding{index: index} }

func (o *finding) title(s *session) string {
	return "Finding: " + string(s.document().Findings[o.index].Rule)
}

func (o *finding) commands(s *session) []command {
	return s.listed(pageDown, next, back, filter, showFindings, showOverview)
}

func (o *finding) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	c := commandOf(k)
	due, opened := s.reading.Finding(o.index)
	switch {
	case o.follow(s, c, due, opened):
		return step{}
	case c == next:
		return o.next(s, o.ended(), opened)
	case (c == filter || c == showSubjects) && len(o.tail.texts) > 0:
		return toSubjects(s, selection{by: byFinding, finding: o.index})
	}
	st, _ := s.travel(c)
	return st
}

func (o *finding) place(s *session, width, height int) {
	if o.settle(s, width, height, o.lay) {
		s.reading.OpenFinding(o.index)
	}
}

func (o *finding) lay(s *session, width int) {
	f := &s.document().Findings[o.index]
	p := sheet{width: width}
	p.say(2, inkOf(f.Severity), strings.ToUpper(f.Severity.String())+" "+string(f.Rule))
	p.text("", 2, strong, f.Message)
	p.heading("What the rule says")
	p.say(2, plain, upper(f.Rule.Meaning())+".")
	p.say(2, plain, asks(f, s.opened.Bar.String() != ""))
	p.heading("What to do")
	p.say(2, plain, f.Advice)
	if len(f.Places) > 0 {
		p.heading("Where (" + review.Number(len(f.Places)) + ")")
	}
	o.sheet, o.tail = p, newTail(f.Places, 4, width)
}

// asks says what a finding asks of the person, who may only read.
func asks(f *review.Finding, reads bool) string {
	switch {
	case reads && f.Severity == review.Acknowledge:
		return "It is one to ACKNOWLEDGE: whoever signs must have opened it."
	case f.Severity == review.Stop:
		words := "It is a STOP: nothing is signed."
		if flag := f.Rule.Flag(); flag != "" {
			words += " Only the command's flag " + flag + " makes it one to acknowledge."
		}
		return words
	case f.Severity == review.Acknowledge:
		return "It is one to ACKNOWLEDGE: it must be opened before you sign."
	}
	return "It is a NOTE."
}
