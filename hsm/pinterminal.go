package hsm

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/better-compute/approver/core/wire"
	"golang.org/x/term"
)

// A PINTerminal asks for the PIN on a terminal, without echo, naming the token by label, serial and PIN state. One that
// is made of no terminal is PINMissing.
type PINTerminal struct{ tty *os.File }

// NewPINTerminal asks on tty, which is open for reading and writing and stays the caller's. It gives PINMissing where tty
// is nil or no terminal.
func NewPINTerminal(tty *os.File) PINSource {
	if tty == nil || !term.IsTerminal(int(tty.Fd())) {
		return PINMissing{}
	}
	return PINTerminal{tty}
}

// PIN asks. Where ctx ends first the terminal is put back as it was.
func (t PINTerminal) PIN(ctx context.Context, token TokenInfo) ([]byte, error) {
	fd := int(t.tty.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "the terminal cannot be asked for the PIN: %w", err)
	}
	DropTypedAhead(fd) // a line that was typed for something else must not cost a try
	// The label is text from outside: quoted, so that it cannot pose as another prompt.
	if _, err := fmt.Fprintf(t.tty, "PIN for token %s, serial %s (%v): ",
		strconv.QuoteToASCII(token.Label), strconv.QuoteToASCII(token.Serial), token.PIN); err != nil {
		return nil, wire.Errorf(wire.IOError, "", "the terminal cannot be asked for the PIN: %w", err)
	}
	pin, err := waitForPIN(ctx, func() ([]byte, error) {
		pin, err := term.ReadPassword(fd)
		if err != nil && err != io.EOF {
			clear(pin)
			return nil, wire.Errorf(wire.IOError, "", "the PIN cannot be read from the terminal: %w", err)
		}
		return trimPIN("answer", pin)
	})
	fmt.Fprintln(t.tty)
	if ctx.Err() != nil {
		term.Restore(fd, before)
	}
	return pin, err
}
