package tui

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// travel follows the commands that lead elsewhere from any screen over a document; ok is false for all others.
func (s *session) travel(c command) (st step, ok bool) {
	switch c {
	case back:
		return step{pop: true}, true
	case showOverview:
		return step{home: true}, true
	case showOperations:
		return step{home: true, push: newOperations(s)}, true
	case showSubjects, search, filter:
		return s.subjects(c), true
	case showFindings:
		return step{home: true, push: newFindings(s)}, true
	case next:
		return s.next(), true
	case confirm:
		return s.confirm(), true
	case decline:
		if s.opened.Decline == nil {
			s.notice = "this cannot be declined"
			return step{}, true
		}
		return step{push: newDecline(s)}, true
	}
	return step{}, false
}

// hasSubjects tells whether what is read is done to subjects: a change of a set is not.
func (s *session) hasSubjects() bool { return s.document().Counts == review.Operations }

// subjects leads to all subjects, and there to the search or the filters where those were asked for.
func (s *session) subjects(c command) step {
	if !s.hasSubjects() {
		s.notice = "it has no subjects; 2 lists the " + s.document().Counts.String() + "s"
		return step{}
	}
	o := &subjects{}
	st := o.choose(s, selection{})
	st.home, st.push = true, o
	switch c {
	case search:
		o.input = true
	case filter:
		over := toFilters(s, o)
		st.over, st.cmd = over.push, tea.Batch(st.cmd, over.cmd)
	}
	return st
}

// deciding gives the keys that lead to a decision, as far as it is open.
func (s *session) deciding() (list []command) {
	list = []command{next}
	if s.opened.Review.Stop() == nil && s.opened.Bar.String() == "" {
		list = append(list, confirm)
	}
	if s.opened.Decline != nil {
		list = append(list, decline)
	}
	return list
}

// listed gives the keys without those that lead to subjects where there are none.
func (s *session) listed(commands ...command) []command {
	if s.hasSubjects() {
		return commands
	}
	return slices.DeleteFunc(commands, func(c command) bool { return c == showSubjects || c == search || c == filter })
}

// confirm leads to the questions before signing, where nothing stands in the way.
func (s *session) confirm() step {
	if why := s.hindrance(); why != "" {
		s.notice = why
		return step{}
	}
	return step{push: newConfirm(s)}
}

// next leads to what is still to be opened: findings from the severe to the mild, summaries, operations.
func (s *session) next() step {
	d := s.document()
	for _, i := range bySeverity(d.Findings) {
		if due, opened := s.reading.Finding(i); due && !opened {
			return step{push: newFinding(i)}
		}
	}
	for i := range s.reading.Groups() {
		if !s.reading.Summary(i) {
			return step{push: newSummary(i)}
		}
	}
	for i := range d.Operations {
		if due, opened := s.reading.Operation(i); due && !opened {
			return step{push: newOperation(i)}
		}
	}
	s.notice = "nothing is left to open"
	if s.hindrance() == "" {
		s.notice += "; A goes on"
	}
	return step{}
}

// nextAfter is next on a screen that shows one of these things: the next takes its place.
func (s *session) nextAfter() step {
	st := s.next()
	st.pop = st.push != nil
	return st
}

// bySeverity gives the indexes of findings, the severe first.
func bySeverity(findings []review.Finding) []int {
	order := make([]int, len(findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(findings[b].Severity, findings[a].Severity) })
	return order
}

// readable tells whether a screen is large enough for what stands on it to count as read.
func readable(width, height int) bool { return width >= 30 && height >= 5 }

// tooSmall is all that a screen says which asks for something and cannot say for what.
func tooSmall(width int) []row {
	p := sheet{width: width}
	p.say(0, strong, "Too small: nothing typed is taken. Wanted: 40 columns, 12 rows.")
	return p.rows
}

// state is the mark of something in a list: to be opened, opened, or neither.
func state(due, opened bool) string {
	switch {
	case opened:
		return "[x] "
	case due:
		return "[ ] "
	}
	return " -  "
}

// pointer is the mark of the row that Enter opens.
func pointer(here bool) string {
	if here {
		return "> "
	}
	return "  "
}

// pointed puts the sign of the cursor before the lead.
func (r row) pointed(here bool) row {
	if r.lead = pointer(here) + r.lead; here {
		r.leadInk = chosen
	}
	return r
}

// inkOf is the ink of a severity.
func inkOf(v review.Severity) ink {
	switch v {
	case review.Stop:
		return alarm
	case review.Acknowledge:
		return warn
	}
	return plain
}
