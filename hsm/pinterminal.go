package hsm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"unicode"

	"github.com/better-compute/approver/core/wire"
	"golang.org/x/term"
)

// A PINRole is whose PIN is asked for, and whether it is one to be.
type PINRole uint8

// The roles. New PINs are typed twice.
const (
	UserPIN PINRole = iota
	SecurityOfficerPIN
	NewUserPIN
	NewSecurityOfficerPIN
)

// promptColumns is how long a line of a prompt gets before its second half stands on a line of its own.
const promptColumns = 78

// prompt names the PIN; its state is that of the token.
func (r PINRole) prompt(token TokenInfo) string {
	what, state := "PIN", token.PIN.String()
	switch r {
	case SecurityOfficerPIN:
		what, state = "Security officer's PIN", token.SOPIN.String()
	case NewUserPIN:
		what, state = "New PIN", ""
	case NewSecurityOfficerPIN:
		what, state = "New security officer's PIN", ""
	}
	text := fmt.Sprintf("%s for token %s, serial %s", what, quotedOrBlank(token.Label), quotedOrBlank(token.Serial))
	switch {
	case state == "":
		return text + ": "
	case len(text)+len(state)+len(" (): ") > promptColumns:
		return text + "\n(" + state + "): "
	}
	return text + " (" + state + "): "
}

// quotedOrBlank quotes a token's text, which comes from outside and must not pose as another prompt. A token that was never
// initialised often has none.
func quotedOrBlank(s string) string {
	if s == "" {
		return "(blank)"
	}
	return strconv.QuoteToASCII(s)
}

// A PINTerminal asks for a PIN on a terminal, without echo, naming the token by label, serial and PIN state. One that is
// made of no terminal is PINMissing.
type PINTerminal struct {
	tty  *os.File
	role PINRole
}

// NewPINTerminal asks for the user's PIN on tty, which is open for reading and writing and stays the caller's. It gives
// PINMissing where tty is nil or no terminal.
func NewPINTerminal(tty *os.File) PINSource { return NewPINTerminalFor(tty, UserPIN) }

// NewPINTerminalFor is NewPINTerminal for another PIN. A new one is asked for twice; INVALID_INPUT where the two differ.
func NewPINTerminalFor(tty *os.File, role PINRole) PINSource {
	if tty == nil || !term.IsTerminal(int(tty.Fd())) {
		return PINMissing{}
	}
	return PINTerminal{tty, role}
}

// PIN asks. The echo is off before the prompt stands there, so nothing that is typed in answer is shown; a line that was
// typed for something else is dropped, since it must not cost a try. The terminal is put back as it was on every path.
func (t PINTerminal) PIN(ctx context.Context, token TokenInfo) ([]byte, error) {
	fd := int(t.tty.Fd())
	before, err := term.GetState(fd)
	if err == nil {
		err = hideTyping(fd)
	}
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "the terminal cannot be asked for the PIN: %w", err)
	}
	defer term.Restore(fd, before)
	pin, err := t.ask(ctx, before, t.role.prompt(token))
	if err != nil || t.role != NewUserPIN && t.role != NewSecurityOfficerPIN {
		return pin, err
	}
	again, err := t.ask(ctx, before, "The same again: ")
	defer clear(again)
	if err == nil && !bytes.Equal(pin, again) {
		err = wire.Errorf(wire.InvalidInput, "", "the two entries of the new PIN differ; nothing was changed")
	}
	if err != nil {
		clear(pin)
		return nil, err
	}
	return pin, nil
}

// ControlRefused is what a terminal says of a secret with a control character.
const ControlRefused = "A control character is in it: it was not tried. Type it from the start."

// TypeSecret asks on a terminal, anew while a control character is in the answer: an arrow, or ^Z. Nobody means it, and it would
// cost a try. Such an answer is wiped, and what was typed ahead of the next question dropped by dropTypedAhead.
func TypeSecret(tty io.Writer, dropTypedAhead func(), ask func() ([]byte, error)) ([]byte, error) {
	for {
		secret, err := ask()
		if err != nil || !bytes.ContainsFunc(secret, unicode.IsControl) {
			return secret, err
		}
		clear(secret)
		fmt.Fprintln(tty, ControlRefused)
		dropTypedAhead()
	}
}

// ask is a question, on a terminal without echo, until the answer has no control character; before is how the terminal was.
func (t PINTerminal) ask(ctx context.Context, before *term.State, prompt string) ([]byte, error) {
	return TypeSecret(t.tty, func() { DropTypedAhead(int(t.tty.Fd())) }, func() ([]byte, error) {
		return t.askOnce(ctx, before, prompt)
	})
}

func (t PINTerminal) askOnce(ctx context.Context, before *term.State, prompt string) ([]byte, error) {
	if _, err := io.WriteString(t.tty, prompt); err != nil {
		return nil, wire.Errorf(wire.IOError, "", "the terminal cannot be asked for the PIN: %w", err)
	}
	fd := int(t.tty.Fd()) // by number: a line that comes after an interrupt may find the file closed
	pin, err := waitForPIN(ctx, func() ([]byte, error) {
		pin, err := term.ReadPassword(fd)
		if ctx.Err() != nil { // nobody waits any more, and reading left the echo as it found it: off
			term.Restore(fd, before)
		}
		if err != nil && err != io.EOF {
			clear(pin)
			return nil, wire.Errorf(wire.IOError, "", "the PIN cannot be read from the terminal: %w", err)
		}
		return trimPIN("answer", pin)
	})
	fmt.Fprintln(t.tty)
	return pin, err
}
