//go:build linux

package tui

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// A terminal of the kernel's, and what was written to it.
type pty struct {
	t      *testing.T
	master *os.File
	tty    *os.File
	before *unix.Termios
	mu     sync.Mutex
	shown  bytes.Buffer
}

func newPTY(t *testing.T) *pty {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	p := &pty{t: t, master: master, tty: tty}
	p.before, err = unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			p.mu.Lock()
			p.shown.Write(buf[:n])
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() { tty.Close(); master.Close() })
	return p
}

func (p *pty) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

func (p *pty) await(text string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return containsText(p.text(), text) }, waitMost, 5*time.Millisecond, "%q", text)
}

// requireRestored finds the terminal set as it was, the other screen left, and nothing of a stack on it.
func (p *pty) requireRestored() {
	p.t.Helper()
	after, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	require.NoError(p.t, err)
	require.Equal(p.t, p.before, after, "the terminal is not set as it was")
	for _, sequence := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l"} {
		p.await(sequence)
	}
	require.NotContains(p.t, p.text(), "goroutine")
}

// bad is a screen that panics where it is told to.
type bad struct {
	blank
	in string
}

func (b *bad) place(*session, int, int) { b.panics("place") }

func (b *bad) view(*session, int, int) []row {
	b.panics("view")
	return []row{{own: "a bad screen"}}
}

func (b *bad) panics(in string) {
	if b.in == in {
		panic("on purpose")
	}
}

// Wherever it panics, in a screen, in its drawing or in what runs beside it, the terminal is put back and the program says so.
func TestRunPutsTheTerminalBackAfterAPanic(t *testing.T) {
	for _, in := range []string{"place", "view", "a job"} {
		t.Run(in, func(t *testing.T) {
			p := newPTY(t)
			road := (&fakeKey{}).road(smallBatch(t))
			road.Places = func(context.Context) ([]Entry, error) { return []Entry{folder("/home", false)}, nil }
			road.List = func(context.Context, string) ([]Entry, error) { panic("on purpose") }
			m := New(Config{Road: road, Now: time.Now, Theme: plainTheme()}, Start{})
			ended := make(chan error)
			go func() {
				_, err := Run(t.Context(), m, p.tty)
				ended <- err
			}()
			p.await("folder")
			if in == "a job" {
				p.master.WriteString("\r")
			} else {
				b := &bad{}
				m.stack = append(m.stack, b)
				b.in = in
				p.master.WriteString("j")
			}
			err := <-ended
			require.Equal(t, wire.IOError, wire.CodeOf(err))
			require.ErrorContains(t, err, "on purpose")
			p.requireRestored()
		})
	}
}

// An end from outside, as by a signal, and one from inside.
func TestRunPutsTheTerminalBack(t *testing.T) {
	for name, end := range map[string]func(p *pty, cancel func()){
		"cancelled": func(_ *pty, cancel func()) { cancel() },
		"^C":        func(p *pty, _ func()) { p.master.WriteString("\x03") },
		"q":         func(p *pty, _ func()) { p.master.WriteString("q") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPTY(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := New(Config{Road: (&fakeKey{}).road(smallBatch(t)), Now: time.Now, Theme: plainTheme()}, Start{Path: "scope.json"})
			ended := make(chan error)
			go func() {
				done, err := Run(ctx, m, p.tty)
				require.Nil(t, done)
				ended <- err
			}()
			p.await("Overview")
			end(p, cancel)
			require.Equal(t, "not-confirmed", wire.ReasonOf(<-ended))
			p.requireRestored()
		})
	}
}

// However the program was stopped, once it goes on the terminal is its own again, and drawn anew.
func TestRunTakesTheTerminalAgain(t *testing.T) {
	p := newPTY(t)
	m := New(Config{Road: (&fakeKey{}).road(smallBatch(t)), Now: time.Now, Theme: plainTheme()}, Start{Path: "scope.json"})
	ended := make(chan error)
	go func() {
		_, err := Run(t.Context(), m, p.tty)
		ended <- err
	}()
	p.await("Overview")
	raw, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	for n := range 3 {
		require.NoError(t, unix.IoctlSetTermios(int(p.tty.Fd()), unix.TCSETS, p.before)) // as a shell does
		require.NoError(t, unix.Kill(os.Getpid(), unix.SIGCONT))
		require.Eventually(t, func() bool {
			now, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
			taken := bytes.Count([]byte(p.text()), []byte("\x1b[?1049h"))
			return err == nil && *now == *raw && taken == n+2
		}, waitMost, 5*time.Millisecond, "the terminal is not taken again")
	}
	p.master.WriteString("q")
	require.Equal(t, "not-confirmed", wire.ReasonOf(<-ended))
	p.requireRestored()
}
