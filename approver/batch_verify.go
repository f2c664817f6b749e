package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

type verifyFlags struct {
	scope, batch, trustDomain, notAfter, now, tiers string
	approvers                                       []string
	threshold                                       uint32
}

func (a *app) verifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify SIGNATURE... --scope FILE --approvers SET --trust-domain NAME",
		Short: "Verify signatures: who signed, who is missing, whether it holds",
		Long: `verify recomputes the root of a scope and verifies signature files over it for the keys of an approver set. It ends with
status 1 where the approval does not hold.

The set and the trust domain are yours; neither is taken from a file under test. With .pub files instead of a set file,
--threshold (and --tiers) say how many must sign.`,
		Example: "  approver batch verify alice.sig.json bob.sig.json --scope scope.json --approvers set.json --trust-domain compute.example.com",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("no signature file is named")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.verify(&f, args) },
	}
	s := c.Flags()
	s.StringVar(&f.scope, "scope", "", "scope `FILE` that was signed")
	s.StringVar(&f.batch, "batch", "", "batch `ID`, for a bare array of leaves")
	s.StringVar(&f.notAfter, "not-after", "", "`TIME` at which the approval ends, where the scope file does not say")
	s.StringVar(&f.trustDomain, "trust-domain", "", "trust domain of your deployment, `NAME`")
	s.StringArrayVar(&f.approvers, "approvers", nil, "approver set `FILE`, or the .pub files of its keys, comma-separated")
	s.Uint32Var(&f.threshold, "threshold", 0, "approvals that are needed, `K`, with .pub files")
	s.StringVar(&f.tiers, "tiers", "", "fewer for small batches, `SIZE:K,...`, with .pub files")
	registerNow(c, &f.now)
	return c
}

func (a *app) verify(f *verifyFlags, paths []string) error {
	for _, needed := range []struct {
		flag   string
		absent bool
	}{{"--scope", f.scope == ""}, {"--approvers", len(f.approvers) == 0}, {"--trust-domain", f.trustDomain == ""}} {
		if needed.absent {
			return usage(needed.flag + " is missing: it does not come from a file under test")
		}
	}
	judge, err := a.judge(f)
	if err != nil {
		return err
	}
	v, err := readScope(f.scope, f.batch, kinds.Builtin())
	if err != nil {
		return err
	}
	files := make([]*quorum.SignatureFile, len(paths))
	for i, path := range paths {
		data, err := durable.ReadFile(path, wire.MaxFileBytes)
		if err != nil {
			return err
		}
		if files[i], err = quorum.ParseSignatureFile(data); err != nil {
			return wire.Errorf(wire.CodeOf(err), wire.ReasonOf(err), "%s: %s", path, strings.TrimPrefix(err.Error(), string(wire.CodeOf(err))+": "))
		}
	}
	verdict, err := v.Judge(judge, files)
	if err != nil {
		return err
	}
	if err := a.tell(&report{v, judge, verdict, files, paths}); err != nil {
		return err
	}
	return verdict.Failure
}

func (a *app) judge(f *verifyFlags) (j scope.Judge, err error) {
	if j.TrustDomain = f.trustDomain; !wire.IsTrustDomain(f.trustDomain) {
		return j, wire.CheckTrustDomain("--trust-domain", f.trustDomain)
	}
	if j.Time, err = a.clock(f.now); err != nil {
		return j, err
	}
	if j.NotAfter, err = parseNotAfter(f.notAfter); err != nil {
		return j, err
	}
	set, keysAlone, err := readApprovers(f.approvers)
	switch {
	case err != nil:
		return j, err
	case !keysAlone && (f.threshold != 0 || f.tiers != ""):
		return j, usage("the set file has its own threshold and tiers; --threshold and --tiers go with .pub files")
	case keysAlone && f.threshold == 0:
		return j, usage("--threshold is needed with .pub files")
	case !keysAlone:
		j.Set = set
		return j, nil
	}
	tiers, err := parseTiers(f.tiers)
	if err != nil {
		return j, err
	}
	j.Set, err = quorum.NewSet(quorum.SetDraft{Keys: set.Keys(), Threshold: f.threshold, Tiers: tiers})
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
		if !ok || err1 != nil || err2 != nil {
			return nil, usage("--tiers wants SIZE:K,SIZE:K as in 5:1,100:2")
		}
		tiers = append(tiers, quorum.Tier{MaxScopeSize: uint32(n), Threshold: uint32(k)})
	}
	return tiers, nil
}
