package approvers

import (
	"fmt"
	"strings"
	"time"

	"github.com/better-compute/approver/core/review"
)

// findings judges the change in the order of WIRE.md §10; what stops stands first.
func (h *held) findings() []review.Finding {
	found := review.ClockFindings(h.Time, time.Time{})
	if !h.pinned {
		found = append(found, review.NewFinding(review.TrustDomainUnpinned,
			review.Escape("the trust domain "+h.trustDomain+" is the file's word; none was given or configured")))
	}
	if without := h.unproven(); len(without) > 0 {
		says := "1 new key without proof that its holder has it"
		if n := len(without); n > 1 {
			says = fmt.Sprintf("%d new keys without proof that their holders have them", n)
		}
		found = append(found, review.NewFinding(review.NoKeyProof, review.Escape(says), texts(without)...))
	}
	if h.Next.IsRemoval() {
		found = append(found, review.NewFinding(review.SetRemoval,
			review.Escape("the change removes the quorum: the JoinService key may then set any other, unsigned")))
	}
	if says, places := h.weaker(); len(places) > 0 {
		found = append(found, review.NewFinding(review.SetWeaker, review.Escape(strings.Join(says, "; ")), texts(places)...))
	}
	return append(found, h.Other...)
}

// unproven gives the new keys that came without a proof.
func (h *held) unproven() (keys []string) {
	for _, k := range h.Next.Keys() {
		if h.isNew(k.KID()) && !h.proven[k.KID()] {
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
