package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// holderFlags say what a machine holds.
type holderFlags struct {
	current, trustDomain, pin string
	withoutKeys               bool
	epoch                     uint64
	offer                     []string
}

func (a *app) verifyApproversCommand() *cobra.Command {
	var f holderFlags
	c := &cobra.Command{
		Use:   "verify-approvers --set-signature FILES --current FILE --trust-domain NAME",
		Short: "Verify a change of the approver set: would a machine take it",
		Long: `verify-approvers judges a change of the approver set as a machine does that holds --current, or, --without-keys, none: a new
machine, or one after a removal, whose highest epoch is --epoch. Without either it is the configured set. It says taken, kept
or nothing to do, or ends with status 1 and the reason.

A machine that missed a change takes the changes in order, one offer each. Its pin, --pin, is looked at only while it holds no
keys.

The offer is --set-signature: signature files of sign-approvers, all for one set and epoch; or a set file that nobody signed.`,
		Example: `  approver batch verify-approvers --set-signature alice.set-sig.json,bob.set-sig.json --current set.json \
      --trust-domain compute.example.com
  approver batch verify-approvers --set-signature set.json --without-keys --pin "$(approver set digest set.json)"`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.verifyApprovers(&f) },
	}
	s := c.Flags()
	s.StringArrayVar(&f.offer, "set-signature", nil, "`FILES` of the offer, comma-separated")
	s.StringVar(&f.current, "current", "", "`FILE` of the set that the machine holds, or a signature over it (default: the configured set)")
	s.BoolVar(&f.withoutKeys, "without-keys", false, "the machine holds no approver keys")
	s.Uint64Var(&f.epoch, "epoch", 0, "epoch the machine is at, `N` (default: the one of --current)")
	s.StringVar(&f.pin, "pin", "", "digest of the set that the machine is pinned to, 64 `HEX` digits")
	s.StringVar(&f.trustDomain, "trust-domain", "", "trust domain of the machine, `NAME` (default: the configured one)")
	return c
}

func (a *app) verifyApprovers(f *holderFlags) error {
	switch {
	case len(f.offer) == 0:
		return usage("--set-signature is missing: the change to judge")
	case f.current != "" && f.withoutKeys:
		return usage("--current and --without-keys are one or the other")
	}
	holder, err := a.holder(f)
	if err != nil {
		return err
	}
	j := &offerReport{holder: holder}
	if err := j.read(f.offer); err != nil {
		return err
	}
	j.after, j.taken, j.err = holder.Take(j.offer)
	j.explain()
	if j.err != nil && wire.CodeOf(j.err) != wire.AccessDenied {
		return j.err
	}
	if a.json {
		err = a.printJSON(j.json())
	} else {
		var b bytes.Buffer
		j.text(&b)
		err = a.print(b.Bytes())
	}
	if err != nil {
		return err
	}
	return j.err
}

func (a *app) holder(f *holderFlags) (h quorum.Holder, err error) {
	draft := quorum.HolderDraft{Epoch: f.epoch}
	if draft.TrustDomain, err = a.trustDomain(f.trustDomain); err != nil {
		return h, err
	}
	if f.pin != "" {
		pin, err := wire.ParseHex("--pin", f.pin, 32)
		if err != nil {
			return h, err
		}
		draft.Pin = (*[32]byte)(pin)
	}
	if !f.withoutKeys {
		var epoch uint64
		if draft.Set, epoch, err = a.held(f.current, draft.TrustDomain); err != nil {
			return h, err
		}
		if f.epoch == 0 {
			draft.Epoch = epoch
		}
	}
	return quorum.NewHolder(draft)
}

// held gives the set that is said to be held: of a file, else the configured one.
func (a *app) held(path, domain string) (*quorum.Set, uint64, error) {
	if path == "" {
		s, err := a.settings()
		if err != nil {
			return nil, 0, err
		}
		if own := s.ApproverSet(); own.IsSet() {
			return own.Value.Set, own.Value.Epoch, nil
		}
		return nil, 0, usage("--current is missing, and no set is configured: what the machine holds; for one without approver keys, --without-keys")
	}
	f, err := readSetFile(path)
	if err != nil {
		return nil, 0, err
	}
	return f.set, f.epoch, f.checkInForce(domain)
}
