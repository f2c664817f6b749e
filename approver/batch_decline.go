package main

import (
	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

func (a *app) declineCommand() *cobra.Command {
	var f decision
	c := &cobra.Command{
		Use:   "decline --scope FILE --key KEY --reason TEXT",
		Short: "Review a scope and sign that it is declined",
		Long: `decline shows the same review as sign, and signs that the holder of the key says no to the batch, and why. On the terminal
it asks for the word DECLINE and two words of the root. What is expired, unbound, opaque or not what was expected can be
declined; what does not give its root cannot.

A decline is no approval of anything, and stops nothing by itself: it is a signed and recorded answer. 'batch verify' shows it.`,
		Example: `  approver batch decline --scope scope.json --key alice.pem --trust-domain compute.example.com \
      --reason 'gpu-b08-n16 is to get an image that was not tested' --out decline.json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.reason == "" {
				return usage("--reason is missing")
			}
			if err := f.signatureFlags.check(a, f.operationsOut); err != nil {
				return err
			}
			if err := wire.CheckReason(f.reason); err != nil {
				return err
			}
			return a.decide(c.Context(), &f)
		},
	}
	f.command, f.outcome = "batch decline", ledger.Declined
	f.reviewFlags.register(c)
	f.signatureFlags.register(c)
	c.Flags().StringVar(&f.reason, "reason", "", "why, in your own words, `TEXT` of 1 to 500 characters; it is signed")
	return c
}
