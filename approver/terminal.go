package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// maxAnswerBytes bounds what is read of an answer.
const maxAnswerBytes = 4096

// A terminal asks a person. It is the controlling terminal, whatever the streams are.
type terminal struct {
	tty *os.File
	in  *bufio.Reader
}

// terminal opens the controlling terminal; nil where there is none.
func (a *app) terminal() *terminal {
	tty, err := a.openTTY()
	if err != nil {
		return nil
	}
	if !term.IsTerminal(int(tty.Fd())) {
		tty.Close()
		return nil
	}
	return &terminal{tty, bufio.NewReaderSize(tty, maxAnswerBytes)}
}

func (t *terminal) close() {
	if t != nil {
		t.tty.Close()
	}
}

// dropTypedAhead throws away what was typed before the question stood on the screen.
func (t *terminal) dropTypedAhead() {
	hsm.DropTypedAhead(int(t.tty.Fd()))
	t.in.Reset(t.tty)
}

// ask shows a question and takes a line. It ends with the context, so an interrupt does not wait for the line.
func (t *terminal) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(t.tty, question)
	line, err := t.read(ctx, func() ([]byte, error) {
		line, err := t.in.ReadSlice('\n')
		if len(line) > 0 && err != nil { // a line without its end is no answer
			err = wire.Errorf(wire.InvalidState, "not-confirmed", "the answer was cut short")
		}
		return bytes.Clone(line), err
	})
	return string(line), err
}

// askSecret takes a line without echo. Whoever asked wipes it.
func (t *terminal) askSecret(ctx context.Context, question string) ([]byte, error) {
	state, err := term.GetState(int(t.tty.Fd()))
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "the terminal: %w", err)
	}
	defer term.Restore(int(t.tty.Fd()), state)           // also where the context ends first
	if err := hsm.EchoOff(int(t.tty.Fd())); err != nil { // before the question: nothing of the answer is ever shown
		return nil, wire.Errorf(wire.IOError, "", "the terminal: %w", err)
	}
	return hsm.TypeSecret(t.tty, t.dropTypedAhead, func() ([]byte, error) {
		fmt.Fprint(t.tty, question)
		secret, err := t.read(ctx, func() ([]byte, error) { return term.ReadPassword(int(t.tty.Fd())) })
		fmt.Fprintln(t.tty)
		return secret, err
	})
}

func (t *terminal) read(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		line []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		line, err := read()
		done <- result{line, err}
	}()
	select {
	case <-ctx.Done():
		return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "interrupted")
	case r := <-done:
		if r.err != nil && wire.CodeOf(r.err) == "" {
			return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "the terminal gave no answer: %w", r.err)
		}
		return r.line, r.err
	}
}
