package tui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
)

// atPIN begins where a PIN is asked for, and listens.
func atPIN(t *testing.T) (*driver, *pinScreen) {
	d := driveOpened(t, smallBatch(t)())
	p := newPIN(newPINQuestion(ready), aPurpose)
	d.m.take(step{push: p})
	d.keys("1", "2", "3")
	require.Equal(t, 3, p.n)
	return d, p
}

// after sends keys that are there at the same time, so long after the last message.
func (d *driver) after(pause time.Duration, keys ...string) {
	d.now = d.now.Add(pause)
	for _, k := range keys {
		d.send(keyOf(k))
	}
}

// A program that stood still took nothing for silence: what is in the terminal's buffer by then is dropped, and a PIN is typed
// from the start.
func TestStandingStillIsNoSilence(t *testing.T) {
	t.Run("PIN", func(t *testing.T) {
		d, p := atPIN(t)
		d.after(2*time.Second, "4")
		require.Equal(t, 4, p.n, "a slow machine")
		d.after(3*time.Second, "5", "enter")
		require.Zero(t, p.n)
		require.False(t, p.answered)
		d.sees("the program stood still meanwhile", "(nothing typed)").keys("7")
		require.Equal(t, byte('7'), p.secret[0])
		require.Equal(t, 1, p.n)
	})
	t.Run("Confirm", func(t *testing.T) {
		d := atConfirm(t)
		d.after(3*time.Second, "3", "enter")
		d.sees("Question 1 of 3", "> _", "dropped").keys("3", "enter").sees("Question 2 of 3")
	})
}

// What stood on the screen while the program stood still may never have been drawn: it was not read.
func TestStandingStillIsNoReading(t *testing.T) {
	d := batch(t).keys("4", "enter")
	left := d.m.session.reading.Left()
	d.after(3*time.Second, "n", "n", "n")
	require.Equal(t, left, d.m.session.reading.Left())
	d.after(time.Second, "n")
	require.NotEqual(t, left, d.m.session.reading.Left())
}

// Before it is stopped by a shell the program holds nothing of a PIN, and once it goes on it takes nothing that was typed ahead.
func TestStoppedAtThePIN(t *testing.T) {
	d, p := atPIN(t)
	stopped := make(chan struct{})
	d.send(stopMsg{stopped})
	<-stopped
	require.Zero(t, p.n)
	require.NotContains(t, string(p.secret[:]), "1")
	d.after(10*time.Millisecond, "4")
	d.send(resumeMsg{})
	require.Zero(t, p.n, "it was typed before the program went on")
	d.after(10*time.Millisecond, "5", "enter")
	require.Zero(t, p.n)
	require.False(t, p.answered)
	d.keys("6")
	require.Equal(t, 1, p.n)
}

// ^Z is for the shell on every screen, those that take text too; where there is none, it is nothing.
func TestSuspend(t *testing.T) {
	d, p := atPIN(t)
	d.send(tea.KeyMsg{Type: tea.KeyCtrlZ})
	suspended := 0
	d.m.suspend = func() { suspended++ }
	d.send(tea.KeyMsg{Type: tea.KeyCtrlZ})
	require.Equal(t, 1, suspended)
	require.Equal(t, 3, p.n)
	batch := batch(t)
	batch.m.suspend = d.m.suspend
	for _, way := range []string{"1", "2", "3", "4", "?"} {
		batch.keys(way)
		batch.send(tea.KeyMsg{Type: tea.KeyCtrlZ})
	}
	require.Equal(t, 6, suspended)
}
