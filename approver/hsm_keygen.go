package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

type hsmKeygenFlags struct {
	tokenFlags
	pin                   pinFlags
	label, algorithm, out string
}

func (a *app) hsmKeygenCommand() *cobra.Command {
	var f hsmKeygenFlags
	c := &cobra.Command{
		Use:   "keygen [URI] --label LABEL --out PATH",
		Short: "Make a key on a token",
		Long: `keygen makes a key on a token that never leaves it, for signing and nothing else, and tries it. Of a P-256 key it writes
PATH.pub, the public key that pins it from now on, and PATH.proof, which shows that whoever hands it over has the key; of an
Ed25519 key, which is for other jobs than an approver's, PATH.pub alone. It prints the kid and the pkcs11: URI.

Both files have their places before a key is made, and nothing is overwritten. A label that the token has already is refused.
Where anything fails after the key was made, the key is destroyed again.`,
		Example: "  approver hsm keygen --token approver --label k256 --out k256 --module /usr/lib/softhsm/libsofthsm2.so\n" +
			"  approver hsm keygen 'pkcs11:token=approver;serial=0a1b2c' --label k256 --out k256",
		Args: uriArgument,
		RunE: func(c *cobra.Command, args []string) error { return a.hsmKeygen(c.Context(), &f, args) },
	}
	f.register(c)
	f.pin.register(c, "", "the PIN", "pin-source of the URI, else typed")
	s := c.Flags()
	s.StringVar(&f.label, "label", "", "`LABEL` of the new key")
	s.StringVar(&f.algorithm, "type", "p256", "`TYPE` of the key: p256, or ed25519")
	s.StringVar(&f.out, "out", "", "`PATH` to which .pub and .proof are added")
	return c
}

// keyTypes are the values of --type.
var keyTypes = map[string]hsm.Algorithm{"p256": hsm.AlgorithmP256, "ed25519": hsm.AlgorithmEd25519}

func (f *hsmKeygenFlags) check() error {
	switch {
	case f.label == "":
		return usage("--label is missing")
	case f.out == "":
		return usage("--out is missing")
	case keyTypes[f.algorithm] == "":
		return usage("--type is p256 or ed25519")
	}
	return f.tokenFlags.check()
}

// outputs takes the places of the files, before anything is made.
func (f *hsmKeygenFlags) outputs() (outs []*durable.Pending, err error) {
	for _, ending := range f.endings() {
		out, err := durable.Create(f.out+ending, 0o644)
		if err != nil {
			abandonAll(outs)
			return nil, err
		}
		outs = append(outs, out)
	}
	return outs, nil
}

func (f *hsmKeygenFlags) endings() []string {
	if keyTypes[f.algorithm] == hsm.AlgorithmP256 {
		return []string{".pub", ".proof"}
	}
	return []string{".pub"}
}

func abandonAll(outs []*durable.Pending) {
	for _, out := range outs {
		out.Abandon()
	}
}

func (a *app) hsmKeygen(ctx context.Context, f *hsmKeygenFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	uri, err := a.tokenURI(&f.tokenFlags, args)
	if err != nil {
		return err
	}
	if a.stdoutClosed {
		return wire.Errorf(wire.IOError, "", "standard output is closed: nobody would see the kid of the new key; none was made")
	}
	outs, err := f.outputs()
	if err != nil {
		return err
	}
	defer abandonAll(outs)
	admin, closing, err := a.openAsUser(ctx, &f.tokenFlags, &f.pin, uri)
	if err != nil {
		return err
	}
	defer closing()
	module, err := a.settleModule(f.moduleFlags, uri.ModulePath())
	if err != nil {
		return err
	}
	unlock, err := lockModule(ctx, module.Path, f.timeout)
	if err != nil {
		return err
	}
	defer unlock()
	key, err := admin.GenerateKey(ctx, hsm.NewKeySpec{Label: f.label, Algorithm: keyTypes[f.algorithm]})
	if err != nil {
		return err
	}
	if err := a.keepKey(ctx, key, f, outs); err != nil {
		return destroyAgain(ctx, key, err)
	}
	return nil
}

// openAsUser opens a token to change it and logs its user in.
func (a *app) openAsUser(ctx context.Context, f *tokenFlags, pin *pinFlags, uri hsm.URI) (*hsm.Admin, func(), error) {
	t := a.terminal()
	defer t.close()
	source, err := pin.source(uri.PINFile(), t, hsm.UserPIN)
	if err != nil {
		return nil, nil, err
	}
	admin, err := a.openAdmin(ctx, f, uri)
	if err != nil {
		return nil, nil, err
	}
	a.tellToken(admin.Info(), source, admin.Info().PIN.String())
	if err := admin.Login(ctx, source); err != nil {
		a.closeToken(admin)
		return nil, nil, err
	}
	return admin, func() { a.closeToken(admin) }, nil
}

// keepKey writes the files of a new key and tells its name. After an error nothing of them is left.
func (a *app) keepKey(ctx context.Context, key *hsm.NewKey, f *hsmKeygenFlags, outs []*durable.Pending) error {
	object := key.Object()
	contents := [][]byte{object.PublicPEM()}
	if signer, ok := key.Signer(); ok {
		proof, err := ceremony.ProveKey(ctx, signer)
		if err != nil {
			return err
		}
		contents = append(contents, proof)
	}
	if len(contents) != len(outs) {
		return wire.Errorf(wire.InvalidState, "", "the new key is not of the type that was asked for")
	}
	if err := commitAll(outs, contents...); err != nil {
		return err
	}
	if err := a.tellNewKey(object, f, outs); err != nil {
		for _, out := range outs {
			out.Remove()
		}
		return err
	}
	return nil
}

func (a *app) tellNewKey(o hsm.KeyObject, f *hsmKeygenFlags, outs []*durable.Pending) error {
	line := fmt.Appendf(nil, "kid %s\nuri %s\n", o.KID(), o.URI)
	if a.json {
		told := map[string]any{"kid": o.KID(), "uri": o.URI.String(), "type": o.Algorithm}
		for i, ending := range f.endings() {
			told[ending[1:]] = review.Escape(outs[i].Path())
		}
		encoded, err := json.Marshal(told)
		if err != nil {
			return err
		}
		line = append([]byte(ascii(string(encoded))), '\n')
	}
	if _, err := a.stdout.Write(line); err != nil {
		return written(err)
	}
	if !a.json {
		var paths []string
		for _, out := range outs {
			paths = append(paths, out.Path())
		}
		a.tellWritten(paths...)
	}
	return nil
}

// destroyAgain takes back a key that nobody would know of, and says so beside why. It does so after an interrupt too.
func destroyAgain(ctx context.Context, key *hsm.NewKey, cause error) error {
	told, state := "; the new key was destroyed again", "destroyed"
	if err := key.Destroy(context.WithoutCancel(ctx)); err != nil {
		told, state = "; the new key is still on the token, and has to be deleted: "+wire.MessageOf(err), "left"
	}
	out := wire.Errorf(wire.CodeOf(cause), wire.ReasonOf(cause), "%s%s", wire.MessageOf(cause), told).With("newKey", state)
	if e, ok := errors.AsType[*wire.Error](cause); ok {
		maps.Copy(out.Details, e.Details)
	}
	return out
}
