package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

func (a *app) setBuildCommand() *cobra.Command {
	var f setFlags
	var out string
	c := &cobra.Command{
		Use:   "build --approvers FILES --threshold K",
		Short: "Make an approver set file of public keys",
		Long: `build writes the file of an approver set: which keys, how many must sign, how many for small batches. It is not signed; who
hands it over tells its digest another way, and approvers compare it.

A proof that lies beside its public key (alice.pub and alice.proof) is verified; keys without one are named.`,
		Example: `  approver set build --approvers alice.pub,bob.pub,carol.pub --threshold 2 --tiers 5:1 --out set.json
  approver set build --approvers alice.pub,dave.pub --threshold 2 --epoch 2 --proof dave.proof --out next.json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.buildSet(&f, out) },
	}
	f.register(c)
	c.Flags().StringVar(&out, "out", "", "write the set to `FILE` (default: standard output); nothing is overwritten")
	return c
}

func (a *app) buildSet(f *setFlags, out string) error {
	if err := probe(out); err != nil {
		return err
	}
	g, err := f.read()
	if err != nil {
		return err
	}
	unproven, err := g.unproven()
	if err != nil {
		return err
	}
	epoch := max(1, g.epoch)
	data := quorum.EncodeSetFile(g.set, epoch)
	if out == "" {
		err = a.print(data)
	} else {
		err = durable.WriteFile(out, data, 0o644)
	}
	if err != nil {
		return err
	}
	return a.tellBuiltSet(g.set, epoch, unproven, out)
}

// tellBuiltSet says on standard error what was built: what people compare, and which keys nobody proved.
func (a *app) tellBuiltSet(set *quorum.Set, epoch uint64, unproven []quorum.KID, out string) error {
	digest := set.Digest()
	if a.json {
		line, err := json.Marshal(map[string]any{"built": map[string]any{
			"setSha256": fmt.Sprintf("%x", digest), "epoch": epoch, "unproven": list(unproven), "out": review.Escape(out)}})
		if err == nil {
			fmt.Fprintln(a.stderr, ascii(string(line)))
		}
		return err
	}
	fmt.Fprintf(a.stderr, "set     %x\n", digest)
	writeNamedWords(a.stderr, "words   ", review.Words(digest[:]))
	fmt.Fprintf(a.stderr, "epoch   %d\n", epoch)
	for _, kid := range unproven {
		fmt.Fprintf(a.stderr, "note    key %s has no proof:\n        nothing shows that its holder has it\n", kid)
	}
	if set.IsRemoval() {
		fmt.Fprintln(a.stderr, "note    this is the removal of the quorum: it has no keys")
	}
	return nil
}
