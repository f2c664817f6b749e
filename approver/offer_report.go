package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

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
	fmt.Fprintf(b, "held          %s\noffered       %s\n", heldText(j.holder), setText(j.offer.Set, j.offer.Epoch))
	if domain := j.holder.TrustDomain(); domain != "" {
		fmt.Fprintf(b, "trust domain  %s, the machine's own\n", domain)
	} else {
		b.WriteString("trust domain  none\n")
	}
	if pin, ok := j.holder.Pin(); ok {
		fmt.Fprintf(b, "pinned to     %x\n", pin)
		if j.holder.Set() != nil {
			b.WriteString("              (not looked at: the machine holds keys)\n")
		}
	}
	for _, s := range j.judged() {
		fmt.Fprintf(b, "signature     by %s\n              %s:\n              %s\n", review.Escape(s.KID), s.File, strings.ReplaceAll(review.Escape(s.Outcome).String(), "; ", ";\n              "))
	}
	switch {
	case j.err != nil:
		fmt.Fprintf(b, "REFUSED: %s\n", wire.ReasonOf(j.err))
		if j.twoSets() {
			fmt.Fprintf(b, "TWO SETS FOR EPOCH %d: the one that is offered, and the one that is held\n", j.offer.Epoch)
		}
	case j.taken == quorum.TookSet:
		fmt.Fprintf(b, "TAKEN: the machine then holds\n              %s\n", heldText(j.after))
	case j.taken == quorum.Kept && j.after.Set() == nil:
		fmt.Fprintf(b, "NOT TAKEN: a removal gives a machine without keys nothing\n              it has %s\n", heldText(j.after))
	case j.taken == quorum.Kept:
		fmt.Fprintf(b, "KEPT: the machine keeps\n              %s\n", heldText(j.after))
	default:
		b.WriteString("NOTHING TO DO: the machine holds it already\n")
	}
}

// twoSets tells whether another set is offered for the very epoch of the one that is held.
func (j *offerReport) twoSets() bool {
	held := j.holder.Set()
	return held != nil && j.offer.Epoch == j.holder.Epoch() && !held.Equal(j.offer.Set)
}

// explain adds to a refusal what the files say of why: that they are for another trust domain than the machine's, or that one
// epoch has two sets.
func (j *offerReport) explain() {
	e, ok := errors.AsType[*wire.Error](j.err)
	if !ok {
		return
	}
	if j.twoSets() {
		e.With("twoSets", true)
	}
	var others []string
	for _, domain := range j.domains {
		if domain != j.holder.TrustDomain() && !slices.Contains(others, domain) {
			others = append(others, domain)
		}
	}
	if len(others) > 0 {
		e.With("fileTrustDomains", strings.Join(others, ", "))
	}
}

// heldText names what a machine holds, on the lines after the first in their column.
func heldText(h quorum.Holder) string {
	switch {
	case h.Set() != nil:
		return setText(h.Set(), h.Epoch())
	case h.Epoch() > 0:
		return fmt.Sprintf("no keys, epoch %d was the highest it held", h.Epoch())
	}
	return "no keys"
}

// setText names a set: its digest has a line of its own.
func setText(s *quorum.Set, epoch uint64) string {
	if s.IsRemoval() {
		return fmt.Sprintf("a removal (no keys), epoch %d", epoch)
	}
	return fmt.Sprintf("%d of %d, epoch %d, set\n              %x", s.Threshold(), len(s.Keys()), epoch, s.Digest())
}
