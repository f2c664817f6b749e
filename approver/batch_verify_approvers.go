package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
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
machine, or one after a removal, whose highest epoch is --epoch. It says taken, kept or nothing to do, or ends with status 1
and the reason.

The offer is --set-signature: signature files of sign-approvers, all for one set and epoch; or a set file that nobody signed.`,
		Example: `  approver batch verify-approvers --set-signature alice.set-sig.json,bob.set-sig.json --current set.json \
      --trust-domain compute.example.com
  approver batch verify-approvers --set-signature set.json --without-keys --pin "$(approver set digest set.json)"`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.verifyApprovers(&f) },
	}
	s := c.Flags()
	s.StringArrayVar(&f.offer, "set-signature", nil, "`FILES` of the offer, comma-separated")
	s.StringVar(&f.current, "current", "", "`FILE` of the set that the machine holds, or a signature over it")
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
	case f.current == "" && !f.withoutKeys:
		return usage("--current is missing: what the machine holds; for one without approver keys, --without-keys")
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
	if f.current != "" {
		held, err := readSetFile(f.current)
		if err == nil {
			err = held.checkInForce(draft.TrustDomain)
		}
		if err != nil {
			return h, err
		}
		if draft.Set = held.set; f.epoch == 0 {
			draft.Epoch = held.epoch
		}
	}
	return quorum.NewHolder(draft)
}

// An offerReport is what verify-approvers prints: what is held, what is offered, and what becomes of it.
type offerReport struct {
	holder, after quorum.Holder
	offer         quorum.Offer
	paths         []string // of the signatures
	domains       []string // of the files of the signatures
	taken         quorum.Taken
	err           error
}

// read reads the files of an offer, which must be of one set and epoch.
func (j *offerReport) read(given []string) error {
	paths, err := listed("--set-signature", given)
	if err != nil {
		return err
	}
	for i, path := range paths {
		f, err := readSetFile(path)
		if err != nil {
			return err
		}
		switch {
		case i == 0:
			j.offer.Set, j.offer.Epoch = f.set, f.epoch
		case f.epoch == j.offer.Epoch && f.set.Digest() != j.offer.Set.Digest():
			return wire.Errorf(wire.Conflict, "", "%s and %s are two sets for epoch %d: %x and %x", paths[0], path, f.epoch, j.offer.Set.Digest(), f.set.Digest()).
				With("epoch", f.epoch)
		case f.epoch != j.offer.Epoch:
			return wire.Errorf(wire.InvalidInput, "", "%s is for epoch %d, %s for epoch %d; one change is judged at a time", paths[0], j.offer.Epoch, path, f.epoch)
		}
		if f.signature != nil {
			s := f.signature.Signature
			j.offer.Signatures = append(j.offer.Signatures, quorum.UnverifiedSignature{KID: s.KID.String(), Sig: s.Sig[:]})
			j.paths, j.domains = append(j.paths, path), append(j.domains, f.signature.TrustDomain)
		}
	}
	return nil
}

// A judgedSignature is what became of one signature for the machine.
type judgedSignature struct {
	KID     string      `json:"kid"`
	File    review.Text `json:"file"`
	Outcome string      `json:"outcome"`
}

func (j *offerReport) judged() []judgedSignature {
	judged := []judgedSignature{}
	outcomes := j.holder.Tally(j.offer)
	for i, s := range j.offer.Signatures {
		says := "not needed: the machine holds no keys"
		if i < len(outcomes) {
			says = outcomes[i].String()
		}
		if own := j.holder.TrustDomain(); own != "" && j.domains[i] != own {
			says += "; its file is for trust domain " + j.domains[i]
		}
		judged = append(judged, judgedSignature{s.KID, review.Escape(j.paths[i]), says})
	}
	return judged
}

// verdict is the outcome in one word or two.
func (j *offerReport) verdict() string {
	if j.err != nil {
		return "refused"
	}
	return j.taken.String()
}

func (j *offerReport) json() map[string]any {
	shown := map[string]any{
		"outcome": j.verdict(), "held": heldJSON(j.holder), "after": heldJSON(j.after), "signatures": j.judged(), "trustDomain": j.holder.TrustDomain(),
		"offered": map[string]any{"epoch": j.offer.Epoch, "setSha256": fmt.Sprintf("%x", j.offer.Set.Digest())},
	}
	if j.err != nil {
		shown["reason"] = wire.ReasonOf(j.err)
	}
	return shown
}

func heldJSON(h quorum.Holder) map[string]any {
	held := map[string]any{"epoch": h.Epoch(), "setSha256": nil}
	if h.Set() != nil {
		held["setSha256"] = fmt.Sprintf("%x", h.Set().Digest())
	}
	return held
}

func (j *offerReport) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "held          %s\noffered       %s, epoch %d\n", heldText(j.holder), setText(j.offer.Set), j.offer.Epoch)
	if domain := j.holder.TrustDomain(); domain != "" {
		fmt.Fprintf(b, "trust domain  %s, the machine's own\n", domain)
	} else {
		b.WriteString("trust domain  none\n")
	}
	if pin, ok := j.holder.Pin(); ok {
		fmt.Fprintf(b, "pinned to     %x\n", pin)
	}
	for _, s := range j.judged() {
		fmt.Fprintf(b, "signature     by %s (%s): %s\n", review.Escape(s.KID), s.File, review.Escape(s.Outcome))
	}
	switch {
	case j.err != nil:
		fmt.Fprintf(b, "REFUSED: %s\n", wire.ReasonOf(j.err))
	case j.taken == quorum.TookSet:
		fmt.Fprintf(b, "TAKEN: the machine then holds %s\n", heldText(j.after))
	case j.taken == quorum.Kept:
		fmt.Fprintf(b, "KEPT: the machine keeps %s\n", heldText(j.after))
	default:
		b.WriteString("NOTHING TO DO: the machine holds it already\n")
	}
}

func heldText(h quorum.Holder) string {
	switch {
	case h.Set() != nil:
		return fmt.Sprintf("%s, epoch %d", setText(h.Set()), h.Epoch())
	case h.Epoch() > 0:
		return fmt.Sprintf("no keys, epoch %d was the highest it held", h.Epoch())
	}
	return "no keys"
}

// setText names a set in a line.
func setText(s *quorum.Set) string {
	if s.IsRemoval() {
		return "a removal (no keys)"
	}
	return fmt.Sprintf("set %x (%d of %d)", s.Digest(), s.Threshold(), len(s.Keys()))
}
