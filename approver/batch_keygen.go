package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

func (a *app) keygenCommand() *cobra.Command {
	var path string
	var plaintext bool
	c := &cobra.Command{
		Use:   "keygen --out PATH",
		Short: "Make an approver key in a file",
		Long: `keygen makes a P-256 approver key: the private key at PATH (PKCS#8 PEM, mode 0600), its public key at PATH.pub, and the
proof that its holder has it at PATH.proof. Nothing is overwritten. It prints the kid.

The private key is encrypted under ` + passphraseVariable + `, or under a passphrase that is typed twice.
A key on a token is safer; a key file is for rehearsals and for places without one.`,
		Example: "  approver batch keygen --out alice.pem",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if path == "" {
				return usage("--out is missing")
			}
			return a.keygen(c.Context(), path, plaintext)
		},
	}
	c.Flags().StringVar(&path, "out", "", "`PATH` of the private key")
	c.Flags().BoolVar(&plaintext, "plaintext", false, "do not encrypt the private key")
	return c
}

func (a *app) keygen(ctx context.Context, path string, plaintext bool) error {
	if a.stdoutClosed {
		return wire.Errorf(wire.IOError, "", "standard output is closed: nobody would see the kid of the new key; none was made")
	}
	// All three files have their place before anything is made.
	outs := make([]*durable.Pending, 0, 3)
	for _, file := range []struct {
		path string
		mode fs.FileMode
	}{{path, 0o600}, {path + ".pub", 0o644}, {path + ".proof", 0o644}} {
		out, err := durable.Create(file.path, file.mode)
		if err != nil {
			return err
		}
		defer out.Abandon()
		outs = append(outs, out)
	}
	key, err := hsm.GenerateFileKey()
	if err != nil {
		return err
	}
	private, err := a.encodeKey(ctx, key, plaintext)
	if err != nil {
		return err
	}
	defer clear(private)
	proof, err := ceremony.ProveKey(ctx, key)
	if err != nil {
		return err
	}
	if err := commitAll(outs, private, key.Public().PEM(), proof); err != nil {
		return err
	}
	if err := a.tellKey(key.Public().KID().String(), path); err != nil {
		for _, out := range outs {
			out.Remove()
		}
		return err
	}
	return nil
}

// commitAll writes the public files first, so that what a failure leaves behind holds no secret, and removes what it wrote.
func commitAll(outs []*durable.Pending, contents ...[]byte) error {
	for i := len(outs) - 1; i >= 0; i-- {
		_, err := outs[i].Write(contents[i])
		if err == nil {
			err = outs[i].Commit(durable.Same(contents[i]))
		}
		if err != nil {
			for _, written := range outs[i+1:] {
				written.Remove()
			}
			return err
		}
	}
	return nil
}

func (a *app) encodeKey(ctx context.Context, key *hsm.FileKey, plaintext bool) ([]byte, error) {
	if plaintext {
		return key.EncodePlaintext()
	}
	t := a.terminal()
	defer t.close()
	passphrase, err := a.passphrase(t, "Passphrase for the new key: ")(ctx)
	if err != nil {
		if wire.CodeOf(err) == wire.MissingEnv {
			return nil, wire.Errorf(wire.MissingEnv, "", "%s is not set, and there is no terminal to ask on; --plaintext writes the key unencrypted", passphraseVariable)
		}
		return nil, err
	}
	defer clear(passphrase)
	if a.getenv(passphraseVariable) == "" {
		again, err := t.askSecret(ctx, "The same once more: ")
		if err != nil {
			return nil, err
		}
		defer clear(again)
		if !bytes.Equal(passphrase, again) {
			return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "the two passphrases differ; no key was made")
		}
	}
	return key.Encode(passphrase)
}

func (a *app) tellKey(kid, path string) error {
	if a.json {
		return a.printJSON(map[string]string{"kid": kid, "key": path, "pub": path + ".pub", "proof": path + ".proof"})
	}
	if err := a.print([]byte("kid " + kid + "\n")); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "written %s, with .pub and .proof beside it\n", review.Escape(path))
	return nil
}

func trimLine(s string) string { return strings.TrimRight(s, "\r\n") }
