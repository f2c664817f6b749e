package tui

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// signing is the rest of the road while it is walked: it waits for the token, hands on the question for the PIN, and says
// how it ended. Esc stops it; then it stands until it is known whether a signature was made all the same.
type signing struct {
	session *session
	purpose review.Text
	did     review.Text // once it was signed
	job     *job
	phase   string // what goes on, the program's own words
	touch   *Token // that works
	asked   string // PIN or passphrase, once it was asked for
	failed  error
	sheet   sheet
	scroll  scroll
}

type (
	askMsg    struct{ question *pinQuestion }
	touchMsg  struct{ token Token }
	signedMsg struct {
		done *Done
		err  error
	}
)

// newSigning begins to sign what was accepted.
func newSigning(s *session, r *review.Review, accepted *ceremony.Accepted) (screen, tea.Cmd) {
	g := &signing{session: s, purpose: purpose(r), did: did(r), phase: "Looking at the file once more, and for the key ..."}
	road, opened := s.road, s.opened
	var cmd tea.Cmd
	g.job, cmd = start(g, func(ctx context.Context, tell func(tea.Msg)) tea.Msg {
		done, err := road.Sign(ctx, opened, accepted, Asks{
			PIN: func(ctx context.Context, t Token) ([]byte, error) {
				q := newPINQuestion(t)
				tell(askMsg{q})
				return q.wait(ctx)
			},
			Touch: func(t Token) { tell(touchMsg{t}) },
		})
		return signedMsg{done, err}
	})
	return g, cmd
}

func (g *signing) title(*session) string { return "Signing" }

func (g *signing) commands(*session) []command { return []command{back} }

// running tells whether the end is not known yet.
func (g *signing) running() bool { return g.failed == nil }

func (g *signing) update(s *session, msg tea.Msg) step {
	switch msg := msg.(type) {
	case askMsg:
		g.phase, g.touch, g.sheet.width = "The PIN goes to the token ...", nil, 0
		if msg.question.token.File {
			g.phase = "The key file is opened ..."
		}
		pin := newPIN(msg.question, g.purpose)
		g.asked = pin.what()
		return step{push: pin}
	case touchMsg:
		g.touch = &msg.token
	case signedMsg:
		if msg.err == nil {
			s.done = msg.done
			return step{home: true, push: newDone(msg.done, g.did, s.document().RootOf)}
		}
		g.failed = msg.err
	case tea.KeyMsg:
		if c := commandOf(msg); c == back {
			return g.esc()
		} else {
			g.scroll.move(c)
		}
	}
	g.sheet.width = 0
	return step{}
}

// esc stops what runs, or goes back to the questions.
func (g *signing) esc() step {
	switch {
	case g.failed != nil && isRecorded(g.failed):
		g.session.notice = "it is signed; q leaves the program"
		return step{}
	case g.vain():
		open, cmd := newOpenIn(g.session, g.session.opened.Folder)
		g.session.close()
		return step{home: true, pop: true, push: open, cmd: cmd}
	case !g.running():
		return step{pop: true}
	}
	g.phase, g.touch = "Stopping ...", nil
	g.job.cancel()
	g.sheet.width = 0
	return step{}
}

// vain tells whether to answer the questions once more would be in vain: the file is another now, and is to be read anew.
func (g *signing) vain() bool { return g.failed != nil && wire.CodeOf(g.failed) == wire.ScopeChanged }

// left stops what still runs.
func (g *signing) left() { g.job.cancel() }

func (g *signing) place(s *session, width, height int) {
	if g.sheet.width != width {
		g.sheet = g.lay(s, width)
	}
	g.scroll.set(len(g.sheet.rows), height)
}

func (g *signing) below() bool { return g.scroll.below() }

func (g *signing) view(*session, int, int) []row {
	return g.sheet.rows[g.scroll.offset:g.scroll.end()]
}

func (g *signing) lay(s *session, width int) sheet {
	p := sheet{width: width}
	if g.failed == nil && g.purpose.String() != "" {
		p.sentence(strong, g.purpose)
		p.blankRow()
	}
	switch {
	case g.failed != nil && isRecorded(g.failed):
		p.say(0, alarm, "SIGNED and recorded, but not written where it should be.")
		layRefusal(&p, s.road, g.failed)
		p.blankRow()
		p.say(0, plain, "The signature exists, and is not made again. q leaves the program.")
	case errors.Is(g.failed, errNoPIN):
		p.say(0, alarm, "You left the "+g.asked+". Nothing is signed.")
		p.blankRow()
		p.say(0, plain, "Esc goes back to the questions; q leaves the program.")
	case g.failed != nil:
		p.say(0, alarm, "Not signed.")
		layRefusal(&p, s.road, g.failed)
		p.blankRow()
		if g.vain() {
			p.say(0, plain, "Esc goes to the folder of the file, to read it anew; q leaves the program.")
			break
		}
		p.say(0, plain, "Esc goes back to the questions; q leaves the program.")
	case g.touch != nil:
		layToken(&p, *g.touch)
		p.blankRow()
		if g.touch.Keypad {
			p.say(0, strong, "Enter the PIN on the token's own keypad.")
		}
		p.say(0, strong, "Touch the token if it blinks: it works, and this waits for it.")
		p.say(0, plain, "Esc stops.")
	default:
		p.say(0, plain, g.phase)
		p.blankRow()
		p.say(0, faint, "Esc stops.")
	}
	return p
}

// isRecorded tells whether a signature was made, and recorded, before it failed.
func isRecorded(err error) bool {
	e, ok := errors.AsType[*wire.Error](err)
	return ok && e.Details["signed"] == true
}

// layRefusal writes an error, and what to try.
func layRefusal(p *sheet, road *Road, err error) {
	lead := ""
	if code := wire.CodeOf(err); code != "" {
		lead = string(code) + ": "
	}
	p.text(lead+"", max(len(lead), 2), plain, review.Escape(wire.MessageOf(err)))
	if road.Hint == nil {
		return
	}
	if hint := road.Hint(err); hint != "" {
		p.lead("try: ", 5, plain, hint)
	}
}

// layToken names the token, or the key file.
func layToken(p *sheet, t Token) {
	if t.File {
		p.text("key file ", 10, plain, t.Label)
		return
	}
	p.quoted("token ", 10, plain, t.Label, true)
	p.quoted("serial ", 10, plain, t.Serial, true)
	if t.State != "" {
		p.lead("state ", 10, plain, t.State)
	}
}
