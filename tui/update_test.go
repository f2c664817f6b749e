package tui

import (
	"context"
	"errors"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// The clock goes on over every screen, and changes none that do not show it.
func TestTicksChangeNothing(t *testing.T) {
	done := doneOf(t)
	pin := newPIN(newPINQuestion(Token{}), aPurpose)
	for _, s := range []screen{pin, newDone(&done, aPurpose, ""), newDecline(nil), &watchScreen{job: &job{cancel: func() {}}}, &readingFile{job: &job{cancel: func() {}}}} {
		d := batch(t)
		d.m.take(step{push: s})
		before := d.view()
		d.m.Update(tick{})
		require.Equal(t, before, d.view())
		require.Same(t, s, d.m.top())
	}
}

// A reason that the road does not take is said, and nothing goes on; one whose review is being made can be left.
func TestDeclineRefused(t *testing.T) {
	d := batch(t).keys("D", "x")
	d.m.session.opened.Decline = func(string) (*review.Review, error) {
		return nil, wire.Errorf(wire.InvalidInput, "", "no reason like that")
	}
	d.keys("enter").sees("no reason like that", "> x_").seesNot("Confirm")
	d.keys("y").sees("> xy_").seesNot("no reason like that")
	stopped := false
	d.m.top().(*declineScreen).job = &job{cancel: func() { stopped = true }}
	d.keys("z").sees("The review of the decline is made ...", "> xy_").keys("esc").sees("Overview")
	require.True(t, stopped)
}

// A wait that fails says why, and goes on to nothing.
func TestWatchFails(t *testing.T) {
	road := oneStick().road(t)
	road.Watch = func(context.Context, string, func(bool)) ([]Entry, error) {
		return nil, wire.Errorf(wire.IOError, "", "the folder cannot be read")
	}
	begin(t, road, Start{Watch: "/media"}).sees("IO_ERROR: the folder cannot be read")
}

// The questions that cannot be drawn say why, and take nothing.
func TestConfirmWithoutQuestions(t *testing.T) {
	d := batch(t)
	c := confirming(d.m.session.opened.Review, func() (*ceremony.Challenge, error) {
		return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "no questions")
	})
	d.m.take(step{push: c})
	d.size(80, 60).keys("1", "enter").sees("no questions").seesNot("Question")
	require.Same(t, screen(c), d.m.top())
}

// What is done is read, scrolled and left, and nothing else happens there.
func TestDoneIsLeft(t *testing.T) {
	d := batch(t).size(40, 12)
	done := doneOf(t)
	d.m.take(step{home: true, push: newDone(&done, aPurpose, "")})
	top := d.view()
	require.NotEqual(t, top, d.keys("x", "pgdown").view())
	d.keys("q")
	require.True(t, d.m.ended)
}

// The file that is read when Esc comes is read no further.
func TestReadingIsLeft(t *testing.T) {
	stopped := 0
	d := batch(t)
	f := &readingFile{job: &job{cancel: func() { stopped++ }}}
	d.m.take(step{push: f})
	d.keys("j").sees("Reading").keys("esc").sees("Overview")
	require.Equal(t, 1, stopped)
	f = &readingFile{first: true, job: &job{cancel: func() { stopped++ }}}
	d.m.take(step{push: f})
	d.keys("esc")
	require.True(t, d.m.ended)
}

// The passphrase of a key file is asked for as such, and what goes on then is said.
func TestSigningWithAKeyFile(t *testing.T) {
	d := batch(t)
	g := &signing{session: d.m.session, purpose: aPurpose, job: &job{cancel: func() {}}}
	d.m.take(step{push: g})
	st := g.update(d.m.session, askMsg{newPINQuestion(Token{File: true})})
	require.Contains(t, g.phase, "key file")
	d.m.take(st)
	d.sees("Passphrase").keys("esc").sees("The key file is opened")
	g.update(d.m.session, signedMsg{err: errors.New("no")})
	g.update(d.m.session, tea.KeyMsg{Type: tea.KeyDown})
	d.size(80, 24).sees("Not signed.")
}
