package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// confirmScreen asks what a person must have looked to know. All that names what is signed stands above the questions, and
// nothing of it is shortened.
type confirmScreen struct {
	review    *review.Review
	reading   *review.Reading                     // that is complete; nil of a decline
	draw      func() (*ceremony.Challenge, error) // new positions, after a wrong answer
	challenge *ceremony.Challenge
	answers   []string // given so far
	input     line
	trouble   string // of the last answers, the program's own words
	open      bool   // the questions are: all that stands above them stood on the screen for a glance
	small     bool   // the screen is too small to say what is asked
	reader    reader
	sheet     sheet
}

// newConfirm gives the questions before a signature; the Reading is complete.
func newConfirm(s *session) screen {
	reading := s.reading
	c := confirming(s.opened.Review, func() (*ceremony.Challenge, error) { return ceremony.NewReadChallenge(reading) })
	c.reading = reading
	return c
}

// newConfirmDecline gives the questions before a decline.
func newConfirmDecline(r *review.Review) screen {
	return confirming(r, func() (*ceremony.Challenge, error) { return ceremony.NewDeclineChallenge(r) })
}

func confirming(r *review.Review, draw func() (*ceremony.Challenge, error)) *confirmScreen {
	c := &confirmScreen{review: r, draw: draw}
	c.again("")
	return c
}

// again asks anew, at other positions.
func (c *confirmScreen) again(trouble string) {
	challenge, err := c.draw()
	if err != nil {
		trouble = wire.MessageOf(err)
	}
	c.challenge, c.answers, c.trouble = challenge, nil, trouble
	c.input.clear()
}

func (c *confirmScreen) title(*session) string {
	d := c.review.Document()
	return "Confirm: " + verbOf(d) + " " + review.Counted(d.Size, d.Counts.String())
}

func (c *confirmScreen) guarded() {}

// typing: before the questions open, a letter is a command as on any screen that is read.
func (c *confirmScreen) typing() bool { return c.open }

func (c *confirmScreen) anew() { c.reader.anew() }

func (c *confirmScreen) commands(*session) []command {
	return []command{pageUp, pageDown, back}
}

func (c *confirmScreen) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	if !c.open {
		return c.read(s, commandOf(k))
	}
	switch k.Type {
	case tea.KeyEsc:
		return step{pop: true}
	case tea.KeyPgUp, tea.KeyPgDown, tea.KeyUp, tea.KeyDown, tea.KeyHome, tea.KeyEnd:
		c.reader.move(commandOf(k))
		return step{}
	}
	if c.small {
		return step{}
	}
	switch k.Type {
	case tea.KeyEnter:
		return c.enter(s)
	case tea.KeyBackspace:
		if n := len(c.answers); c.input.empty() && n > 0 { // back to the question before
			c.input.text, c.answers = c.answers[n-1], c.answers[:n-1]
			return step{}
		}
	}
	if c.challenge == nil { // why stands there, and stays
		return step{}
	}
	if c.input.burst(k) {
		c.again("what came at once is a paste, and not taken; begin again")
		return step{}
	}
	c.trouble = ""
	c.input.key(k, maxAnswer)
	return step{}
}

// maxAnswer bounds an answer; no word of the root and no number is near it.
const maxAnswer = 40

// enter takes the answer that was typed. A bare Enter is none.
func (c *confirmScreen) enter(s *session) step {
	if c.challenge == nil || strings.TrimSpace(c.input.text) == "" {
		return step{}
	}
	c.answers = append(c.answers, c.input.text)
	c.input.clear()
	if len(c.answers) < len(c.challenge.Questions()) {
		return step{}
	}
	if why := c.hindrance(s); why != "" {
		c.again("nothing is signed: " + why)
		return step{}
	}
	accepted, err := c.challenge.Accept(c.answers)
	if err != nil {
		c.again(wire.MessageOf(err) + "; the words asked for are others now")
		return step{}
	}
	c.again("")
	sign, cmd := newSigning(s, c.review, accepted)
	return step{push: sign, cmd: cmd}
}

// hindrance is the session's, of an approval: the window may have closed over the questions.
func (c *confirmScreen) hindrance(s *session) string {
	if c.review.Document().Declines() {
		return ""
	}
	return s.hindrance()
}

// read follows a key before the questions open. Nothing jumps to the end; at the end the next page is the one that flew by.
func (c *confirmScreen) read(s *session, k command) step {
	switch {
	case k == back:
		return step{pop: true}
	case k == pageDown && c.reader.atEnd() && c.reader.upto < c.reader.offset:
		if !s.hurried {
			c.reader.offset = max(c.reader.upto-1, 0)
		}
	case k == bottom:
		c.reader.move(pageDown)
	case !c.reader.move(k):
		s.notice = "read on first: PgDn"
	}
	return step{}
}

func (c *confirmScreen) place(s *session, width, height int) {
	c.small = !readable(width, height)
	if c.sheet.width != width {
		c.sheet = c.lay(s, width)
	}
	c.reader.set(len(c.sheet.rows), height-len(c.asking(width)))
	if !c.open && c.reader.look(s, c.reader.atEnd(), width, height) {
		c.open = true // the question takes rows now: the end stays on the screen
		c.reader.set(len(c.sheet.rows), height-len(c.asking(width)))
		c.reader.move(bottom)
	}
}

func (c *confirmScreen) view(_ *session, width, height int) []row {
	if c.small {
		return tooSmall(width)
	}
	asking := c.asking(width)
	rows := make([]row, 0, height)
	rows = append(rows, c.sheet.rows[c.reader.offset:c.reader.end()]...)
	for len(rows) < height-len(asking) {
		rows = append(rows, row{})
	}
	rows = rows[:max(min(len(rows), height-len(asking)), 0)]
	return append(rows, asking...)
}

// asking gives the rows of the question, which stand still below the rest: as many on every page.
func (c *confirmScreen) asking(width int) []row {
	p := sheet{width: width}
	more := "--"
	switch {
	case !c.reader.atEnd():
		more = moreBelow
	case !c.open && c.reader.upto < c.reader.offset:
		more = "-- pages flew by: PgDn"
	}
	p.add(row{own: more, ink: faint})
	if c.trouble != "" {
		p.text("! ", 2, warn, review.Escape(c.trouble))
	}
	if c.challenge == nil {
		return p.rows
	}
	if !c.open {
		p.say(0, strong, "The questions come once each page was read: PgDn.")
		return p.rows
	}
	questions := c.challenge.Questions()
	at := len(c.answers)
	p.say(0, strong, fmt.Sprintf("Question %d of %d, %s:", at+1, len(questions), questions[at]))
	p.add(c.input.row())
	return p.rows
}
