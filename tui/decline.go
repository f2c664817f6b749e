package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// declineScreen takes the reason of a decline.
type declineScreen struct {
	input   line
	job     *job // makes the review of the decline
	trouble string
	small   bool // the screen is too small to say what is asked
}

// declinedMsg is the review of a decline.
type declinedMsg struct {
	review *review.Review
	err    error
}

// newDecline gives the way to decline with a reason.
func newDecline(*session) screen { return new(declineScreen) }

func (d *declineScreen) title(*session) string       { return "Decline" }
func (d *declineScreen) guarded()                    {}
func (d *declineScreen) typing() bool                { return true }
func (d *declineScreen) commands(*session) []command { return []command{back} }

func (d *declineScreen) place(_ *session, width, height int) { d.small = !readable(width, height) }

func (d *declineScreen) update(s *session, msg tea.Msg) step {
	switch msg := msg.(type) {
	case declinedMsg:
		d.job = nil
		if msg.err != nil {
			d.trouble = wire.MessageOf(msg.err)
			return step{}
		}
		return step{push: newConfirmDecline(msg.review)}
	case tea.KeyMsg:
		switch {
		case msg.Type == tea.KeyEsc:
			return step{pop: true} // left cancels
		case d.small:
			return step{}
		case msg.Type == tea.KeyEnter:
			return d.enter(s)
		}
		if d.job == nil {
			d.trouble = ""
			d.input.key(msg, wire.MaxReasonUnits)
		}
	}
	return step{}
}

// enter has the review of the decline made.
func (d *declineScreen) enter(s *session) step {
	if s.opened.Decline == nil || d.input.empty() || d.job != nil {
		return step{}
	}
	decline, reason := s.opened.Decline, d.input.text
	var cmd tea.Cmd
	d.job, cmd = start(d, func(context.Context, func(tea.Msg)) tea.Msg {
		r, err := decline(reason)
		return declinedMsg{r, err}
	})
	return step{cmd: cmd}
}

func (d *declineScreen) left() {
	if d.job != nil {
		d.job.cancel()
	}
}

func (d *declineScreen) view(s *session, width, height int) []row {
	if d.small {
		return tooSmall(width)
	}
	p := sheet{width: width}
	if s.opened.Decline == nil {
		p.say(0, warn, "A "+s.document().What+" is not declined: leave it unsigned. Esc goes back.")
		return p.rows
	}
	p.say(0, strong, "Why do you decline? Your words are signed, recorded, and read by the proposer.")
	p.add(d.input.rows(width)...)
	if d.trouble != "" {
		p.text("! ", 2, warn, review.Escape(d.trouble))
	}
	if d.job != nil {
		p.say(0, plain, "The review of the decline is made ...")
	}
	p.blankRow()
	p.say(0, faint, "Enter goes on to the questions. 1 to 500 characters.")
	if over := len(p.rows) - height; over > 0 { // the end of what is typed is what matters
		return append(p.rows[:0:0], p.rows[over:]...)
	}
	return p.rows
}
