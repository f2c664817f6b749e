package tui

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// maxSecret bounds a PIN or passphrase, in bytes.
const maxSecret = 256

// A pinQuestion is a PIN that something waits for.
type pinQuestion struct {
	token  Token
	answer chan pinAnswer // holds one
}

type pinAnswer struct {
	pin []byte
	err error
}

func newPINQuestion(t Token) *pinQuestion { return &pinQuestion{t, make(chan pinAnswer, 1)} }

// wait gives the answer. One that comes after the context ended is wiped.
func (q *pinQuestion) wait(ctx context.Context) ([]byte, error) {
	select {
	case a := <-q.answer:
		return a.pin, a.err
	case <-ctx.Done():
		go func() { clear((<-q.answer).pin) }() // the screen always answers, at the latest when it is left
		return nil, errNoPIN
	}
}

var errNoPIN = wire.Errorf(wire.InvalidState, "not-confirmed", "no PIN was given, nothing is signed")

// pinScreen takes a PIN or passphrase: nothing of it is shown, not even how long it is.
type pinScreen struct {
	question *pinQuestion
	purpose  review.Text // what the signature would say
	secret   [maxSecret]byte
	n        int // of its bytes
	trouble  string
	answered bool
	small    bool // the screen is too small to say what is asked
}

func newPIN(q *pinQuestion, purpose review.Text) *pinScreen {
	return &pinScreen{question: q, purpose: purpose}
}

// what names the secret.
func (p *pinScreen) what() string {
	if p.question.token.File {
		return "passphrase"
	}
	return "PIN"
}

// title names the secret, and what it would be given for.
func (p *pinScreen) title(*session) string {
	verb, _, _ := strings.Cut(p.purpose.String(), " ")
	return upper(p.what()) + " to " + verb
}

func (p *pinScreen) guarded()                    {}
func (p *pinScreen) typing() bool                { return true }
func (p *pinScreen) commands(*session) []command { return []command{back} }

// place wipes what was typed where the screen becomes too small to say what is asked: nothing is typed blind.
func (p *pinScreen) place(_ *session, width, height int) {
	if p.small = !readable(width, height); p.small {
		p.wipe()
	}
}

func (p *pinScreen) update(_ *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	p.trouble = ""
	defer wipeKey(k)
	switch {
	case k.Paste || len(k.Runes) > burstRunes:
		p.wipe()
		p.trouble = "what came at once is a paste, and not taken: type it from the start"
	case k.Type == tea.KeyEsc:
		return step{pop: true} // left answers
	case p.small:
	case k.Type == tea.KeyEnter:
		return p.enter()
	case k.Type == tea.KeyBackspace:
		_, size := utf8.DecodeLastRune(p.secret[:p.n])
		clear(p.secret[p.n-size : p.n])
		p.n -= size
	case k.Type == tea.KeyCtrlU:
		p.wipe()
	case k.Type == tea.KeyRunes || k.Type == tea.KeySpace:
		p.take(k)
	}
	return step{}
}

// take appends runes to the secret.
func (p *pinScreen) take(k tea.KeyMsg) {
	for _, r := range k.Runes {
		if p.n+utf8.RuneLen(r) > maxSecret || k.Alt {
			p.wipe()
			p.trouble = "that is no " + p.what() + ": type it from the start"
			return
		}
		p.n += utf8.EncodeRune(p.secret[p.n:], r)
	}
}

// wipeKey wipes what a key was: it may be of a PIN, taken or not.
func wipeKey(k tea.KeyMsg) {
	if k.Type == tea.KeyRunes { // the one space is the library's, of all keys
		clear(k.Runes)
	}
}

// enter gives the answer. An empty one costs no try, and is none.
func (p *pinScreen) enter() step {
	if p.n == 0 {
		return step{}
	}
	pin := make([]byte, p.n)
	copy(pin, p.secret[:p.n])
	p.wipe()
	p.answered = true
	p.question.answer <- pinAnswer{pin: pin}
	return step{pop: true}
}

// left wipes what was typed, and says that nothing comes.
func (p *pinScreen) left() {
	p.wipe()
	if !p.answered {
		p.answered = true
		p.question.answer <- pinAnswer{err: errNoPIN}
	}
}

// forget wipes what was typed before the program stood still: whoever types on may be somebody else.
func (p *pinScreen) forget() {
	if p.n > 0 {
		p.wipe()
		p.trouble = "the program stood still meanwhile: type it from the start"
	}
}

func (p *pinScreen) wipe() {
	clear(p.secret[:])
	p.n = 0
}

func (p *pinScreen) view(_ *session, width, height int) []row {
	if p.small {
		return tooSmall(width)
	}
	t := p.question.token
	s := sheet{width: width}
	s.sentence(strong, p.purpose)
	s.blankRow()
	if t.Wrong {
		s.say(0, alarm, "The "+p.what()+" was wrong.")
	}
	prompt := "Type the " + p.what() + ", then Enter. It is not shown, nor how long it is."
	if width < len(prompt) {
		prompt = "Type the " + p.what() + ", then Enter; it is hidden."
	}
	s.say(0, strong, prompt)
	shown := "(nothing typed)"
	if p.n > 0 {
		shown = "(hidden)"
	}
	s.add(row{own: "> " + shown, ink: strong})
	if p.trouble != "" {
		s.say(0, warn, p.trouble)
	}
	s.blankRow()
	layToken(&s, t)
	s.blankRow()
	s.say(0, faint, "Ctrl-U begins again. Esc: nothing is tried, nothing is signed.")
	if len(s.rows) > height {
		return slices.DeleteFunc(s.rows, func(r row) bool { return r == row{} })
	}
	return s.rows
}
