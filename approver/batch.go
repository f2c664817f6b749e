package main

import "github.com/spf13/cobra"

func (a *app) batchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "batch",
		Short: "Review, sign and verify batches",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.keygenCommand(), a.showCommand(), a.signCommand(), a.verifyCommand())
	return c
}
