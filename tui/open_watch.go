package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// watchScreen waits until a folder holds something to review.
type watchScreen struct {
	folder string
	job    *job
	absent bool // the folder is not there yet
	failed error
}

// absentMsg says whether the folder is there.
type absentMsg bool

type watchedMsg struct {
	found []Entry
	err   error
}

func newWatch(s *session, folder string) (screen, tea.Cmd) {
	w := &watchScreen{folder: folder}
	road := s.road
	var cmd tea.Cmd
	w.job, cmd = start(w, func(ctx context.Context, tell func(tea.Msg)) tea.Msg {
		found, err := road.Watch(ctx, folder, func(absent bool) { tell(absentMsg(absent)) })
		return watchedMsg{found, err}
	})
	return w, cmd
}

func (w *watchScreen) title(*session) string       { return "Waiting for a file to review" }
func (w *watchScreen) commands(*session) []command { return []command{quit} }
func (w *watchScreen) place(*session, int, int)    {}
func (w *watchScreen) left()                       { w.job.cancel() }

func (w *watchScreen) update(s *session, msg tea.Msg) step {
	if absent, ok := msg.(absentMsg); ok {
		w.absent = bool(absent)
		return step{}
	}
	watched, ok := msg.(watchedMsg)
	switch {
	case !ok:
		return step{}
	case watched.err != nil:
		w.failed = watched.err
		return step{}
	}
	next := step{home: true, pop: true, push: newOpenAt(w.folder, watched.found)}
	if len(watched.found) == 1 {
		next.cmd = func() tea.Msg { return openFirst{} }
	}
	return next
}

func (w *watchScreen) view(s *session, width, _ int) []row {
	p := sheet{width: width}
	if w.failed != nil {
		layRefusal(&p, s.road, w.failed)
		return p.rows
	}
	p.say(0, plain, "Looking every second for a scope or an approver set in")
	p.text("  ", 2, plain, review.Escape(w.folder))
	p.say(0, plain, "and in the folders right below it. Plug the stick in.")
	if w.absent {
		p.say(0, warn, "The folder does not exist yet.")
	}
	p.blankRow()
	p.say(0, faint, "q leaves.")
	return p.rows
}
