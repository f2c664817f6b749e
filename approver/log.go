package main

import (
	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ledger"
)

func (a *app) logCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "log",
		Short: "Look at the ledger of what was signed, declined and refused here",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{a.logShowCommand(), a.logVerifyCommand(), a.logExportCommand(), a.logSignatureCommand()} {
		strictFlags(sub)
		c.AddCommand(sub)
	}
	return c
}

// readLedger opens the ledger to read it. Close what it gives.
func (a *app) readLedger(state string) (*ledger.Ledger, error) {
	folder, _, err := a.stateFolder(state)
	if err != nil {
		return nil, err
	}
	return ledger.OpenReadOnly(folder)
}
