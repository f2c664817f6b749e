package tui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
)

const (
	waitMost = 5 * time.Second
	waitStep = time.Millisecond
)

func atConfirm(t *testing.T) *driver {
	d := driveOpened(t, smallBatch(t)()).readAll().keys("A")
	require.IsType(t, new(confirmScreen), d.m.top())
	d.pass(time.Minute)
	return d.keys("end")
}

// What would happen stands first, above the question, and the question opens once the end of it all was on the screen.
func TestConfirmIsReadFirst(t *testing.T) {
	d := driveOpened(t, smallBatch(t)()).readAll().size(80, 24).keys("A")
	d.sees("You are about to APPROVE", "3 operations (", "DESTRUCTIVE", "node.reimage", "Findings", "read to the end: PgDn").seesNot("Question")
	d.keys("3", "enter").sees("read on first").seesNot("Question", "> 3")
	d.keys("pgdown", "pgdown", "pgdown").sees("Question 1 of 3", "> _")
	d.keys("home").sees("You are about to APPROVE", "Question 1 of 3")
	driveOpened(t, smallBatch(t)()).readAll().keys("A").size(20, 100).sees("The questions come")
}

// Nothing of what names the thing is shortened: the root in hex and words, all facts, all findings.
func TestConfirmElidesNothing(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		d := atConfirm(t).size(width, 500)
		doc := d.m.session.document()
		view := d.view()
		for i, word := range review.Words(doc.Root) {
			require.Regexp(t, `\b`+number(i+1)+" "+word+`\b`, view)
		}
		for _, f := range doc.Facts {
			require.Contains(t, view, f.Name)
		}
		for _, f := range doc.Findings {
			require.Contains(t, view, string(f.Rule))
		}
	}
}

// No Enter, no single key and no paste gets anywhere.
func TestConfirmTakesNoShortcut(t *testing.T) {
	d := atConfirm(t)
	for range 20 {
		d.keys("enter", " ", "enter", "backspace", "enter")
	}
	d.sees("Question 1 of 3", "> _")
	d.keys("3", "enter").sees("Question 2 of 3")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("word\nword")})
	d.sees("Question 1 of 3", "what came at once is a paste")
}

// Backspace goes back to the answer before.
func TestConfirmGoesBack(t *testing.T) {
	d := atConfirm(t)
	d.keys("4", "enter", "backspace").sees("Question 1 of 3", "> 4_")
	d.keys("backspace", "3", "enter").sees("Question 2 of 3")
	d.keys("esc").seesNot("Question")
}

// A window that closes over the questions signs nothing.
func TestConfirmAfterTheWindow(t *testing.T) {
	d := atConfirm(t)
	d.pass(7 * time.Hour)
	for range 3 {
		d.answer()
	}
	d.sees("nothing is signed: the window has closed", "Question 1 of 3")
}

// A decline wants its word, and nothing opened.
func TestDecline(t *testing.T) {
	k := &fakeKey{done: Done{Declined: true}}
	l := begin(t, k.road(smallBatch(t)), Start{Path: "scope.json"}).sees("Overview")
	l.keys("D").sees("Why do you decline?").keys("enter").sees("Why do you decline?")
	l.types("not in my night").keys("enter").sees("You are about to DECLINE").keys("end")
	l.types("decline").keys("enter").sees("Question 2 of 3") // letter case does not matter
	l.keys("esc").sees("Why do you decline?").sees("not in my night_")
	require.Nil(t, k.signed)
}

func TestChangeIsNotDeclined(t *testing.T) {
	d := driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 2, 0, 1, 3), "dave.pub"))
	d.keys("D").sees("this cannot be declined")
}
