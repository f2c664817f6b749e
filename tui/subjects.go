package tui

import (
	"context"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// A subjects screen lists the subjects that are selected and hold what is searched for, 50,000 of them if need be; only the
// rows that show are drawn.
type subjects struct {
	cursor
	selection selection
	base      []uint32 // of the selection; nil for all
	found     []uint32 // of base, those that hold the query; nil for all
	query     string
	input     bool // the query is being typed
	job       *job // looks for the selection
}

// selected is what the job brings.
type selected struct{ subjects []uint32 }

// toSubjects leads to the subjects of a selection.
func toSubjects(s *session, f selection) step {
	o := &subjects{}
	st := o.choose(s, f)
	st.push = o
	return st
}

func (o *subjects) title(s *session) string {
	return "Subjects: " + review.Number(o.count(s)) + " of " + review.Number(s.index.size())
}

func (o *subjects) typing() bool { return o.input }

func (o *subjects) left() {
	if o.job != nil {
		o.job.cancel()
	}
}

func (o *subjects) commands(*session) []command {
	if o.input {
		return nil // the bar says what ends it; all other keys are text
	}
	return []command{search, filter, enter, back, showOverview, showOperations, showFindings}
}

// count gives the number of subjects that are listed.
func (o *subjects) count(s *session) int {
	if o.found == nil {
		return s.index.size()
	}
	return len(o.found)
}

func (o *subjects) update(s *session, msg tea.Msg) step {
	switch msg := msg.(type) {
	case selected:
		o.job, o.base = nil, msg.subjects
		o.look(s, o.base)
	case tea.KeyMsg:
		if o.input {
			return o.typed(s, msg)
		}
		return o.command(s, commandOf(msg))
	}
	return step{}
}

func (o *subjects) command(s *session, c command) step {
	switch {
	case o.move(c):
		return step{}
	case c == search:
		o.input = true
		return step{}
	case c == back && o.query != "":
		o.query = ""
		o.look(s, o.base)
		return step{}
	case c == filter:
		return toFilters(s, o)
	case c == enter && o.count(s) > 0:
		operation, subject := s.index.of(o.nth(o.at))
		return toLeaf(s, operation, subject)
	case c == showSubjects:
		return o.choose(s, selection{})
	}
	st, _ := s.travel(c)
	return st
}

// typed takes a key of the query. Whatever a terminal may send as one, only what prints is taken.
func (o *subjects) typed(s *session, k tea.KeyMsg) step {
	longer := false
	switch k.Type {
	case tea.KeyEnter:
		o.input = false
		return step{}
	case tea.KeyEsc:
		o.input, o.query = false, ""
	case tea.KeyUp, tea.KeyDown, tea.KeyPgUp, tea.KeyPgDown:
		o.move(commandOf(k))
		return step{}
	case tea.KeyBackspace:
		o.query = o.query[:len(o.query)-lastRune(o.query)]
	case tea.KeyCtrlU:
		o.query = ""
	case tea.KeyRunes, tea.KeySpace:
		longer = true
		o.query += printable(k.Runes, maxQuery-len(o.query))
	default:
		return step{}
	}
	among := o.base
	if longer {
		among = o.found
	}
	o.look(s, among)
	return step{}
}

// maxQuery bounds the query in bytes.
const maxQuery = 128

func printable(runes []rune, room int) string {
	var b strings.Builder
	for _, r := range runes {
		if unicode.IsPrint(r) && b.Len()+4 <= room {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func lastRune(s string) int {
	runes := []rune(s)
	if len(runes) == 0 {
		return 0
	}
	return len(string(runes[len(runes)-1]))
}

// look searches among subjects, and puts the cursor on the first that is found.
func (o *subjects) look(s *session, among []uint32) {
	o.at, o.offset = 0, 0
	if o.query == "" {
		o.found = o.base
		return
	}
	var b strings.Builder
	fold(&b, o.query)
	o.found = s.index.find(b.String(), among)
}

// choose takes another selection; one that takes a while is looked for beside the screen.
func (o *subjects) choose(s *session, f selection) step {
	o.left()
	o.selection, o.query, o.job = f, "", nil
	if f.by == byFinding || f.by == asExpected {
		o.base, o.found = []uint32{}, []uint32{}
		var cmd tea.Cmd
		o.job, cmd = start(o, func(context.Context, func(tea.Msg)) tea.Msg { return selected{f.subjects(s)} })
		return step{cmd: cmd}
	}
	o.base = f.subjects(s)
	o.look(s, o.base)
	return step{}
}

// nth gives the subject on a row of the list.
func (o *subjects) nth(row int) int {
	if o.found == nil {
		return row
	}
	return int(o.found[row])
}

func (o *subjects) place(s *session, _, height int) { o.set(o.count(s), max(height-1, 1)) }

func (o *subjects) view(s *session, width, height int) []row {
	rows := append(make([]row, 0, height), o.bar(s, width))
	for i := o.offset; i < o.end() && len(rows) < height; i++ {
		rows = append(rows, o.row(s, i, width))
	}
	if o.query != "" && o.count(s) == 0 && o.job == nil {
		p := sheet{width: width}
		p.say(2, warn, o.nothing(s))
		rows = append(rows, p.rows[:min(len(p.rows), height-len(rows))]...)
	}
	return rows
}

// nothing says that nothing was found, and among what: a subject that is not among the shown may be in the batch.
func (o *subjects) nothing(s *session) string {
	rest := s.index.size() - len(o.base)
	if o.selection.by == byNothing || rest == 0 {
		return "None of all " + review.Number(s.index.size()) + " holds this."
	}
	return "Not among the " + review.Number(len(o.base)) + " shown; the other " + review.Number(rest) + " were NOT searched. Esc, then 3, shows all."
}

// among says of how many subjects a search goes through, where it is not all.
func (o *subjects) among(s *session) string {
	if o.selection.by == byNothing {
		return ""
	}
	return " " + review.Number(len(o.base)) + " of " + review.Number(s.index.size())
}

// bar says which subjects are shown.
func (o *subjects) bar(s *session, width int) row {
	switch {
	case o.input && width < 60:
		return row{lead: "search" + o.among(s) + ": ", leadInk: strong, text: review.Escape(o.query).String()}
	case o.input:
		return row{lead: "search" + o.among(s) + " (Enter keeps it, Esc ends it): ", leadInk: strong, text: review.Escape(o.query).String()}
	case o.job != nil:
		return row{own: "looking ...", ink: faint}
	case o.query != "":
		return row{own: "search" + o.among(s) + " (Esc ends it): ", text: review.Escape(o.query).String(), ink: warn}
	}
	own, text := o.selection.says(s)
	return row{own: "shown: " + own, text: text, ink: faint}
}

// row draws one subject: the state of its operation, the kind where there is room, the subject.
func (o *subjects) row(s *session, i, width int) row {
	operation, subject := s.index.of(o.nth(i))
	op := &s.document().Operations[operation]
	r := row{lead: state(s.reading.Operation(operation)), ink: inkOfOperation(op), text: op.Subjects[subject].String()}
	r.own = standing(op, true)
	if kind := op.Title.String(); width >= 60 && review.IsName(kind) {
		r.own = pad(r.own, 6) + pad(kind, 22)
	}
	return r.pointed(i == o.at).marked(width)
}
