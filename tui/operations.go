package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// An operations screen lists every distinct operation, or every change: the outliers first, then kind by kind, where a
// kind is too many to be read one by one its summary and the sample before the rest.
type operations struct {
	cursor
	entries []entry
}

// An entry is a row of the list: an operation, or the summary of a group.
type entry struct {
	index   int // of the operation, or of the group
	summary bool
	sample  bool // of a group's random sample
	grouped bool // of a group, which its summary stands for
}

func newOperations(s *session) screen {
	return &operations{entries: entriesOf(s.document(), s.reading.Groups())}
}

// entriesOf gives what is listed, in its order.
func entriesOf(d *review.Document, groups []review.Group) []entry {
	entries := make([]entry, 0, len(d.Operations)+len(groups))
	grouped, at := make([]int, len(d.Operations)), make(map[int]int, len(groups))
	for g := range groups {
		at[groups[g].Operations[0]] = g
		for _, i := range groups[g].Operations {
			grouped[i] = g + 1
		}
	}
	for i := range d.Operations {
		if d.Operations[i].Outlier {
			entries = append(entries, entry{index: i})
		}
	}
	for i := range d.Operations {
		if g, first := at[i]; first {
			entries = append(entries, groupEntries(g, &groups[g])...)
		} else if grouped[i] == 0 && !d.Operations[i].Outlier {
			entries = append(entries, entry{index: i})
		}
	}
	return entries
}

func groupEntries(g int, group *review.Group) []entry {
	entries := append(make([]entry, 0, len(group.Operations)+1), entry{index: g, summary: true})
	for _, i := range group.Sample {
		entries = append(entries, entry{index: i, sample: true, grouped: true})
	}
	sample := group.Sample
	for _, i := range group.Operations {
		if len(sample) > 0 && sample[0] == i {
			sample = sample[1:]
			continue
		}
		entries = append(entries, entry{index: i, grouped: true})
	}
	return entries
}

func (o *operations) title(s *session) string {
	return upper(s.document().Counts.String()) + "s: " + review.Number(len(s.document().Operations))
}

func (o *operations) commands(s *session) []command {
	return s.listed(enter, next, back, showOverview, showSubjects, showFindings, search, filter, confirm)
}

func (o *operations) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	c := commandOf(k)
	switch {
	case o.move(c):
		return step{}
	case c == enter && o.entries[o.at].summary:
		return step{push: newSummary(o.entries[o.at].index)}
	case c == enter:
		return step{push: newOperation(o.entries[o.at].index)}
	}
	st, _ := s.travel(c)
	return st
}

func (o *operations) place(s *session, width, height int) { o.set(len(o.entries), height) }

func (o *operations) view(s *session, width, height int) []row {
	rows := make([]row, 0, height)
	for i := o.offset; i < o.end(); i++ {
		rows = append(rows, o.row(s, o.entries[i], width).pointed(i == o.at).marked(width))
	}
	return rows
}

// row draws an entry: its state, the number of its subjects, what sets it apart, and what it does.
func (o *operations) row(s *session, e entry, width int) row {
	d := s.document()
	if e.summary {
		g := &s.reading.Groups()[e.index]
		return row{lead: state(true, s.reading.Summary(e.index)), text: d.Operations[g.Operations[0]].Title.String(),
			own: "SUMMARY of " + review.Number(len(g.Operations)) + " x ", ink: warn}
	}
	op := &d.Operations[e.index]
	r := row{lead: state(s.reading.Operation(e.index)), text: op.Title.String()}
	if d.Counts != review.Operations {
		own, about, ink := changeLine(op)
		r.own, r.text, r.ink = own, about.String(), ink
		return r
	}
	n := review.Number(len(op.Subjects))
	r.own, r.ink = pad("", 6-len(n))+n+" x "+standing(op, width < 60), inkOfOperation(op)
	if e.sample {
		r.own += "SAMPLE "
	}
	if name := op.Title.String(); review.IsName(name) {
		on, subjects := onSubjects(op)
		r.own, r.text = r.own+name+" "+on, subjects.String()
	}
	return r
}

// onSubjects says on what an operation is done: the first subject, and how many more, which no text from outside may say.
func onSubjects(o *review.Operation) (own string, text review.Text) {
	first, more := o.Subjects[0], len(o.Subjects)-1
	switch {
	case more == 0:
		return "on ", first
	case isASCII(first.String()) && !strings.Contains(first.String(), " "):
		return "on ", review.Join(first, review.Escape(" and "+review.Number(more)+" more"))
	}
	return "on " + review.Number(more+1) + ", the first ", first
}

func inkOfOperation(o *review.Operation) ink {
	switch {
	case o.Outlier:
		return warn
	case o.Destructive:
		return alarm
	}
	return plain
}

// standing says what sets an operation apart, in short where there is little room.
func standing(o *review.Operation, short bool) (words string) {
	outlier, destructive := "OUTLIER ", "DESTRUCTIVE "
	if short {
		outlier, destructive = "!= ", "D "
	}
	if o.Outlier {
		words = outlier
	}
	if o.Destructive {
		words += destructive
	}
	return words
}

// ordinal says which of how many something is.
func ordinal(i, of int) string { return review.Number(i+1) + " of " + review.Number(of) }
