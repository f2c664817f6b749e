package tui

import (
	"encoding/hex"
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
	draw      func() (*ceremony.Challenge, error) // new positions, after a wrong answer
	challenge *ceremony.Challenge
	answers   []string // given so far
	input     line
	trouble   string // of the last answers, the program's own words
	seen      bool   // the end of what stands above the questions was on the screen
	scroll    scroll
	sheet     sheet
}

// newConfirm gives the questions before a signature; the Reading is complete.
func newConfirm(s *session) screen {
	reading := s.reading
	return confirming(s.opened.Review, func() (*ceremony.Challenge, error) { return ceremony.NewReadChallenge(reading) })
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
	if c.review.Document().Declines() {
		return "Confirm the decline"
	}
	return "Confirm"
}

func (c *confirmScreen) guarded()     {}
func (c *confirmScreen) typing() bool { return true }

func (c *confirmScreen) commands(*session) []command {
	return []command{pageUp, pageDown, back}
}

func (c *confirmScreen) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	switch k.Type {
	case tea.KeyEsc:
		return step{pop: true}
	case tea.KeyPgUp, tea.KeyPgDown, tea.KeyUp, tea.KeyDown, tea.KeyHome, tea.KeyEnd:
		c.scroll.move(commandOf(k))
		return step{}
	}
	if !c.seen {
		s.notice = "read on first: PgDn, or End"
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

func (c *confirmScreen) place(s *session, width, height int) {
	if c.sheet.width != width {
		c.sheet = c.lay(s, width)
	}
	c.scroll.set(len(c.sheet.rows), height-len(c.asking(width)))
	if c.scroll.atEnd() && readable(width, height) && !c.seen {
		c.seen = true // the question takes rows now: the end stays on the screen
		c.scroll.set(len(c.sheet.rows), height-len(c.asking(width)))
		c.scroll.move(bottom)
	}
}

func (c *confirmScreen) view(_ *session, width, height int) []row {
	asking := c.asking(width)
	rows := make([]row, 0, height)
	rows = append(rows, c.sheet.rows[c.scroll.offset:c.scroll.end()]...)
	for len(rows) < height-len(asking) {
		rows = append(rows, row{})
	}
	rows = rows[:max(min(len(rows), height-len(asking)), 0)]
	return append(rows, asking...)
}

// asking gives the rows of the question, which stand still below the rest.
func (c *confirmScreen) asking(width int) []row {
	p := sheet{width: width}
	more := "--"
	if !c.scroll.atEnd() {
		more = "-- more below: PgDn"
	}
	p.add(row{own: more, ink: faint})
	if c.trouble != "" {
		p.text("! ", 2, warn, review.Escape(c.trouble))
	}
	if c.challenge == nil {
		return p.rows
	}
	if !c.seen {
		p.say(0, strong, "The questions come once you have read to the end: PgDn.")
		return p.rows
	}
	questions := c.challenge.Questions()
	at := len(c.answers)
	p.say(0, strong, fmt.Sprintf("Question %d of %d, %s:", at+1, len(questions), questions[at]))
	p.add(c.input.row())
	return p.rows
}

// lay writes what is signed: how much of what, and what speaks against it, then all facts and the root in whole.
func (c *confirmScreen) lay(s *session, width int) sheet {
	d := c.review.Document()
	p := sheet{width: width}
	if d.Declines() {
		p.say(0, strong, "You are about to DECLINE this "+d.What+". A decline approves nothing.")
	} else {
		p.say(0, strong, "You are about to APPROVE this "+d.What+" with your key.")
	}
	conclusion := d.Conclusion()
	for _, sentence := range conclusion[1:] { // the first says what to do, which is done by now
		p.say(0, plain, sentence)
	}
	layChanges(&p, d)
	layKeys(&p, d)
	for _, t := range d.Tallies {
		tally(&p, t, d.Size)
	}
	if len(d.Findings) > 0 {
		p.heading("Findings")
	}
	for _, i := range bySeverity(d.Findings) {
		f := d.Findings[i]
		p.say(2, inkOf(f.Severity), strings.ToUpper(f.Severity.String())+" "+string(f.Rule))
		p.text("", 6, plain, f.Message)
	}
	p.heading(upper(d.What))
	p.text("  file", factsAt, plain, s.opened.Path)
	if s.opened.Key != "" {
		p.lead("  key", factsAt, plain, s.opened.Key)
	}
	facts(&p, d.Facts)
	layRoot(&p, "Root", d.Root, d.RootOf)
	return p
}

// layRoot writes 32 bytes that are compared by voice: in hex and in numbered words.
func layRoot(p *sheet, name string, root []byte, of string) {
	if of != "" {
		name += " of " + of
	}
	p.heading(name)
	p.hex(hex.EncodeToString(root))
	rootWords(p, root)
}

// hex writes digits in whole, broken where the row ends.
func (p *sheet) hex(digits string) {
	for digits != "" {
		n := min(len(digits), max((p.width-2)/8*8, 8))
		p.add(row{own: "  " + digits[:n]})
		digits = digits[n:]
	}
}
