package main

import (
	"bytes"
	"crypto/sha256"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

type proveFlags struct {
	scope, batch, subject, kind, digest, kinds, out string
	unbound                                         bool
}

func (a *app) proveCommand() *cobra.Command {
	var f proveFlags
	c := &cobra.Command{
		Use:   "prove --scope FILE --subject SUBJECT --kind KIND",
		Short: "Prove that a leaf is in a scope",
		Long: `prove recomputes the root of a scope and gives the inclusion proof of one of its leaves: what a machine is sent beside
the approval, to see that its own command was approved. It goes to standard output as JSON, or with --out to NAME.json
and, as the message that machines are sent, NAME.binpb.

A subject may have several leaves of one kind; --payload-sha256 or --unbound then says which.`,
		Example: "  approver batch prove --scope scope.json --subject gpu-0417 --kind node.reboot --out gpu-0417.proof",
		Args:    noArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return a.prove(&f) },
	}
	s := c.Flags()
	s.StringVar(&f.scope, "scope", "", "scope `FILE`: an exported scope, or a JSON array of leaves")
	s.StringVar(&f.batch, "batch", "", "batch `ID`, for a bare array of leaves")
	s.StringVar(&f.subject, "subject", "", "`SUBJECT` of the leaf")
	s.StringVar(&f.kind, "kind", "", "`KIND` of the leaf")
	s.StringVar(&f.digest, "payload-sha256", "", "SHA-256 of the payload of the leaf, 64 `HEX` digits")
	s.BoolVar(&f.unbound, "unbound", false, "the leaf that admits any payload")
	registerKinds(c, &f.kinds)
	s.StringVar(&f.out, "out", "", "write the proof to `NAME`.json and NAME.binpb")
	return c
}

func (a *app) prove(f *proveFlags) error {
	wanted, err := f.wanted()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := probePair(f.out); err != nil {
			return err
		}
	}
	kinds, err := a.kindTable(f.kinds)
	if err != nil {
		return err
	}
	v, err := readScope(f.scope, f.batch, kinds.table, nil)
	if err != nil {
		return err
	}
	proof, err := v.Prove(wanted)
	if err != nil {
		return err
	}
	if f.out == "" {
		return a.print(proof.Encode())
	}
	files, err := beginPair(f.out, proof.Encode(), quorum.EncodeProof(proof.Proof), func(back []byte) error {
		return provesAgain(back, *proof)
	})
	if err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	a.tellWritten(pairNames(f.out)...)
	return nil
}

// provesAgain verifies a proof that was read back, in either form.
func provesAgain(back []byte, written quorum.ProofFile) (err error) {
	if bytes.HasPrefix(back, []byte("{")) {
		_, err = quorum.ParseProofFile(back)
		return err
	}
	if written.Proof, err = quorum.ParseProof(back); err != nil {
		return err
	}
	return written.VerifyIn(written.ScopeRoot, written.ScopeSize)
}

// wanted gives the leaf that the flags name.
func (f *proveFlags) wanted() (w scope.WantedLeaf, err error) {
	for _, needed := range []struct{ flag, value string }{{"--scope", f.scope}, {"--subject", f.subject}, {"--kind", f.kind}} {
		if needed.value == "" {
			return w, usage(needed.flag + " is missing")
		}
	}
	if f.unbound && f.digest != "" {
		return w, usage("--payload-sha256 and --unbound exclude each other: a leaf binds one payload, or any")
	}
	w = scope.WantedLeaf{Subject: f.subject, Kind: f.kind, Unbound: f.unbound}
	switch _, ok := wire.ParseSubject([]byte(f.subject)); {
	case !ok:
		return w, wire.Errorf(wire.InvalidInput, "", "--subject %q has the form of no subject; wanted: %s, %s or %s", f.subject,
			wire.SubjectNode, wire.SubjectBMC, wire.SubjectTarget)
	case !wire.IsKind(f.kind):
		return w, wire.Errorf(wire.InvalidInput, "", "--kind %q has not the form of a kind, as in node.reboot", f.kind)
	}
	if f.digest != "" {
		w.PayloadSHA256, err = wire.ParseHex("--payload-sha256", f.digest, sha256.Size)
	}
	return w, err
}
