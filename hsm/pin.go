package hsm

import (
	"bytes"
	"context"
	"os"

	"github.com/better-compute/approver/core/wire"
)

// MaxPINBytes is the length of the longest PIN that is read.
const MaxPINBytes = 256

// A PINSource gives the PIN of a token. It is asked at most once a login, for a token that has no pin pad and whose PIN
// can be tried; whoever asked wipes the slice. No error of a PINSource contains any of the PIN.
type PINSource interface {
	// PIN gives 1 to MaxPINBytes bytes. Errors are KEY_UNAVAILABLE with reason "pin-missing" where there is none to be
	// had, and those of the file or stream it would come from.
	PIN(ctx context.Context, token TokenInfo) ([]byte, error)
}

// PINFile is the path of a file that holds a PIN and at most one newline (LF or CRLF) after it: a regular file, private
// to its owner like a key file.
type PINFile string

// PIN reads the file.
func (f PINFile) PIN(context.Context, TokenInfo) ([]byte, error) {
	data, err := readPrivate("PIN file", string(f), MaxPINBytes+2)
	if err != nil {
		return nil, err
	}
	return trimPIN("PIN file", data)
}

// Check tells, before anybody is asked for anything, whether the file can give a PIN. Errors are those of PIN.
func (f PINFile) Check() error {
	pin, err := f.PIN(context.Background(), TokenInfo{})
	clear(pin)
	return err
}

// PINDescriptor is an inherited file descriptor, 3 or above, that gives a PIN and at most one newline after it, then
// ends. It is closed once it was read, so it serves one login.
type PINDescriptor int

// Check tells whether the descriptor was handed over by whoever started the program. The Go runtime opens files of its
// own before main runs, and what stands in one of those must not be tried as a PIN. The error is KEY_UNAVAILABLE,
// "pin-missing", or INVALID_INPUT for a standard stream.
func (d PINDescriptor) Check() error {
	if d < 3 {
		return wire.Errorf(wire.InvalidInput, "", "PIN descriptor %d is a standard stream; wanted: 3 or above", int(d))
	}
	if !inherited(int(d)) {
		return wire.Errorf(wire.KeyUnavailable, "pin-missing",
			"descriptor %d was not handed to this program; no login was tried", int(d)).With("descriptor", int(d))
	}
	return nil
}

// PIN reads the descriptor to its end.
func (d PINDescriptor) PIN(ctx context.Context, _ TokenInfo) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(d), "PIN descriptor")
	if f == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "PIN descriptor %d is not open", int(d))
	}
	return waitForPIN(ctx, func() ([]byte, error) {
		defer f.Close()
		data, err := readUpTo("PIN descriptor", f, MaxPINBytes+2)
		if err != nil {
			return nil, err
		}
		return trimPIN("PIN descriptor", data)
	})
}

// PINMissing is the source where no PIN was given and nobody can be asked.
type PINMissing struct{}

// PIN refuses with KEY_UNAVAILABLE, reason "pin-missing".
func (PINMissing) PIN(context.Context, TokenInfo) ([]byte, error) {
	return nil, wire.Errorf(wire.KeyUnavailable, "pin-missing",
		"the token wants a PIN, none was given and there is no terminal to ask on; no login was tried")
}

// waitForPIN gives what read gives, or ends with ctx; then what is read later is wiped.
func waitForPIN(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type answer struct {
		pin []byte
		err error
	}
	answers := make(chan answer)
	go func() {
		pin, err := read()
		select {
		case answers <- answer{pin, err}:
		case <-ctx.Done():
			clear(pin)
		}
	}()
	select {
	case a := <-answers:
		return a.pin, a.err
	case <-ctx.Done():
		return nil, errCancelled(ctx, "the PIN")
	}
}

// trimPIN takes one newline from the end of data and refuses what cannot be a PIN before it costs a try. It wipes data
// where it refuses.
func trimPIN(what string, data []byte) ([]byte, error) {
	pin := bytes.TrimSuffix(data, []byte("\n"))
	if len(pin) < len(data) {
		pin = bytes.TrimSuffix(pin, []byte("\r"))
	}
	trouble := ""
	switch {
	case len(pin) == 0:
		return nil, wire.Errorf(wire.KeyUnavailable, "pin-missing", "the %s has no PIN in it", what)
	case len(pin) > MaxPINBytes:
		trouble = "is longer than a PIN can be"
	case bytes.ContainsAny(pin, "\r\n\x00"):
		trouble = "has more than one line"
	case bytes.HasPrefix(pin, []byte("\xef\xbb\xbf")):
		trouble = "begins with a byte order mark"
	default:
		return pin, nil
	}
	clear(data)
	return nil, wire.Errorf(wire.InvalidInput, "", "the %s %s; wanted: the PIN and at most one newline", what, trouble)
}
