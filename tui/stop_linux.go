package tui

import (
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
)

// A stopper stops the program where the terminal's job is stopped, with the terminal given back, and takes it again where the
// job goes on: raw, drawn anew, and nothing held of what was typed. It is for one run of the program.
type stopper struct {
	program *tea.Program
	tty     *terminalInput
	signals chan os.Signal
	ending  chan struct{} // the program has ended
	ended   chan struct{} // so has this
	ignored bool          // SIGTSTP was, before
	touched bool          // the terminal was given back and taken again
}

// A terminalInput is what is typed on a terminal. What comes while the program is away from it, or just goes on, is dropped:
// it was for the shell, or typed by nobody who saw the screen.
type terminalInput struct {
	*os.File
	away atomic.Bool
}

// settle is what a signal needs to come here by far, and nobody sees.
const settle = 10 * time.Millisecond

// Read reads what was typed.
func (t *terminalInput) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	time.Sleep(settle) // what let the program go on may have come a moment before these keys
	if n > 0 && t.away.Load() {
		clear(b[:n])
		n = 0
	}
	return n, err
}

func inputOf(tty *os.File) *terminalInput { return &terminalInput{File: tty} }

func newStopper(m *Model, program *tea.Program, tty *terminalInput) *stopper {
	s := &stopper{program: program, tty: tty, signals: make(chan os.Signal, 8), ending: make(chan struct{}), ended: make(chan struct{}),
		ignored: signal.Ignored(unix.SIGTSTP)}
	m.suspend = func() { unix.Kill(0, unix.SIGTSTP) } // all of the job, as the terminal does where it is not raw
	signal.Notify(s.signals, unix.SIGTSTP, unix.SIGCONT)
	go s.run()
	return s
}

// end gives the terminal back, also where a signal came just as the program ended.
func (s *stopper) end() {
	signal.Stop(s.signals)
	if s.ignored {
		signal.Ignore(unix.SIGTSTP)
	}
	close(s.ending)
	<-s.ended
	if s.touched {
		s.program.ReleaseTerminal()
	}
}

func (s *stopper) run() {
	defer close(s.ended)
	for {
		select {
		case <-s.ending:
			return
		case sig := <-s.signals:
			s.tty.away.Store(true)
			s.take(sig == unix.SIGTSTP)
		}
	}
}

// take gives the terminal back and takes it again, with a stop between them where one is wanted.
func (s *stopper) take(stop bool) {
	s.touched = true
	if stop {
		ready := make(chan struct{})
		s.program.Send(stopMsg{ready})
		select {
		case <-ready:
		case <-s.ending:
			return
		}
	}
	s.program.ReleaseTerminal()
	for stop = stop || s.inBackground(); stop; stop = s.stopsAgain() {
		stopHere()
	}
	s.program.Send(resumeMsg{})                                   // before any key
	unix.IoctlSetInt(int(s.tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) // what was typed ahead was for the shell
	s.tty.away.Store(false)
	s.program.RestoreTerminal()
}

// stopsAgain takes the signal that let the program go on, and tells whether it is to stop once more. Taken later, it would have
// the terminal given back and taken once more, before the eyes of whoever reads there.
func (s *stopper) stopsAgain() bool {
	select {
	case sig := <-s.signals:
		return sig == unix.SIGTSTP
	case <-time.After(30 * settle): // it was not stopped: no shell could have let it go on
		return false
	}
}

// inBackground tells whether the terminal is another job's.
func (s *stopper) inBackground() bool {
	group, err := unix.IoctlGetInt(int(s.tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}

// stopHere stops the process, and returns once it goes on; at once where no shell could let it. The signal is one that
// nothing here listens for or ignores, and goes to this thread, so that nothing runs on before it is stopped.
func stopHere() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTTOU)
}
