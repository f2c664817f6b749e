package tui

import (
	"context"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
)

// A danger is a guarded screen that counts what it hears.
type danger struct {
	blank
	heard []string
	ended bool
}

func (d *danger) guarded()     {}
func (d *danger) typing() bool { return true }
func (d *danger) left()        { d.ended = true }
func (d *danger) update(_ *session, msg tea.Msg) step {
	if k, ok := msg.(tea.KeyMsg); ok {
		d.heard = append(d.heard, k.String())
	}
	return step{}
}

func inDanger(t *testing.T) (*driver, *danger) {
	d, s := batch(t), &danger{}
	d.m.take(step{push: s})
	return d, s
}

// typed sends a key some time after the one before.
func (d *driver) typed(after time.Duration, key string) {
	d.now = d.now.Add(after)
	d.send(keyOf(key))
}

// What was typed before the screen stood there, and a key that is held down, never reach it, however long that lasts; what is
// typed after a moment of silence does.
func TestGuardedScreenIsDeafUntilItIsQuiet(t *testing.T) {
	d, s := inDanger(t)
	for range 100 {
		d.typed(time.Microsecond, "A")
	}
	for range 100 {
		d.typed(33*time.Millisecond, "enter")
	}
	require.Empty(t, s.heard)
	d.sees("typed before this screen came, and dropped: wait a moment, then press once")
	d.typed(quiet, "x")
	d.typed(time.Microsecond, "y")
	require.Equal(t, []string{"x", "y"}, s.heard)
}

// Keys that can do no harm pass all the while, and open nothing to the others.
func TestGuardedScreenLetsPagesPass(t *testing.T) {
	d, s := inDanger(t)
	for _, key := range []string{"pgdown", "x", "pgup", "enter", "esc"} {
		d.typed(time.Millisecond, key)
	}
	require.Equal(t, []string{"pgdown", "pgup", "esc"}, s.heard)
	d.typed(quiet-time.Millisecond, "y")
	require.Len(t, s.heard, 3)
}

func TestGuardedScreenTakesNoPaste(t *testing.T) {
	d, s := inDanger(t)
	d.now = d.now.Add(time.Minute)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("15"), Paste: true})
	require.Empty(t, s.heard)
	d.sees("pasted text is not taken here")
	d.typed(0, "x") // a paste is no silence either: the screen was silent for a minute
	require.Equal(t, []string{"x"}, s.heard)
}

// A screen that comes up again is as deaf as at first.
func TestGuardedScreenBelowIsArmedAgain(t *testing.T) {
	d, s := inDanger(t)
	d.keys("x")
	d.m.take(step{push: newHelp(s, d.m.session)})
	d.m.take(step{pop: true})
	d.typed(time.Millisecond, "y")
	require.Equal(t, []string{"x"}, s.heard)
}

func TestSteps(t *testing.T) {
	d, s := inDanger(t)
	over := d.m.stack[0]
	d.m.take(step{pop: true})
	require.True(t, s.ended)
	require.Equal(t, over, d.m.top())
	other := &danger{}
	d.m.take(step{push: s})
	d.m.take(step{push: other})
	d.m.take(step{home: true})
	require.True(t, other.ended)
	require.Equal(t, []screen{over}, d.m.stack)
	d.m.take(step{home: true, pop: true, push: s})
	require.Equal(t, []screen{s}, d.m.stack)
}

// worker is a screen with a job.
type worker struct {
	blank
	got []tea.Msg
}

func (w *worker) update(_ *session, msg tea.Msg) step {
	w.got = append(w.got, msg)
	return step{}
}

// What a job tells comes in order, and then its end.
func TestJob(t *testing.T) {
	d, w := batch(t), &worker{}
	j, cmd := start(w, func(_ context.Context, tell func(tea.Msg)) tea.Msg {
		for i := range 3 {
			tell(i)
		}
		return "end"
	})
	d.m.take(step{push: w})
	results := make(chan tea.Msg)
	run := func(cmd tea.Cmd) {
		go func() { results <- cmd() }()
	}
	for _, c := range cmd().(tea.BatchMsg) {
		run(c)
	}
	for !j.ended {
		msg := <-results
		if msg == nil {
			continue
		}
		_, cmd := d.m.Update(msg)
		if cmd != nil {
			run(cmd)
		}
	}
	require.NotEmpty(t, w.got)
	require.Equal(t, "end", w.got[len(w.got)-1])
	for i, msg := range w.got[:len(w.got)-1] {
		require.Equal(t, i, msg)
	}
}

// A job whose screen was left is cancelled, and what it still says is dropped.
func TestJobOfAScreenThatWasLeft(t *testing.T) {
	d, w := batch(t), &worker{}
	j, cmd := start(w, func(ctx context.Context, tell func(tea.Msg)) tea.Msg {
		<-ctx.Done()
		tell("nobody hears it")
		return ctx.Err()
	})
	d.m.take(step{push: w})
	done := make(chan tea.Msg)
	go func() { done <- cmd().(tea.BatchMsg)[0]() }()
	d.m.take(step{pop: true})
	j.cancel()
	d.m.Update(<-done)
	require.Empty(t, w.got)
}
