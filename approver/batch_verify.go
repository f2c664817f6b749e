package main

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// judgeFlags are what verify and combine judge signatures by.
type judgeFlags struct {
	scope, batch, trustDomain, notAfter, now, tiers, kinds string
	approvers                                              []string
	threshold                                              uint32
}

func (f *judgeFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.scope, "scope", "", "scope `FILE` that was signed")
	s.StringVar(&f.batch, "batch", "", "batch `ID`, for a bare array of leaves")
	s.StringVar(&f.notAfter, "not-after", "", "`TIME` at which the approval ends, where the scope file does not say")
	s.StringVar(&f.trustDomain, "trust-domain", "", "trust domain of your deployment, `NAME`")
	s.StringArrayVar(&f.approvers, "approvers", nil, "approver set `FILE`, or the .pub files of its keys, comma-separated")
	s.Uint32Var(&f.threshold, "threshold", 0, "approvals that are needed, `K`, with .pub files")
	s.StringVar(&f.tiers, "tiers", "", "fewer for small batches, `SIZE:K,...`, with .pub files")
	registerKinds(c, &f.kinds)
	registerNow(c, &f.now)
}

func (a *app) verifyCommand() *cobra.Command {
	var f judgeFlags
	c := &cobra.Command{
		Use:   "verify SIGNATURE... --scope FILE --approvers SET --trust-domain NAME",
		Short: "Verify signatures: who signed, who is missing, whether it holds",
		Long: `verify recomputes the root of a scope and verifies signatures over it for the keys of an approver set: signature files,
and combined approvals as combine writes them, .json or .binpb. It ends with status 1 where the approval does not hold.
Declines among them are shown, and count neither for it nor against it.

The set and the trust domain are yours, given or configured; neither is taken from a file under test. With .pub files
instead of a set file, --threshold (and --tiers) say how many must sign.`,
		Example: "  approver batch verify alice.sig.json bob.sig.json --scope scope.json --approvers set.json --trust-domain compute.example.com",
		Args:    someSignature,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := a.judgeFiles(&f, args)
			if err != nil {
				return err
			}
			if err := a.tell(r); err != nil {
				return err
			}
			return r.verdict.Failure
		},
	}
	f.register(c)
	return c
}

func someSignature(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("no signature file is named")
	}
	return nil
}

// judgeFiles reads a scope and what was handed over for it, and judges that by the verifier's own terms.
func (a *app) judgeFiles(f *judgeFlags, paths []string) (*report, error) {
	if f.scope == "" {
		return nil, usage("--scope is missing")
	}
	r := new(report)
	var err error
	if r.judge, err = a.judge(f); err != nil {
		return nil, err
	}
	kinds, err := a.kindTable(f.kinds)
	if err != nil {
		return nil, err
	}
	if r.verified, err = readScope(f.scope, f.batch, kinds.table, nil); err != nil {
		return nil, err
	}
	if err = r.read(paths); err != nil {
		return nil, err
	}
	if r.verdict, err = r.verified.Judge(r.judge, r.submissions); err != nil {
		return nil, r.namingFile(err)
	}
	return r, nil
}

// read reads signature files, combined approvals and declines, which their content tells apart.
func (r *report) read(paths []string) error {
	for _, path := range paths {
		data, err := durable.ReadFile(path, wire.MaxFileBytes)
		if err != nil {
			return err
		}
		if quorum.IsDeclineFile(data) {
			d, err := quorum.ParseDeclineFile(data)
			if err != nil {
				return inFile(path, err)
			}
			r.judge.Declines, r.declined = append(r.judge.Declines, d), append(r.declined, path)
			continue
		}
		s, err := quorum.ParseSubmission(data)
		if err != nil {
			return inFile(path, err)
		}
		r.submissions, r.paths = append(r.submissions, s), append(r.paths, path)
	}
	return nil
}

// inFile puts the name of a file before what is wrong with it.
func inFile(path string, err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return err
	}
	named := *e
	named.Message, named.Details = path+": "+e.Message, maps.Clone(e.Details)
	return (&named).With("file", path)
}

// judge gives the verifier's own terms, by flags and configuration.
func (a *app) judge(f *judgeFlags) (j scope.Judge, err error) {
	if j.TrustDomain, err = a.trustDomain(f.trustDomain); err != nil {
		return j, err
	}
	if j.TrustDomain == "" {
		return j, usage("--trust-domain is missing: it does not come from a file under test")
	}
	if j.Time, err = a.clock(f.now); err != nil {
		return j, err
	}
	if j.NotAfter, err = parseNotAfter(f.notAfter); err != nil {
		return j, err
	}
	j.Set, err = a.verifierSet(f.approvers, f.threshold, f.tiers)
	return j, err
}

// parseTiers reads SIZE:K,SIZE:K.
func parseTiers(s string) (tiers []quorum.Tier, err error) {
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		size, threshold, ok := strings.Cut(part, ":")
		n, err1 := strconv.ParseUint(size, 10, 32)
		k, err2 := strconv.ParseUint(threshold, 10, 32)
		if !ok || err1 != nil || err2 != nil || !isDecimal(size) || !isDecimal(threshold) {
			return nil, usage("--tiers wants SIZE:K,SIZE:K as in 5:1,100:2")
		}
		tiers = append(tiers, quorum.Tier{MaxScopeSize: uint32(n), Threshold: uint32(k)})
	}
	return tiers, nil
}
