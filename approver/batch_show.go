package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/scope"
)

func (a *app) showCommand() *cobra.Command {
	var f reviewFlags
	var scopeOut, state string
	c := &cobra.Command{
		Use:   "show --scope FILE",
		Short: "Review a scope without a key",
		Long: `show reads a scope, recomputes its root, decodes every operation and prints the review. It ends with status 1 where
the review holds a STOP: what sign would refuse, show refuses after showing it.

The ledger is only looked into, where there is one: what you signed or declined before is a finding here as there.

Long lists of subjects and long strings are shortened; --operations-out writes everything.`,
		Example: "  approver batch show --scope scope.json --trust-domain compute.example.com --expect machines.txt",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := probe(scopeOut); err != nil {
				return err
			}
			m, err := a.recall(state)
			if err != nil {
				return err
			}
			defer m.forget()
			f.memory = m
			decoded, policy, err := a.reviewScope(&f)
			if err != nil {
				return err
			}
			policy.Other = append(f.media(), m.found...)
			r, err := decoded.Review(policy)
			if err != nil {
				return err
			}
			contradicted := m.check(quorum.KID{})
			m.forget()
			if err := a.draw(r.Document(), review.Brief, true); err != nil {
				return err
			}
			if stop := r.Stop(); stop != nil {
				return stop
			}
			if contradicted != nil {
				return contradicted
			}
			return a.writeShown(&f, scopeOut, r, decoded, policy)
		},
	}
	f.register(c)
	registerState(c, &state)
	c.Flags().StringVar(&scopeOut, "scope-out", "", "write the verified scope in our own form to `FILE`")
	return c
}

// writeShown writes both files or none: each has its place before either gets its name.
func (a *app) writeShown(f *reviewFlags, scopeOut string, r *review.Review, d *scope.Decoded, p scope.Policy) error {
	operations, err := beginOperations(f.operationsOut, r.Document())
	if err != nil {
		return err
	}
	verified, err := beginScope(scopeOut, d, p, f.kindsRead.table)
	if err == nil {
		err = operations.commit()
	}
	if err == nil {
		err = verified.commit()
	}
	if err != nil {
		operations.undo()
		verified.undo()
		return err
	}
	for _, path := range []string{f.operationsOut, scopeOut} {
		if path != "" && !a.json {
			fmt.Fprintln(a.stderr, "written", review.Escape(path))
		}
	}
	return nil
}
