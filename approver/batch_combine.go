package main

import (
	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

func (a *app) combineCommand() *cobra.Command {
	var f judgeFlags
	var out string
	c := &cobra.Command{
		Use:   "combine SIGNATURE... --scope FILE --approvers SET --trust-domain NAME --out NAME",
		Short: "Combine signatures into one approval",
		Long: `combine verifies signatures over a scope as verify does, and where the approval holds writes it to NAME.json and
NAME.binpb, the message that machines are sent: the signatures that count, each key once. Where it does not hold
nothing is written.

Combined approvals may stand among the signatures; what is in them joins.`,
		Example: `  approver batch combine alice.sig.json bob.sig.json --scope scope.json --approvers set.json \
    --trust-domain compute.example.com --out approval`,
		Args: someSignature,
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return usage("--out is missing")
			}
			return a.combine(&f, args, out)
		},
	}
	f.register(c)
	c.Flags().StringVar(&out, "out", "", "write the approval to `NAME`.json and NAME.binpb")
	return c
}

func (a *app) combine(f *judgeFlags, paths []string, out string) error {
	if err := probePair(out); err != nil {
		return err
	}
	r, err := a.judgeFiles(f, paths)
	if err != nil {
		return err
	}
	if len(r.declined) > 0 { // whoever combines shall know of it
		return wire.Errorf(wire.InvalidInput, "", "%s is a decline, not an approval", r.declined[0]).With("file", r.declined[0])
	}
	approval, err := r.verdict.Combined()
	if err != nil {
		if tellErr := a.tell(r); tellErr != nil {
			return tellErr
		}
		return err
	}
	files, err := beginPair(out, approval.Encode(), approval.Approval.Encode(), r.holdsAgain)
	if err != nil {
		return err
	}
	if err := a.tell(r); err != nil {
		files.undo()
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	a.tellWritten(pairNames(out)...)
	return nil
}

// holdsAgain judges an approval that was read back as if somebody else had handed it over.
func (r *report) holdsAgain(back []byte) error {
	s, err := quorum.ParseSubmission(back)
	if err != nil {
		return err
	}
	verdict, err := r.verified.Judge(r.judge, []*quorum.Submission{s})
	switch {
	case err != nil:
		return err
	case verdict.Failure != nil:
		return verdict.Failure
	case len(verdict.Approved) != len(r.verdict.Approved) || len(verdict.Ignored()) > 0:
		return wire.Errorf(wire.IOError, "", "of the approval that was read back %d signatures count; %d were combined", len(verdict.Approved), len(r.verdict.Approved))
	}
	return nil
}
