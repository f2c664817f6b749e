package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// pinFlags say where one PIN comes from: a private file, an inherited descriptor, or else the terminal.
type pinFlags struct {
	prefix string // of both flags: "", "so-" or "new-"
	file   string
	fd     int
}

// register names the two flags; whose is the PIN in words.
func (f *pinFlags) register(c *cobra.Command, prefix, whose, otherwise string) {
	f.prefix = prefix
	c.Flags().StringVar(&f.file, prefix+"pin-file", "", "`FILE` that holds "+whose+", private to you (default: "+otherwise+")")
	c.Flags().IntVar(&f.fd, prefix+"pin-fd", -1, "inherited file descriptor `N` (3 or above) that gives "+whose)
}

// source gives where the PIN comes from, looked at before anything is opened: the flags, the URI's pin-source ("" where it
// has none), else the terminal, where there is one.
func (f *pinFlags) source(fromURI string, t *terminal, role hsm.PINRole) (hsm.PINSource, error) {
	given, err := givenPIN(f.prefix, f.file, f.fd, fromURI)
	if given != nil || err != nil {
		return given, err
	}
	return hsm.NewPINTerminalFor(t.file(), role), nil
}

// file gives the terminal's file, nil where there is no terminal.
func (t *terminal) file() *os.File {
	if t == nil {
		return nil
	}
	return t.tty
}

// givenPIN gives the source of a PIN that a flag or the URI names, looked at, or nil.
func givenPIN(prefix, file string, fd int, fromURI string) (source hsm.PINSource, err error) {
	given := 0
	if fromURI != "" {
		given, source, err = given+1, hsm.PINFile(fromURI), hsm.PINFile(fromURI).Check()
	}
	if fd >= 0 {
		given, source, err = given+1, hsm.PINDescriptor(fd), hsm.PINDescriptor(fd).Check()
	}
	if file != "" {
		given, source, err = given+1, hsm.PINFile(file), hsm.PINFile(file).Check()
	}
	if given > 1 {
		flags := "--" + prefix + "pin-file, --" + prefix + "pin-fd"
		if prefix == "" {
			return nil, usage("the PIN comes from one of " + flags + " and the URI's pin-source")
		}
		return nil, usage("that PIN comes from one of " + flags)
	}
	return source, err
}

// checkDescriptors refuses one descriptor for two PINs: whoever reads it second finds nothing.
func checkDescriptors(flags ...*pinFlags) error {
	for i, f := range flags {
		if f.fd >= 0 && slices.ContainsFunc(flags[:i], func(other *pinFlags) bool { return other.fd == f.fd }) {
			return usage("--" + f.prefix + "pin-fd names the descriptor of another PIN")
		}
	}
	return nil
}

// A heldPIN is a PIN that was asked for before it is needed, or that is needed twice. wipe it.
type heldPIN struct{ pin []byte }

// holdPIN asks for the PIN of a token that is about to be changed; a token with a pin pad is asked itself. A new PIN is held
// against the lengths that the token takes, so that nothing is destroyed for one that it refuses.
func holdPIN(ctx context.Context, source hsm.PINSource, info hsm.TokenInfo, isNew bool) (*heldPIN, error) {
	if info.PINPad {
		return &heldPIN{}, nil
	}
	pin, err := source.PIN(ctx, info)
	if err != nil {
		return nil, adding(err, "; nothing was changed")
	}
	if isNew && (len(pin) < info.MinPIN || info.MaxPIN > 0 && len(pin) > info.MaxPIN) {
		clear(pin)
		return nil, wire.Errorf(wire.InvalidInput, "", "the token takes PINs of %d to %d bytes; nothing was changed", info.MinPIN, info.MaxPIN)
	}
	return &heldPIN{pin}, nil
}

// PIN gives a copy, which whoever asked wipes.
func (h *heldPIN) PIN(context.Context, hsm.TokenInfo) ([]byte, error) { return bytes.Clone(h.pin), nil }

func (h *heldPIN) wipe() {
	if h != nil {
		clear(h.pin)
	}
}

// adding gives an error with more at the end of its message.
func adding(err error, more string) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return fmt.Errorf("%w%s", err, more)
	}
	said := *e
	said.Message += more
	return &said
}

// typed wants words on the terminal before something is destroyed; what says in words what they are. No flag answers in a
// person's place.
func (a *app) typed(ctx context.Context, t *terminal, question, what string, right func(answer string) bool) error {
	t.dropTypedAhead()
	defer t.dropTypedAhead() // what was pasted beyond the answer is neither a PIN nor for the shell
	answer, err := t.ask(ctx, question+": ")
	if err != nil {
		return err
	}
	if !right(strings.TrimRight(answer, "\r\n")) {
		return wire.Errorf(wire.InvalidState, "not-confirmed", "not confirmed, nothing was changed: what was typed is not %s", what)
	}
	return nil
}

// errNobodyToAsk is the refusal of what only a person confirms.
func errNobodyToAsk(what string) error {
	return wire.Errorf(wire.InvalidState, "not-confirmed", "%s is confirmed on a terminal, and there is none; nothing was changed", what).With("terminal", "none")
}
