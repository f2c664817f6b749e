package tui

import (
	"strings"

	"github.com/better-compute/approver/core/review"
	tea "github.com/charmbracelet/bubbletea"
)

// blank is the screen of a program that has ended.
type blank struct{}

func (blank) title(*session) string         { return "" }
func (blank) update(*session, tea.Msg) step { return step{} }
func (blank) place(*session, int, int)      {}
func (blank) view(*session, int, int) []row { return nil }
func (blank) commands(*session) []command   { return nil }

// bodyHeight gives the rows of a screen between the head and the foot, as far as there is room.
func (m *Model) bodyHeight() int { return max(m.session.height-1-len(m.foot()), 1) }

// View draws the head, the screen on top, and the foot: never more than the terminal's rows and columns.
func (m *Model) View() string {
	if m.ended {
		return ""
	}
	s := m.session
	var b strings.Builder
	b.Grow(s.height * (s.width + 16))
	rows := make([]row, 0, s.height)
	if s.height > 1 {
		rows = append(rows, m.head())
	}
	body := m.top().view(s, s.width, m.bodyHeight())
	body = body[:min(len(body), m.bodyHeight())]
	rows = append(rows, body...)
	if s.height > 2 {
		foot := m.foot()
		for len(rows) < s.height-len(foot) {
			rows = append(rows, row{})
		}
		rows = append(rows, foot...)
	}
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		r.marked(s.width).paint(&b, m.theme, s.width)
	}
	return b.String()
}

// head names the screen, and says how much is still to be read.
func (m *Model) head() row {
	s := m.session
	left := m.top().title(s)
	if s.opened == nil {
		return row{lead: left, leadInk: strong}
	}
	right := "nothing left to open"
	if word, ok := m.decided(); ok {
		right = word
	} else if s.opened.Review.Stop() != nil {
		right = "STOP"
	} else if s.opened.Bar.String() != "" {
		right = "to be read only"
	} else if s.closed() {
		right = "WINDOW CLOSED"
	} else if n := s.reading.Left(); !s.reading.Complete() {
		right = review.Number(n.Operations+n.Summaries+n.Findings) + " to open"
	}
	gap := s.width - len(left) - len(right)
	if gap < 1 {
		return row{lead: left, leadInk: strong}
	}
	return row{lead: left + strings.Repeat(" ", gap), leadInk: strong, own: right, ink: faint}
}

// decided tells whether what is left to open no longer matters, and what stands in its place: a decline is on its way, or
// all is done.
func (m *Model) decided() (word string, ok bool) {
	for _, s := range m.stack {
		switch s.(type) {
		case *declineScreen:
			word, ok = "DECLINE", true
		case *doneScreen:
			return "", true
		}
	}
	return word, ok
}

// moreBelow stands at the left of the foot of a screen of which more is below.
const moreBelow = "-- more below: PgDn"

// foot gives the keys of the screen as far as they fit, or what has to be noticed, in whole where there is room.
func (m *Model) foot() []row {
	s := m.session
	if s.notice != "" {
		p := sheet{width: s.width}
		p.lead("! ", 2, warn, s.notice)
		return p.rows[:max(min(len(p.rows), s.height-2), 1)]
	}
	keys, more := "? keys", ""
	if t, ok := m.top().(typist); ok && t.typing() { // where a question mark is text
		keys = "F1 keys"
	}
	if v, ok := m.top().(interface{ below() bool }); ok && v.below() {
		more = moreBelow + "  "
	}
	if len(more)+len(keys) > s.width {
		more = more[:min(len(more), s.width)]
		return []row{{lead: more, leadInk: strong}}
	}
	var b strings.Builder
	for _, c := range m.top().commands(s) {
		if c == pageDown && more != "" { // which says so
			continue
		}
		name, _, _ := strings.Cut(bindings[c].name, " ")
		entry := name + " " + bindings[c].foot + "  "
		if len(more)+b.Len()+len(entry)+len(keys) > s.width {
			break
		}
		b.WriteString(entry)
	}
	return []row{{lead: more, leadInk: strong, own: b.String() + keys, ink: faint}}
}
