package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// readingFile reads a file, and shows how far it is.
type readingFile struct {
	path   string
	first  bool // the program was started with this file: what is wrong with it ends the program
	job    *job
	done   int64 // bytes
	all    int64
	failed error
}

type (
	progressMsg struct{ done, all int64 }
	openedMsg   struct {
		opened *Opened
		index  *subjectIndex
		err    error
	}
)

// newReadingFile begins to read a file.
func newReadingFile(s *session, path string, first bool) (screen, tea.Cmd) {
	f := &readingFile{path: path, first: first}
	road := s.road
	var cmd tea.Cmd
	f.job, cmd = start(f, func(ctx context.Context, tell func(tea.Msg)) tea.Msg {
		opened, err := road.Open(ctx, path, func(done, all int64) { tell(progressMsg{done, all}) })
		if err != nil {
			return openedMsg{err: err}
		}
		return openedMsg{opened, newSubjectIndex(opened.Review.Document()), nil}
	})
	return f, cmd
}

func (f *readingFile) title(*session) string       { return "Reading" }
func (f *readingFile) commands(*session) []command { return []command{back} }
func (f *readingFile) place(*session, int, int)    {}
func (f *readingFile) left()                       { f.job.cancel() }

func (f *readingFile) update(s *session, msg tea.Msg) step {
	switch msg := msg.(type) {
	case progressMsg:
		f.done, f.all = msg.done, msg.all
	case openedMsg:
		if msg.err == nil {
			s.open(msg.opened, msg.index)
			return step{pop: true, push: newOverview(s)} // a picker stays below, for Esc
		}
		if f.failed = msg.err; f.first {
			s.failed = msg.err
			return step{quit: true}
		}
	case tea.KeyMsg:
		if commandOf(msg) == back {
			if f.first { // there is no picker to go back to
				return step{quit: true}
			}
			return step{pop: true}
		}
	}
	return step{}
}

func (f *readingFile) view(s *session, width, _ int) []row {
	p := sheet{width: width}
	p.text("file ", 5, plain, review.Escape(f.path))
	p.blankRow()
	switch {
	case f.failed != nil:
		p.say(0, alarm, "It cannot be reviewed.")
		layRefusal(&p, s.road, f.failed)
		p.blankRow()
		p.say(0, faint, "Esc goes back to the list.")
	case f.all > 0 && f.done >= f.all:
		p.say(0, plain, "Read. The root is computed, and everything is decoded ...")
	case f.all > 0:
		p.say(0, plain, "Reading: "+review.Number(int(f.done*100/f.all))+" % of "+review.Number(int(f.all))+" bytes")
	default:
		p.say(0, plain, "Reading ...")
	}
	return p.rows
}
