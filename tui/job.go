package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// A job is work beside the screens. What it tells and its end come to the screen that started it as messages, as long as
// that screen stands and the job was not cancelled.
type job struct {
	owner  screen
	cancel context.CancelFunc
	events chan tea.Msg
	ended  bool
}

// jobMsg brings what a job says to the root.
type jobMsg struct {
	job  *job
	msg  tea.Msg
	done bool
}

// start runs work for a screen. What the work gives to tell, and what it returns, come to owner.update. The screen cancels
// the job where it is left.
func start(owner screen, work func(ctx context.Context, tell func(tea.Msg)) tea.Msg) (*job, tea.Cmd) {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{owner: owner, cancel: cancel, events: make(chan tea.Msg)}
	run := func() tea.Msg {
		end := work(ctx, func(msg tea.Msg) {
			select {
			case j.events <- msg:
			case <-ctx.Done():
			}
		})
		close(j.events)
		return jobMsg{j, end, true}
	}
	return j, tea.Batch(run, j.listen())
}

// listen waits for what the job tells next.
func (j *job) listen() tea.Cmd {
	return func() tea.Msg {
		msg, ok := <-j.events
		if !ok {
			return nil
		}
		return jobMsg{j, msg, false}
	}
}
