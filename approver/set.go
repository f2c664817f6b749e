package main

import "github.com/spf13/cobra"

func (a *app) setCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "set",
		Short: "Build approver sets, and look at them",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{a.setBuildCommand(), a.setShowCommand(), a.setDigestCommand()} {
		strictFlags(sub)
		c.AddCommand(sub)
	}
	return c
}
