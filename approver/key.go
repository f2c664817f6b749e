package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/medium"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// keyFlags name the key that signs and how its PIN comes.
type keyFlags struct {
	key, pub, module, pinFile string
	pinFD                     int
	allowFinalTry             bool
	timeout                   time.Duration
}

func (f *keyFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.key, "key", "", "`KEY` that signs: a key file, or a pkcs11: URI (RFC 7512)")
	s.StringVar(&f.pub, "pub", "", "`FILE` with the public key that is expected of it (the .pub file)")
	s.StringVar(&f.module, "module", "", "PKCS#11 module, an absolute `PATH` (default: module-path of the URI)")
	s.StringVar(&f.pinFile, "pin-file", "", "`FILE` that holds the PIN, private to you (default: pin-source of the URI, else typed)")
	s.IntVar(&f.pinFD, "pin-fd", -1, "inherited file descriptor `N` (3 or above) that gives the PIN")
	s.BoolVar(&f.allowFinalTry, "allow-final-try", false, "log in even where one more wrong PIN locks the token")
	s.DurationVar(&f.timeout, "timeout", 60*time.Second, "longest time for each call of the module")
}

// A foundKey is a key that was found and is not opened: nobody was asked for a PIN or passphrase yet.
type foundKey struct {
	app      *app
	flags    *keyFlags
	path     string // of a key file, or the URI of a key on a token
	pub      string // the file that says which key is expected, or ""
	uri      hsm.URI
	module   string           // path of the PKCS#11 module that was loaded
	expected quorum.PublicKey // zero where nothing says which key it should be
	shown    quorum.PublicKey // what the token shows before a login, where nothing was expected
	sealed   *hsm.SealedKey
	token    *hsm.Token
	private  bool          // the private key was seen on the token
	pin      hsm.PINSource // given by a flag or the URI, or nil: it is typed
}

// findKey looks for the key. set, where not nil, pins a kid that the URI names as its object. Close what it gives.
func (a *app) findKey(ctx context.Context, f *keyFlags, set *quorum.Set) (*foundKey, error) {
	k := &foundKey{app: a, flags: f}
	var err error
	if k.path, err = a.signingKey(f.key); err != nil {
		return nil, err
	}
	if k.path == "" {
		return nil, usage("--key is missing")
	}
	if f.timeout <= 0 {
		return nil, usage("--timeout is a time above zero, as in 60s")
	}
	expected, err := a.expectedPublic(f.pub)
	if err != nil {
		return nil, err
	}
	k.expected, k.pub = expected.Key, expected.Path
	if hsm.IsURI(k.path) {
		return k, k.findOnToken(ctx, set)
	}
	return k, k.findFile()
}

func (k *foundKey) findFile() (err error) {
	f := k.flags
	if f.module != "" || f.pinFile != "" || f.pinFD >= 0 {
		return usage("--module, --pin-file and --pin-fd are for a key on a token; " + k.path + " is a file")
	}
	if public, err := readPublicKey(k.path); err == nil {
		return wire.Errorf(wire.InvalidInput, "", "%s is the public key %s; the private key lies beside it, without .pub", k.path, public.KID())
	}
	if k.sealed, err = hsm.OpenKeyFile(k.path); err != nil || !k.expected.IsZero() {
		return err
	}
	// The public half beside the key names it before it is opened. Without that file the key names itself.
	switch _, statErr := os.Lstat(k.path + ".pub"); {
	case errors.Is(statErr, fs.ErrNotExist):
		return nil
	default:
		k.pub = k.path + ".pub"
		k.expected, err = readPublicKey(k.pub)
		return err
	}
}

func (k *foundKey) findOnToken(ctx context.Context, set *quorum.Set) (err error) {
	f := k.flags
	if k.uri, err = hsm.ParseURI(k.path); err != nil {
		return err
	}
	k.app.warn(k.uri.Warnings()...)
	if k.pin, err = k.givenPIN(); err != nil {
		return err
	}
	if kid, err := quorum.ParseKID(k.uri.Object()); err == nil && k.expected.IsZero() && set != nil {
		k.expected, _ = set.Key(kid)
	}
	module, err := k.loadModule(ctx)
	if err != nil {
		return err
	}
	k.token, err = hsm.OpenToken(ctx, module, hsm.TokenOptions{URI: k.uri, Timeout: f.timeout, AllowFinalTry: f.allowFinalTry})
	if err != nil {
		return err
	}
	k.shown, _, err = k.token.Public(ctx, k.expected)
	if err != nil {
		k.close()
	}
	return err
}

// loadModule loads the module that the flag, the URI or the configuration names.
func (k *foundKey) loadModule(ctx context.Context) (m hsm.Module, err error) {
	k.module, m, err = k.app.openModule(ctx, moduleFlags{k.flags.module, k.flags.timeout}, k.uri.ModulePath())
	return m, err
}

// inputs gives the files that the key came from.
func (k *foundKey) inputs() []medium.Input {
	inputs := []medium.Input{{Role: "public key", Path: k.pub}, {Role: "PKCS#11 module", Path: k.module, Installed: true}}
	if k.token == nil {
		inputs = append(inputs, medium.Input{Role: "key file", Path: k.path})
	}
	return inputs
}

// unpinned tells whether only the token says which key it has.
func (k *foundKey) unpinned() bool { return k.token != nil && k.expected.IsZero() }

// public gives the public half as far as it is known before the key is opened, else the zero PublicKey.
func (k *foundKey) public() quorum.PublicKey {
	if k.expected.IsZero() {
		return k.shown
	}
	return k.expected
}

// open asks for the PIN or passphrase and gives the key. t may be nil.
func (k *foundKey) open(ctx context.Context, t *terminal) (quorum.Signer, error) {
	if k.token == nil {
		return k.unlock(ctx, t)
	}
	source := k.pinSource(t)
	k.app.tellToken(k.token.Info(), source, k.token.Info().PIN.String())
	if err := k.token.Login(ctx, source); err != nil {
		return nil, err
	}
	return k.token.Key(ctx, k.public())
}

// openAsking is open with questions that somebody else asks: on a screen. A PIN that was wrong may be typed again while it is not
// the final try.
func (k *foundKey) openAsking(ctx context.Context, pin hsm.PINSource, passphrase hsm.Passphrase, wrong func()) (quorum.Signer, error) {
	if k.token == nil {
		return k.unlockIn(ctx, passphraseTries, passphrase, func(error) { wrong() })
	}
	if k.pin != nil {
		pin = k.pin
	}
	for {
		err := k.token.Login(ctx, pin)
		switch {
		case err == nil:
			return k.token.Key(ctx, k.public())
		case k.pin != nil || wire.ReasonOf(err) != "pin-incorrect" || k.token.Info().PINPad || ctx.Err() != nil:
			return nil, err
		case k.token.Info().PIN >= hsm.PINFinalTry:
			return nil, err
		}
		wrong()
	}
}

// passphraseTries is how often a passphrase may be typed: a file counts no tries, and a review should not be lost to a typo.
const passphraseTries = 3

// unlock opens a key file with a passphrase from the environment or the terminal.
func (k *foundKey) unlock(ctx context.Context, t *terminal) (quorum.Signer, error) {
	tries := passphraseTries
	if t == nil {
		tries = 1
	}
	return k.unlockIn(ctx, tries, k.app.passphrase(t, "Passphrase of "+k.path+": "), func(err error) {
		fmt.Fprintln(t.tty, review.Escape(err.Error()))
		t.dropTypedAhead() // a list that was pasted is not three tries
	})
}

// unlockIn opens a key file in so many tries, one where the environment gives the passphrase. wrong is told of one that was
// not it.
func (k *foundKey) unlockIn(ctx context.Context, tries int, passphrase hsm.Passphrase, wrong func(error)) (quorum.Signer, error) {
	if k.app.getenv(passphraseVariable) != "" {
		tries = 1
	}
	for try := 1; ; try++ {
		if k.sealed == nil { // what was tried is wiped
			var err error
			if k.sealed, err = hsm.OpenKeyFile(k.path); err != nil {
				return nil, err
			}
		}
		key, err := k.sealed.Unlock(ctx, passphrase)
		k.sealed = nil
		switch {
		case err == nil && !k.expected.IsZero() && !key.Public().Equal(k.expected):
			return nil, wire.Errorf(wire.KeyUnavailable, "key-mismatch", "the key file holds key %s, expected was %s",
				key.Public().KID(), k.expected.KID())
		case err == nil:
			return key, nil
		case try == tries || wire.CodeOf(err) != wire.InvalidInput || ctx.Err() != nil:
			return nil, err
		}
		wrong(err)
	}
}

// givenPIN gives the source of the PIN that a flag or the URI names, looked at before anybody reviews anything, or nil.
func (k *foundKey) givenPIN() (source hsm.PINSource, err error) {
	return givenPIN("", k.flags.pinFile, k.flags.pinFD, k.uri.PINFile())
}

// pinSource gives the named source, else the terminal, else none.
func (k *foundKey) pinSource(t *terminal) hsm.PINSource {
	switch {
	case k.pin != nil:
		return k.pin
	case t != nil:
		return hsm.NewPINTerminal(t.tty)
	}
	return hsm.PINMissing{}
}

// close logs out and leaves the module. Its error is told, since a token may be left logged in.
func (k *foundKey) close() {
	if k == nil || k.token == nil {
		return
	}
	k.app.closeToken(k.token)
}

const passphraseVariable = "BETTER_COMPUTE_APPROVER_PASSPHRASE"

// passphrase gives the passphrase from the environment, or asks for it.
func (a *app) passphrase(t *terminal, question string) hsm.Passphrase {
	return func(ctx context.Context) ([]byte, error) {
		if value := a.getenv(passphraseVariable); value != "" {
			return []byte(value), nil
		}
		if t == nil {
			return nil, wire.Errorf(wire.MissingEnv, "", "the key file is encrypted: %s is not set, and there is no terminal to ask on", passphraseVariable)
		}
		return t.askSecret(ctx, review.Escape(question).String())
	}
}
