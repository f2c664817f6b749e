package tui

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// A filters screen lists what subjects can be selected by, for the subjects screen below it; each operation comes last.
type filters struct {
	cursor
	of      *subjects
	options []option // all but the operations
	job     *job     // counts what takes a while
}

// countedMsg is how many subjects the options have whose subjects must be looked for, in their order.
type countedMsg []int

// An option is a selection and how many subjects it has, or -1 where that is not counted yet.
type option struct {
	selection selection
	n         int
}

// toFilters leads to the filters; what takes a while to count is counted beside the screen.
func toFilters(s *session, of *subjects) step {
	o := &filters{of: of, options: optionsOf(s)}
	var wanted []selection
	for _, choice := range o.options {
		if choice.n < 0 {
			wanted = append(wanted, choice.selection)
		}
	}
	if len(wanted) == 0 {
		return step{push: o}
	}
	var cmd tea.Cmd
	o.job, cmd = start(o, func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
		counts := countedMsg{}
		for _, f := range wanted {
			if ctx.Err() != nil {
				break
			}
			counts = append(counts, len(f.subjects(s)))
		}
		return counts
	})
	return step{push: o, cmd: cmd}
}

func (o *filters) left() {
	if o.job != nil {
		o.job.cancel()
	}
}

// counted notes what was counted.
func (o *filters) counted(counts countedMsg) {
	for i := range o.options {
		if o.options[i].n < 0 && len(counts) > 0 {
			o.options[i].n, counts = counts[0], counts[1:]
		}
	}
	o.options = slices.DeleteFunc(o.options, func(o option) bool { return o.n == 0 }) // which would lead nowhere
}

func optionsOf(s *session) []option {
	d := s.document()
	options := []option{{n: s.index.size()}}
	for i, f := range d.Findings {
		if len(f.Places) > 0 {
			options = append(options, option{selection{by: byFinding, finding: i}, -1})
		}
	}
	if slices.ContainsFunc(d.Facts, func(f review.Fact) bool { return f.Key == "expectedList" }) {
		options = append(options, option{selection{by: asExpected}, -1})
	}
	options = append(options, kindOptions(d)...)
	for i, site := range s.index.sites {
		options = append(options, option{selection{by: bySite, site: i}, site.n})
	}
	return options
}

// kindOptions gives the kinds in the order of the document, where those of one stand together as a rule.
func kindOptions(d *review.Document) (options []option) {
	at, last := map[string]int{}, -1
	for i := range d.Operations {
		name := d.Operations[i].Title.String()
		if last < 0 || options[last].selection.name != name {
			k, seen := at[name]
			if !seen {
				k = len(options)
				at[name] = k
				options = append(options, option{selection{by: byKind, name: name}, 0})
			}
			last = k
		}
		options[last].n += len(d.Operations[i].Subjects)
	}
	return options
}

// count gives the number of all options.
func (o *filters) count(s *session) int { return len(o.options) + len(s.document().Operations) }

// option gives one of all.
func (o *filters) option(s *session, i int) option {
	if i < len(o.options) {
		return o.options[i]
	}
	operation := i - len(o.options)
	return option{selection{by: byOperation, operation: operation}, len(s.document().Operations[operation].Subjects)}
}

func (o *filters) title(*session) string { return "Which subjects to show" }

func (o *filters) commands(*session) []command { return []command{enter, back, pageDown, bottom} }

func (o *filters) update(s *session, msg tea.Msg) step {
	if counts, ok := msg.(countedMsg); ok {
		o.counted(counts)
	}
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	c := commandOf(k)
	switch {
	case o.move(c):
		return step{}
	case c == enter:
		st := o.of.choose(s, o.option(s, o.at).selection)
		st.pop = true
		return st
	}
	st, _ := s.travel(c)
	return st
}

func (o *filters) place(s *session, _, height int) { o.set(o.count(s), height) }

func (o *filters) view(s *session, _, height int) []row {
	rows := make([]row, 0, height)
	for i := o.offset; i < o.end(); i++ {
		choice, n := o.option(s, i), ""
		if choice.n >= 0 {
			n = review.Number(choice.n)
		}
		own, text := choice.selection.says(s)
		r := row{own: pad("", 6-len(n)) + n + "  " + own, text: text}.pointed(i == o.at)
		if f := choice.selection; f.by == byFinding && s.document().Findings[f.finding].Severity == review.Stop {
			r.ink = alarm
		}
		rows = append(rows, r)
	}
	return rows
}
