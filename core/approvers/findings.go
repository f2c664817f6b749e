package approvers

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

// findings judges the change in the order of WIRE.md §10; what stops stands first.
func (h *held) findings() []review.Finding {
	found := review.ClockFindings(h.Time, time.Time{})
	if !h.pinned {
		found = append(found, review.NewFinding(review.TrustDomainUnpinned,
			review.Escape("the trust domain "+h.trustDomain+" is the file's word; none was given or configured")))
	}
	found = append(found, h.currentFindings()...)
	if without := h.unproven(); len(without) > 0 {
		says := "1 new key without proof that its holder has it"
		if n := len(without); n > 1 {
			says = fmt.Sprintf("%d new keys without proof that their holders have them", n)
		}
		found = append(found, review.NewFinding(review.NoKeyProof, review.Escape(says), texts(without)...))
	}
	if h.Next.IsRemoval() {
		says := "the change removes the quorum: the JoinService key may then set any other, unsigned"
		if h.Epoch >= quorum.MaxFirstEpoch {
			says = "the change removes the quorum for good: after an epoch of 2^32 or more no machine takes a set again"
		}
		found = append(found, review.NewFinding(review.SetRemoval, review.Escape(says)))
	}
	if says, places := h.weaker(); len(places) > 0 {
		found = append(found, review.NewFinding(review.SetWeaker, review.Escape(strings.Join(says, "; ")), texts(places)...))
	}
	return append(found, h.Other...)
}

// currentFindings judge how the set stands to the one that it replaces. Whoever brings both can make any change look small, so
// a set in force that nothing of the approver's own confirms is a finding.
func (h *held) currentFindings() (found []review.Finding) {
	add := func(rule review.Rule, says string, places ...string) {
		found = append(found, review.NewFinding(rule, review.Escape(says), texts(places)...))
	}
	switch {
	case h.Current == nil && (h.Epoch > 1 || h.Next.IsRemoval()):
		add(review.NoCurrent, fmt.Sprintf("epoch %d follows another set, which is not given: what changes CANNOT BE SHOWN", h.Epoch))
	case h.Current != nil && h.CurrentKnown == "":
		add(review.CurrentUnpinned, "the set in force is given by you and held against nothing: what changes is only as true as that file",
			cmp.Or(h.CurrentFrom, "given"))
	}
	switch {
	case h.same:
		add(review.NoChange, "the set in force is given as this very set at this epoch: nothing is shown to change")
	case h.Current != nil && h.Current.Equal(h.Next):
		add(review.NoChange, "the same set at a higher epoch: no key, threshold or tier is shown to change")
	}
	var says []string
	if h.Current != nil && h.Epoch > h.CurrentEpoch+1 {
		says = append(says, fmt.Sprintf("it goes from %d to %d, not to %d", h.CurrentEpoch, h.Epoch, h.CurrentEpoch+1))
	}
	if says = append(says, h.frozen()...); len(says) > 0 {
		add(review.EpochJump, "the epoch: "+strings.Join(says, "; "))
	}
	return found
}

// unproven gives the new keys that came without a proof.
func (h *held) unproven() (keys []string) {
	for _, k := range h.Next.Keys() {
		if h.isNew(k.KID()) && h.proven[k.KID()] == "" {
			keys = append(keys, h.named(k.KID()))
		}
	}
	return keys
}

// weaker tells at which sizes a batch needs fewer approvals than now, and whether more may run outside one. A removal has a
// finding of its own, and after one there is nothing that could become weaker.
func (h *held) weaker() (says, places []string) {
	if h.before == nil || h.before.IsRemoval() || h.Next.IsRemoval() {
		return nil, nil
	}
	for _, b := range bands(h.before, h.Next) {
		if b.after < b.before {
			places = append(places, fmt.Sprintf("%s: %s instead of %d", b, counted(int(b.after), "approval"), b.before))
		}
	}
	if len(places) > 0 {
		says = append(says, "fewer approvals are needed than now")
	}
	if was, is := h.before.UnbatchedPerHour(), h.Next.UnbatchedPerHour(); is > was {
		says = append(says, "more runs without approval than now")
		places = append(places, fmt.Sprintf("%s: %d an hour instead of %d", outsideBatches, is, was))
	}
	return says, places
}
