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
	return d.readOn()
}

// What would happen stands first, above the questions, and these open once each page of it was on the screen for a glance: no End
// jumps there, and no key that is held down. Until then the keys are those of any screen.
func TestConfirmIsReadFirst(t *testing.T) {
	d := driveOpened(t, smallBatch(t)()).readAll().size(80, 24).keys("A")
	d.sees("Confirm: APPROVE 3 operations", "You are about to APPROVE", "3 operations (", "DESTRUCTIVE", "node.reimage", "Findings", "once each page was read: PgDn").seesNot("Question", "or End")
	d.keys("3", "enter").sees("read on first").seesNot("Question", "> 3")
	d.size(80, 14)
	for range 100 {
		d.typed(33*time.Millisecond, "pgdown")
	}
	d.pass(time.Minute).sees("pages flew by: PgDn").seesNot("Question")
	d.keys("g").sees("You are about").keys("end").sees("more below").keys("j").seesNot("Question").keys("?").sees("On the screen before").keys("esc").sees("Confirm: APPROVE")
	d.readOn().sees("Question 1 of 3", "> _")
	d.keys("home").sees("You are about to APPROVE", "Question 1 of 3")
	driveOpened(t, smallBatch(t)()).readAll().keys("A").size(20, 100).sees("Too small").seesNot("Question")
	driveOpened(t, smallBatch(t)()).readAll().keys("A", "h").sees("Operation 1 of 1")
}

// Each distinct operation stands there in whole, the outliers first and marked.
func TestConfirmListsTheOperations(t *testing.T) {
	d := driveOpened(t, openedScope(t, scopeFile(t, 15, mixed), testPolicy())).readAll().keys("A").size(80, 500)
	d.sees("What is done, 3 distinct", "  != 1 x OUTLIER DESTRUCTIVE node.reimage", "ubuntu-22.04-gpu", "11 x DESTRUCTIVE node.reimage", "on gpu-a000-n0000 and 10 more", "3 x DESTRUCTIVE bmc.power")
}

// Of a kind that was read by its summary that stands there, and how many nobody opened.
func TestConfirmSaysWhatWasNotOpened(t *testing.T) {
	d := driveOpened(t, openedScope(t, scopeFile(t, 90, reimages(0)), testPolicy())).readAll().keys("A").size(80, 500)
	d.sees("90 distinct operations that are no outliers", "90 distinct values", "80 were not opened one by one.")
}

// Below the usable size nothing that is typed is taken.
func TestNothingIsTypedOnATinyScreen(t *testing.T) {
	atConfirm(t).size(20, 6).sees("Too small").keys("3", "enter").size(80, 24).sees("Question 1 of 3", "> _")
	d, p := atPIN(t)
	d.size(20, 6).sees("Too small").keys("1", "2", "enter")
	require.Zero(t, p.n)
	require.False(t, p.answered)
	d.keys("esc").seesNot("PIN to")
	batch(t).keys("D").size(20, 6).keys("x").size(80, 24).seesNot("x_")
}

// Nothing of what names the thing is shortened: the root in hex and words, all facts, all findings.
func TestConfirmElidesNothing(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		d := atConfirm(t).size(width, 500)
		doc := d.m.session.document()
		view := d.view()
		for i, word := range review.Words(doc.Root) {
			require.Regexp(t, `\b`+review.Number(i+1)+" "+word+`\b`, view)
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
	l.types("not in my night").keys("enter").sees("You are about to DECLINE").sees("Confirm: DECLINE 3 operations").readsOn()
	l.types("decline").keys("enter").sees("Question 2 of 3") // letter case does not matter
	l.keys("esc").sees("Why do you decline?").sees("not in my night_")
	require.Nil(t, k.signed)
}

func TestChangeIsNotDeclined(t *testing.T) {
	d := driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 2, 0, 1, 3), "dave.pub"))
	d.keys("D").sees("this cannot be declined")
}
