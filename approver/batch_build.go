package main

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

type buildFlags struct {
	batch, reason, trustDomain, notAfter, kinds, out, now string
	hours                                                 int
	hoursGiven                                            bool
}

func (a *app) buildCommand() *cobra.Command {
	var f buildFlags
	c := &cobra.Command{
		Use:   "build FILE --batch ID --reason TEXT --trust-domain NAME",
		Short: "Make a scope of leaves, without a server",
		Long: `build makes the scope of a batch from a file of its leaves, a JSON array of { subject, kind, payload }. A payload is given
as { "json": ... }, which is encoded as the kind's own message, or as { "typeUrl", "value" }. The leaves are checked as
those of any scope are, and what is written is read back. A leaf without a payload is warned about: it admits any.`,
		Example: `  approver batch build leaves.json --batch batch_01k9qf3x8e --reason 'Repairs at fra1' \
    --trust-domain compute.example.com --hours 12 --out scope.json`,
		Args: oneFileOfLeaves,
		RunE: func(c *cobra.Command, args []string) error {
			if f.notAfter != "" && c.Flags().Changed("hours") {
				return usage("--hours and --not-after both say when the window ends; give one of them")
			}
			f.hoursGiven = c.Flags().Changed("hours")
			return a.build(&f, args[0])
		},
	}
	s := c.Flags()
	s.StringVar(&f.batch, "batch", "", "`ID` of the batch")
	s.StringVar(&f.reason, "reason", "", "why, for the approvers: `TEXT` of 1 to 500 UTF-16 units")
	s.StringVar(&f.trustDomain, "trust-domain", "", "trust domain of the deployment, `NAME`")
	s.IntVar(&f.hours, "hours", scope.BuildHours, "how long the window stays open, in hours (1 to "+strconv.Itoa(scope.MaxBuildHours)+")")
	s.StringVar(&f.notAfter, "not-after", "", "`TIME` at which the window ends, RFC 3339 or Unix milliseconds, instead of --hours")
	registerKinds(c, &f.kinds)
	s.StringVar(&f.out, "out", "", "write the scope to `FILE` (default: standard output); nothing is overwritten")
	registerNow(c, &f.now)
	return c
}

func oneFileOfLeaves(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usage("no file of leaves is named")
	case 1:
		return nil
	}
	return usage("one file of leaves makes one batch")
}

func (a *app) build(f *buildFlags, leaves string) error {
	proposal, err := a.proposal(f)
	if err != nil {
		return err
	}
	if f.out == "" && a.stdoutClosed {
		return wire.Errorf(wire.IOError, "", "standard output is closed, and --out is not given: the scope would be lost")
	}
	if err := probe(f.out); err != nil {
		return err
	}
	kinds, err := a.kindTable(f.kinds)
	if err != nil {
		return err
	}
	decoded, err := buildScope(leaves, proposal, kinds.table)
	if err != nil {
		return err
	}
	told, err := reportBuilt(decoded, proposal, f)
	if err != nil {
		return err
	}
	if err := a.writeBuilt(f.out, decoded, kinds.table); err != nil {
		return err
	}
	return a.tellBuilt(told, f)
}

// proposal turns the flags into what the scope says beside its leaves.
func (a *app) proposal(f *buildFlags) (p scope.Proposal, err error) {
	if p.TrustDomain, err = a.trustDomain(f.trustDomain); err != nil {
		return p, err
	}
	for _, needed := range []struct{ flag, value string }{{"--batch", f.batch}, {"--reason", f.reason}, {"--trust-domain", p.TrustDomain}} {
		if needed.value == "" {
			return p, usage(needed.flag + " is missing")
		}
	}
	if f.hours < 1 || f.hours > scope.MaxBuildHours {
		return p, usage("--hours is 1 to " + strconv.Itoa(scope.MaxBuildHours))
	}
	p.BatchID, p.Reason = f.batch, f.reason
	if p.Time, err = a.clock(f.now); err != nil {
		return p, err
	}
	if f.notAfter != "" {
		if p.NotAfter, err = parseNotAfter(f.notAfter); err != nil {
			return p, err
		}
		return p, a.checkWindow(p.NotAfter, p.Time.Now)
	}
	hours, err := a.hoursFor(f.hours, scope.BuildHours, f.hoursGiven)
	if err != nil {
		return p, err
	}
	p.NotAfter = uint64(max(0, p.Time.Now.Add(time.Duration(hours)*time.Hour).UnixMilli()))
	return p, nil
}

// buildScope takes a file of leaves down the road.
func buildScope(leaves string, p scope.Proposal, table *kinds.Table) (*scope.Decoded, error) {
	file, err := durable.Open(leaves)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	draft, err := scope.ParseLeaves(file, table, workers())
	if err != nil {
		return nil, err
	}
	return draft.Build(p)
}

// writeBuilt writes the scope to its file, or to standard output once it was read back from memory.
func (a *app) writeBuilt(out string, d *scope.Decoded, table *kinds.Table) error {
	if out != "" {
		file, err := beginScope(out, d, scope.Policy{}, table)
		if err != nil {
			return err
		}
		return file.commit()
	}
	var b bytes.Buffer
	if err := d.Encode(&b, scope.Policy{}); err != nil {
		return err
	}
	if err := readsBack(bytes.NewReader(b.Bytes()), d, table, "the scope"); err != nil {
		return err
	}
	if _, err := io.Copy(a.stdout, &b); err != nil {
		return wire.Errorf(wire.IOError, "", "writing the scope: %w", err)
	}
	return nil
}
