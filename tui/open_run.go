package tui

import (
	"context"
	"errors"
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/wire"
)

// A Start is what the program begins with: a file, a folder to watch, or neither, which is the file picker, in a folder or
// with the places where files may be.
type Start struct {
	Path   string
	Folder string // for the file picker to begin in
	Watch  string
}

// New makes the program.
func New(c Config, at Start) *Model {
	return newModel(c, func(s *session) (screen, tea.Cmd) {
		switch {
		case at.Path != "":
			return newReadingFile(s, at.Path, true)
		case at.Watch != "":
			return newWatch(s, at.Watch)
		case at.Folder != "":
			return newOpenIn(s, at.Folder)
		}
		return newOpen(s)
	})
}

// Run runs the program on a terminal, until somebody leaves it, the context ends, or it fails. It gives what was signed, nil
// where nothing was. The error is the one of the file that the program was started with, INVALID_STATE (not-confirmed) where
// the program was interrupted before anything was signed, or IO_ERROR. The terminal is as it was before on every return.
func Run(ctx context.Context, m *Model, tty *os.File) (*Done, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &guard{model: m, cancel: cancel}
	input := inputOf(tty)
	program := tea.NewProgram(g, tea.WithInput(input), tea.WithOutput(tty), tea.WithAltScreen(), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, program.Quit)() // tea.WithContext would not wait for its read of the terminal to end
	s := newStopper(m, program, input)
	_, err := program.Run()
	s.end()
	m.leave(0) // stops what runs, and wipes what was typed
	switch {
	case g.panicked != nil:
		return m.session.done, wire.Errorf(wire.IOError, "", "the screen failed, by a mistake in this program: %v", g.panicked)
	case m.session.done != nil:
		return m.session.done, nil
	case m.session.failed != nil:
		return nil, m.session.failed
	case err != nil && !errors.Is(err, context.Canceled):
		return nil, wire.Errorf(wire.IOError, "", "the terminal: %w", err)
	}
	return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "left without a signature")
}

// A guard stands between the terminal and the model: where the model panics, the program ends as if somebody had left it, so
// that the terminal is put back, and nothing of a stack is printed over it.
type guard struct {
	model    *Model
	cancel   context.CancelFunc
	panicked any // what the model panicked with; nil while it did not
}

// panicMsg is a panic of a command, which runs beside the screens.
type panicMsg struct{ value any }

// Init begins the model.
func (g *guard) Init() tea.Cmd { return g.safely(g.model.Init()) }

// Update hands a message on.
func (g *guard) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return g, g.update(msg) }

func (g *guard) update(msg tea.Msg) (cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			g.fail(p)
			cmd = tea.Quit
		}
	}()
	if p, ok := msg.(panicMsg); ok {
		g.fail(p.value)
		return tea.Quit
	}
	_, cmd = g.model.Update(msg)
	return g.safely(cmd)
}

// View draws the model, nothing after a panic.
func (g *guard) View() (drawn string) {
	defer func() {
		if p := recover(); p != nil {
			g.fail(p)
			g.cancel()
			drawn = ""
		}
	}()
	if g.panicked != nil {
		return ""
	}
	return g.model.View()
}

func (g *guard) fail(p any) {
	if g.panicked == nil {
		g.panicked = fmt.Sprint(p)
	}
}

// safely has a command give its panic as a message. Of a batch each command runs by itself.
func (g *guard) safely(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if p := recover(); p != nil {
				msg = panicMsg{p}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.safely(batch[i])
			}
		}
		return msg
	}
}
