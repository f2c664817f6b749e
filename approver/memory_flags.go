package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ledger"
)

// memoryFlags say where the ledger is.
type memoryFlags struct {
	state, receipt string
	noLedger       bool
}

func (f *memoryFlags) register(c *cobra.Command) {
	registerState(c, &f.state)
	c.Flags().BoolVar(&f.noLedger, "no-ledger", false, "record nothing, and look nothing up, which is a finding")
	c.Flags().StringVar(&f.receipt, "receipt", "", "write the record of the signature and the head after it to `FILE`; nothing is overwritten")
}

func registerState(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "state", "", "`DIR` of the ledger (default: the configured one, else approver where XDG_STATE_HOME says)")
}

func (f *memoryFlags) check() error {
	switch {
	case f.noLedger && f.state != "":
		return usage("--no-ledger and --state are one or the other")
	case f.noLedger && f.receipt != "":
		return usage("--receipt is of the ledger; it does not go with --no-ledger")
	}
	return nil
}

// stateFolder gives the folder of the ledger. elsewhere is the one that the flag passes over: the configured one, or without
// one a ledger at the usual place.
func (a *app) stateFolder(flag string) (folder, elsewhere string, err error) {
	s, err := a.settings()
	if err != nil {
		return "", "", err
	}
	folder, elsewhere = s.StateFolder(flag)
	usual := a.usualState()
	switch {
	case folder == "" && usual == "":
		return "", "", usage("there is no place for the ledger, neither XDG_STATE_HOME nor HOME: give --state DIR")
	case folder == "":
		return usual, "", nil
	case !s.State.IsSet() && usual != "" && ledger.IsElsewhere(folder, usual):
		elsewhere = usual
	}
	return folder, elsewhere, nil
}

// usualState gives where the ledger is when nothing says otherwise, "" where there is no such place.
func (a *app) usualState() string {
	if base := a.getenv("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "approver")
	}
	if home := a.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "approver")
	}
	return ""
}
