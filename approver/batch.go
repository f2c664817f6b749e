package main

import "github.com/spf13/cobra"

func (a *app) batchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "batch",
		Short: "Review, sign and verify batches",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{a.keygenCommand(), a.buildCommand(), a.showCommand(), a.signCommand(), a.verifyCommand(), a.qrCommand(), a.combineCommand(), a.proveCommand(),
		a.declineCommand(), a.signApproversCommand(), a.verifyApproversCommand()} {
		strictFlags(sub)
		c.AddCommand(sub)
	}
	return c
}
