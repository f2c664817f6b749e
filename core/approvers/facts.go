package approvers

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

func fact(key, name, note string, lines ...string) review.Fact {
	f := review.Fact{Key: key, Name: name, Note: note}
	if len(lines) > 0 {
		f.Value = texts(lines)
	}
	return f
}

func texts(list []string) []review.Text {
	t := make([]review.Text, len(list))
	for i, s := range list {
		t[i] = review.Escape(s)
	}
	return t
}

// facts give the new set in full, and what is known beside it.
func (h *held) facts() []review.Fact {
	facts := append([]review.Fact{h.epochFact(), h.trustDomainFact()}, h.currentFacts()...)
	facts = append(facts, h.quorumFacts()...)
	if h.Next.IsRemoval() {
		facts = append(facts, h.handsOverFact())
	}
	facts = append(facts, h.keyFact(), h.signatureFact())
	if len(h.Configuration) > 0 {
		facts = append(facts, fact("configuration", "configuration", "yours", h.Configuration...))
	}
	return facts
}

func (h *held) epochFact() review.Fact {
	var notes []string
	if h.Current != nil {
		notes = append(notes, fmt.Sprintf("the current set has epoch %d", h.CurrentEpoch))
	}
	return fact("epoch", "epoch", strings.Join(append(notes, h.frozen()...), "; "), strconv.FormatUint(h.Epoch, 10))
}

// frozen tells what an epoch shuts out for good.
func (h *held) frozen() (says []string) {
	if h.Epoch > quorum.MaxFirstEpoch && !h.Next.IsRemoval() { // after a removal it is the whole matter
		says = append(says, "over 2^32: NO MACHINE WITHOUT A SET TAKES IT, so new ones and reimaged ones stay without")
	}
	if h.Epoch == wire.MaxInteger {
		says = append(says, "NOTHING CAN EVER FOLLOW IT: no epoch is higher")
	}
	return says
}

// handsOverFact says what a removal leaves behind. A first set has an epoch above every one that was held and of at most
// 2^32, so after a removal at 2^32 or more there is none.
func (h *held) handsOverFact() review.Fact {
	if h.Epoch >= quorum.MaxFirstEpoch {
		return fact("handsOver", "what it hands over",
			"its epoch is 2^32 or more, so a machine that takes the removal can TAKE NO SET EVER AGAIN: without a pin it runs destructive "+
				"commands unapproved, with a pin it refuses them, until it is provisioned anew",
			"the quorum, for good")
	}
	return fact("handsOver", "what it hands over",
		"a machine without a pin then takes ANY FIRST SET, UNSIGNED, and until it has one runs destructive commands unapproved; "+
			"a machine with a pin refuses them and takes only the set it is pinned to",
		"the quorum, to whoever has the JoinService key")
}

func (h *held) trustDomainFact() review.Fact {
	source := "the file's own word"
	switch {
	case h.Configured:
		source = "from your configuration"
	case h.pinned:
		source = "given by you"
	}
	return fact("trustDomain", "trust domain", source, h.trustDomain)
}

func (h *held) currentFacts() []review.Fact {
	switch {
	case h.Current == nil:
		return []review.Fact{fact("current", "current set",
			"this is a first set as far as is known here; if machines hold a set, what changes CANNOT BE SHOWN: give it with --current")}
	case h.same:
		return []review.Fact{fact("current", "current set", "this very set at this epoch: nothing changes for who holds it; "+h.known(),
			cmp.Or(h.CurrentFrom, "given"))}
	}
	digest := hexDigest(h.Current)
	return []review.Fact{
		fact("current", "current set", "epoch "+strconv.FormatUint(h.CurrentEpoch, 10)+", "+quorumOf(h.Current)+"; "+h.known(), cmp.Or(h.CurrentFrom, "given")),
		fact("currentSha256", "its SHA-256", "", digest[:32], digest[32:]),
	}
}

// known says what the current set is held against.
func (h *held) known() string { return cmp.Or(h.CurrentKnown, "given by you, HELD AGAINST NOTHING") }

// quorumFacts say what the new set is: its keys, the threshold, what a batch needs by its size, and what runs outside one.
func (h *held) quorumFacts() []review.Fact {
	if h.Next.IsRemoval() {
		return append(h.keysBefore(), fact("threshold", "threshold", h.was(quorumOf), "no approvers: the quorum is REMOVED"))
	}
	var keys []string
	for _, k := range h.Next.Keys() {
		keys = append(keys, h.named(k.KID()))
	}
	var required []string
	for _, b := range bands(h.before, h.Next) {
		line := b.String() + ": " + counted(int(b.after), "approval")
		if h.before != nil && b.before != b.after {
			line += fmt.Sprintf(", before %d", b.before)
		}
		required = append(required, line)
	}
	note := counted(len(keys), "key")
	if len(h.Labels) > 0 {
		note += "; the names are those of the files they came in"
	}
	return append(h.keysBefore(),
		fact("keys", "keys", note, keys...),
		fact("threshold", "threshold", h.was(quorumOf), quorumOf(h.Next)),
		fact("required", "required", "", required...),
		fact("unbatchedPerHour", "unbatched cap", h.was(anHour), anHour(h.Next)),
	)
}

// keysBefore gives the keys that are in force now, where they are to be held against the new ones.
func (h *held) keysBefore() []review.Fact {
	if h.before == nil || h.before.IsRemoval() {
		return nil
	}
	var keys []string
	for _, k := range h.before.Keys() {
		keys = append(keys, h.named(k.KID()))
	}
	return []review.Fact{fact("keysBefore", "keys before", counted(len(keys), "key"), keys...)}
}

func anHour(s *quorum.Set) string { return fmt.Sprintf("%d an hour", s.UnbatchedPerHour()) }

// was says what was before, where it is known and differs.
func (h *held) was(is func(*quorum.Set) string) string {
	if h.before == nil || is(h.before) == is(h.Next) {
		return ""
	}
	return "before: " + is(h.before)
}

// named gives a kid and, after it, the file it came in.
func (h *held) named(kid quorum.KID) string {
	if label := h.Labels[kid]; label != "" {
		return kid.String() + " " + label
	}
	return kid.String()
}

func (h *held) keyFact() review.Fact {
	if h.Key.IsZero() {
		return fact("key", "your key", "not known before it is opened: whether its signature counts CANNOT BE SHOWN; name it with --pub")
	}
	return fact("key", "your key", h.ownKey(), h.named(h.Key))
}

// ownKey says what a signature by the approver's own key is worth.
func (h *held) ownKey() string {
	const moves = "it moves machines that hold the new set already"
	switch now, next := has(h.Current, h.Key), has(h.Next, h.Key); {
	case h.Current == nil && next:
		return "in the new set; whether it is in the current one is not known"
	case h.Current == nil:
		return "NOT IN THE NEW SET: its signature counts only if it is in the current one, which is not known"
	case h.Current.IsRemoval() && next:
		return "in the new set; after a removal no signature counts for the change, but " + moves
	case now && next:
		return "in the current set and the new one: its signature counts"
	case now:
		return "NOT IN THE NEW SET: it counts only as a current approver"
	case next:
		return "only in the new set: its signature does not count for the change; " + moves
	}
	return "IN NEITHER SET: a signature by it is USELESS"
}

// signatureFact says who signed already, and how many more the current set wants.
func (h *held) signatureFact() review.Fact {
	var handed []quorum.UnverifiedSignature
	for _, s := range h.Signatures {
		handed = append(handed, quorum.UnverifiedSignature{KID: s.Signature.KID.String(), Sig: s.Signature.Sig[:]})
	}
	var current []quorum.Outcome
	if h.Current != nil {
		current = h.Current.Tally(h.statement, handed)
	}
	next := h.Next.Tally(h.statement, handed)
	lines, counting := make([]string, len(handed)), 0
	for i, s := range h.Signatures {
		says := "of no key that is known here"
		switch {
		case current != nil && current[i] == quorum.Counted:
			counting++
			says = "verified, counts"
		case current != nil && current[i] != quorum.NotInSet:
			says = current[i].String()
		case next[i].Verified():
			says = "verified, a key of the new set"
		case next[i] == quorum.NotValid:
			says = next[i].String()
		}
		lines[i] = s.Signature.KID.String() + " " + says
	}
	f := fact("signatures", "signatures so far", "", lines...)
	switch {
	case h.before == nil:
	case h.before.IsRemoval():
		f.Note = "none is needed: after a removal a machine takes any first set, or only the one it is pinned to"
	default:
		f.Note = fmt.Sprintf("%d of the %d that the current set needs", counting, h.before.Threshold())
	}
	return f
}
