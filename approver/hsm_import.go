package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

type importFlags struct {
	tokenFlags
	pin  pinFlags
	from string
}

func (a *app) hsmImportCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import URI --from FILE",
		Short: "Give a key on a token its public half",
		Long: `import writes a public key or an X.509 certificate beside the private key that the pkcs11: URI names, where the token has none.
The private key signs once: a public half that its signature does not verify under is refused, and so is a second one. Private
keys are never imported; a key that was somewhere else is no approver's.`,
		Example: "  approver hsm import 'pkcs11:token=approver;id=%01' --from k256.pub --module /usr/lib/softhsm/libsofthsm2.so",
		Args:    keyArgument,
		RunE:    func(c *cobra.Command, args []string) error { return a.hsmImport(c.Context(), &f, args[0]) },
	}
	f.moduleFlags.register(c, "module-path of the URI, else the configured one")
	f.registerFinalTry(c)
	f.pin.register(c, "", "the PIN", "pin-source of the URI, else typed")
	c.Flags().StringVar(&f.from, "from", "", "`FILE` with the public key (PEM), or a certificate (PEM or DER)")
	return c
}

func (a *app) hsmImport(ctx context.Context, f *importFlags, text string) error {
	if f.from == "" {
		return usage("--from is missing")
	}
	if err := f.check(); err != nil {
		return err
	}
	uri, err := a.parseURI(text)
	if err != nil {
		return err
	}
	data, err := durable.ReadFile(f.from, wire.MaxFileBytes)
	if err != nil {
		return err
	}
	half, err := hsm.ParsePublicHalf(data)
	if err != nil {
		return inFile(f.from, err)
	}
	admin, closing, err := a.openAsUser(ctx, &f.tokenFlags, &f.pin, uri)
	if err != nil {
		return err
	}
	defer closing()
	object, err := admin.Import(ctx, half)
	if err != nil {
		return err
	}
	if err := toldAnyway(a.tellImported(object), "it was imported"); err != nil {
		return err
	}
	local, err := admin.Local(ctx, half)
	if err == nil && local == hsm.No {
		a.warn("CKA_LOCAL is false: the key was not made on this token, and 'approver hsm check' finds it unfit for an approver")
	}
	return nil
}

func (a *app) tellImported(o hsm.KeyObject) error {
	if a.json {
		return a.printJSON(map[string]any{"imported": newListedObject(o)})
	}
	_, err := fmt.Fprintf(a.stdout, "imported %s\nkid %s\nuri %s\n", o.Class, o.KID(), o.URI)
	return written(err)
}
