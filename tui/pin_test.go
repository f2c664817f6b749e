package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

func containsText(view, text string) bool { return strings.Contains(view, text) }

func number2(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// The road from the questions to the end: two PINs are asked for, nothing of them shows, and Done says where it all is.
func TestSigning(t *testing.T) {
	k := &fakeKey{tokens: []Token{ready, wrong}, done: doneOf(t)}
	l := begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview").confirms().sees("PIN ready")
	l.types("4711")
	require.NotContains(t, l.view(), "4711")
	short := l.view()
	l.types("12345678")
	require.Equal(t, short, l.view(), "the screen tells how long the PIN is")
	l.keys("backspace", "backspace", "enter").sees("The PIN was wrong.").sees("a wrong PIN was entered")
	l.types("x").keys("ctrl+u").types("0815").keys("enter").sees("APPROVED 3 operations: 3 node.reimage DESTRUCTIVE; root")
	require.Equal(t, []string{"4711123456", "0815"}, k.got)
	require.NotNil(t, k.signed)
	l.keys("q")
	require.Equal(t, &k.done, l.m.session.done)
}

// A passphrase has spaces, all of them the same: the library has one slice for every key that is one.
func TestPassphraseOfWords(t *testing.T) {
	q := newPINQuestion(Token{File: true})
	p := newPIN(q, aPurpose)
	space := tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	letter := keyOf("x")
	for range 3 {
		p.update(nil, tea.KeyMsg{Type: tea.KeyRunes, Runes: slices.Clone(letter.Runes)})
		p.update(nil, space)
	}
	p.update(nil, letter)
	require.Zero(t, letter.Runes[0], "what was typed is left in memory")
	p.update(nil, keyOf("enter"))
	require.Equal(t, "x x x x", string((<-q.answer).pin))
}

// What is typed for a PIN is wiped on every way out of its screen.
func TestPINIsWiped(t *testing.T) {
	for name, leave := range map[string]func(p *pinScreen, m *Model){
		"Enter": func(p *pinScreen, m *Model) { m.take(p.update(m.session, keyOf("enter"))) },
		"Esc":   func(p *pinScreen, m *Model) { m.take(p.update(m.session, keyOf("esc"))) },
		"^C":    func(_ *pinScreen, m *Model) { m.key(keyOf("ctrl+c")) },
		"^U":    func(p *pinScreen, m *Model) { p.update(m.session, keyOf("ctrl+u")) },
		"paste": func(p *pinScreen, m *Model) {
			p.update(m.session, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("1"), Paste: true})
		},
		"burst": func(p *pinScreen, m *Model) {
			p.update(m.session, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("12345")})
		},
		"too long": func(p *pinScreen, m *Model) {
			for range maxSecret {
				p.update(m.session, keyOf("ü"))
			}
		},
		"home": func(_ *pinScreen, m *Model) { m.take(step{home: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := driveOpened(t, smallBatch(t)())
			q := newPINQuestion(ready)
			p := newPIN(q, aPurpose)
			d.m.take(step{push: p})
			for range 9 {
				p.update(d.m.session, keyOf("7"))
			}
			require.Equal(t, 9, p.n)
			leave(p, d.m)
			require.NotContains(t, string(p.secret[:]), "7")
			if name == "Enter" {
				answer := <-q.answer
				require.Equal(t, "777777777", string(answer.pin))
			}
		})
	}
}

// A backspace takes one character, and its bytes.
func TestPINBackspace(t *testing.T) {
	d := driveOpened(t, smallBatch(t)())
	p := newPIN(newPINQuestion(ready), aPurpose)
	for _, key := range []string{"backspace", "a", "ü", "backspace"} {
		p.update(d.m.session, keyOf(key))
	}
	require.Equal(t, "a\x00\x00", string(p.secret[:3]))
	require.Equal(t, 1, p.n)
}

// An answer that comes when nobody waits any more is wiped.
func TestPINAfterTheEnd(t *testing.T) {
	q := newPINQuestion(ready)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := q.wait(ctx)
	require.Equal(t, "not-confirmed", wire.ReasonOf(err))
	pin := []byte("4711")
	q.answer <- pinAnswer{pin: pin}
	require.Eventually(t, func() bool { return len(q.answer) == 0 }, waitMost, waitStep)
}

// A bare Enter gives no PIN: an empty one could cost a try.
func TestPINEmpty(t *testing.T) {
	k := &fakeKey{tokens: []Token{ready}, done: doneOf(t)}
	l := begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview").confirms().sees("PIN ready")
	l.keys("enter", "enter").sees("(nothing typed)")
	l.keys("esc").sees("You left the PIN. Nothing is signed.")
	require.NotContains(t, l.view(), "try: ")
	require.Empty(t, k.got)
	l.keys("esc").sees("Question 1 of 3")
}

// A token that waits to be touched: Esc stops it, and the screen stays until it is known what became of it.
func TestSigningIsStopped(t *testing.T) {
	k := &fakeKey{touch: &ready}
	l := begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview").confirms().sees("Touch the token if it blinks")
	l.keys("esc").sees("Not signed.").sees("stopped").sees("plug the token in")
	require.Nil(t, l.m.session.done)
}

// A signature that is made and recorded, and did not get where it should, is not said to be none.
func TestSignedIsNotSaidToBeUnsigned(t *testing.T) {
	k := &fakeKey{fails: wire.Errorf(wire.IOError, "", "the signature is made and recorded, and was not handed out: no space").With("seq", 1).With("signed", true)}
	l := begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview").confirms().sees("was not handed out")
	require.NotContains(t, l.view(), "Not signed.")
	l.sees("SIGNED and recorded").keys("esc").sees("it is signed; q leaves the program").sees("SIGNED and recorded")
}

func TestSigningFails(t *testing.T) {
	k := &fakeKey{fails: wire.Errorf(wire.ScopeChanged, "", "the file changed since you read it: \x1b[2J.json")}
	l := begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview").confirms().sees("SCOPE_CHANGED: the file changed since you read it: <U+001B>[2J.json")
	l.sees("Esc goes to the folder of the file")
	l.keys("q")
	require.True(t, l.m.ended)
	require.Nil(t, l.m.session.done)
}

// A file that changed is read anew: there is no way back to questions about what it was.
func TestChangedFileIsReadAnew(t *testing.T) {
	k := &fakeKey{fails: wire.Errorf(wire.ScopeChanged, "", "the file changed since you read it")}
	road := k.road(smallBatch(t))
	road.Places = func(context.Context) ([]Entry, error) { return oneStick()[""], nil }
	road.List = func(_ context.Context, folder string) ([]Entry, error) { return oneStick()[folder], nil }
	l := begin(t, road, Start{Path: "scope.json"}).sees("Overview").confirms().sees("SCOPE_CHANGED")
	l.keys("esc").sees("Open a file to review").sees("scope.json")
	require.Nil(t, l.m.session.opened)
	l.keys("enter")
	require.NotContains(t, l.view(), "Question")
}

// What asks for a PIN says what it is for, and Done says what was done.
func TestPINSaysWhatFor(t *testing.T) {
	k := &fakeKey{tokens: []Token{ready}, done: doneOf(t)}
	l := begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview").confirms()
	l.sees("PIN to APPROVE").sees("APPROVE 3 operations: 3 node.reimage DESTRUCTIVE; root ").keys("1", "enter").sees("Root that was signed")
	require.NotContains(t, l.view(), "left to open")
	k = &fakeKey{tokens: []Token{ready}, done: doneOf(t)}
	k.done.Declined = true
	l = begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview").keys("D").types("no").keys("enter").sees("about to DECLINE").readsOn()
	l.answers("DECLINE").sees("PIN to DECLINE").sees("DECLINE 3 operations: 3 node.reimage DESTRUCTIVE; root ").keys("1", "enter").sees("Root that was DECLINED")
	require.NotContains(t, l.view(), "to open")
	require.NotContains(t, l.view(), "signed.")
}
