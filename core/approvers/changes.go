package approvers

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

// changes gives every difference between the current set and the new one, and none that is not there.
func (h *held) changes() (list []review.Operation) {
	if h.before == nil {
		return nil
	}
	if h.Next.IsRemoval() && !h.before.IsRemoval() {
		list = append(list, operation("THE QUORUM IS REMOVED", "the whole set", said("before", quorumOf(h.before)), said("after", "no approvers")))
	}
	list = append(list, h.keyChanges()...)
	list = append(list, h.thresholdChanges()...)
	if h.Epoch != h.CurrentEpoch {
		list = append(list, operation("the epoch rises", "of the set", number("before", h.CurrentEpoch, ""), number("after", h.Epoch, "")))
	}
	return list
}

// keyChanges gives the keys that replace others, join and leave.
func (h *held) keyChanges() (list []review.Operation) {
	joining, leaving := absent(h.Next, h.before), absent(h.before, h.Next)
	for _, k := range joining {
		old, ok := h.replaced(k, joining, leaving)
		if !ok {
			continue
		}
		list = append(list, operation("a key replaces another", k.String(), append([]review.Field{
			said("before", old.String()), said("after", k.String())}, h.aboutKey(k, true)...)...))
		joining = slices.DeleteFunc(slices.Clone(joining), func(j quorum.KID) bool { return j == k })
		leaving = slices.DeleteFunc(slices.Clone(leaving), func(l quorum.KID) bool { return l == old })
	}
	for _, k := range joining {
		list = append(list, operation("a key joins", k.String(), h.aboutKey(k, true)...))
	}
	for _, k := range leaving {
		list = append(list, operation("a key leaves", k.String(), h.aboutKey(k, false)...))
	}
	return list
}

// replaced gives the one leaving key that has the label of a joining key, where no other key that joins or leaves has it.
func (h *held) replaced(k quorum.KID, joining, leaving []quorum.KID) (old quorum.KID, ok bool) {
	label := h.Labels[k]
	alike := func(kids []quorum.KID) (found []quorum.KID) {
		for _, kid := range kids {
			if h.Labels[kid] == label {
				found = append(found, kid)
			}
		}
		return found
	}
	if was := alike(leaving); label != "" && len(was) == 1 && len(alike(joining)) == 1 {
		return was[0], true
	}
	return old, false
}

// absent gives the keys of one set that another does not have.
func absent(of, from *quorum.Set) (kids []quorum.KID) {
	for _, k := range of.Keys() {
		if !has(from, k.KID()) {
			kids = append(kids, k.KID())
		}
	}
	return kids
}

// thresholdChanges gives the threshold, each tier by its size, and the unbatched cap, where they differ.
func (h *held) thresholdChanges() (list []review.Operation) {
	was, is := h.before, h.Next
	if was.Threshold() != is.Threshold() {
		list = append(list, operation("the threshold "+threshold(was.Threshold(), is.Threshold()), aboveTiers,
			ofKeys("before", was.Threshold(), was), ofKeys("after", is.Threshold(), is)))
	}
	before, after := tiersBySize(was), tiersBySize(is)
	for _, size := range sizes(was, is) {
		a, had := before[size]
		b, has := after[size]
		title := "a tier's threshold " + threshold(a, b)
		switch {
		case had && has && a == b:
			continue
		case !had:
			title = "a tier is added"
		case !has:
			title = "a tier is removed"
		}
		list = append(list, operation(title, upTo(size), h.tier("before", was, size), h.tier("after", is, size)))
	}
	if was.UnbatchedPerHour() != is.UnbatchedPerHour() {
		list = append(list, operation("the unbatched cap "+limit(was.UnbatchedPerHour(), is.UnbatchedPerHour()), outsideBatches,
			number("before", uint64(was.UnbatchedPerHour()), "an hour"), number("after", uint64(is.UnbatchedPerHour()), "an hour")))
	}
	return list
}

// parts gives what the new set consists of.
func (h *held) parts() (list []review.Operation) {
	if h.Next.IsRemoval() {
		return []review.Operation{operation("THE QUORUM IS REMOVED", "the whole set", said("after", "no approvers"))}
	}
	for _, k := range h.Next.Keys() {
		list = append(list, operation("a key", k.KID().String(), h.aboutKey(k.KID(), h.isNew(k.KID()))...))
	}
	list = append(list, operation("the threshold", aboveTiers, ofKeys("approvals", h.Next.Threshold(), h.Next)))
	for _, t := range h.Next.Tiers() {
		list = append(list, operation("a tier", upTo(t.MaxScopeSize), ofKeys("approvals", t.Threshold, h.Next)))
	}
	return append(list, operation("the unbatched cap", outsideBatches, number("commands", uint64(h.Next.UnbatchedPerHour()), "an hour")))
}

// What changes and parts are about.
const (
	aboveTiers     = "batches above every tier"
	outsideBatches = "destructive commands outside a batch, on each machine"
)

func upTo(size uint32) string { return "batches of up to " + counted(int(size), "operation") }

// threshold says where a threshold goes, loudly where that is down.
func threshold(before, after uint32) string {
	if after < before {
		return "FALLS"
	}
	return "rises"
}

// limit says where a cap goes, loudly where that is up.
func limit(before, after uint32) string {
	if after > before {
		return "RISES"
	}
	return "falls"
}

func operation(title, about string, fields ...review.Field) review.Operation {
	o := review.Operation{Title: review.Escape(title), Subjects: []review.Text{review.Escape(about)}}
	o.SetFields(func() []review.Field { return append([]review.Field{}, fields...) })
	return o
}

// said is a field in the program's own words.
func said(name, value string) review.Field {
	return review.Field{Name: review.Escape(name), Type: "words", Value: []review.Text{review.Escape(value)}}
}

func number(name string, n uint64, of string) review.Field {
	return review.Field{Name: review.Escape(name), Type: "number", Value: []review.Text{review.Escape(strconv.FormatUint(n, 10))}, Note: of}
}

func ofKeys(name string, n uint32, s *quorum.Set) review.Field {
	return number(name, uint64(n), "of "+counted(len(s.Keys()), "key"))
}

// tier is what a set says of batches up to a size: its own tier, or that it has none and what is needed all the same.
func (h *held) tier(name string, s *quorum.Set, size uint32) review.Field {
	if n, ok := tiersBySize(s)[size]; ok {
		return ofKeys(name, n, s)
	}
	return review.Field{Name: review.Escape(name), Type: "number",
		Note: "no tier of this size; a batch of it needs " + counted(int(s.RequiredApprovals(uint64(size))), "approval")}
}

// aboutKey gives the file that a key came in, and for a new one whether its holder has shown to have it.
func (h *held) aboutKey(kid quorum.KID, proof bool) (fields []review.Field) {
	if label := h.Labels[kid]; label != "" {
		fields = append(fields, review.Field{Name: review.Escape("file"), Type: "string", Value: []review.Text{review.Escape(label)}})
	}
	switch {
	case !proof:
	case h.proven[kid] != "":
		fields = append(fields, said("proof", h.proven[kid]))
	default:
		fields = append(fields, said("proof", "NONE: nobody has shown to have the private key"))
	}
	if kid == h.Key {
		fields = append(fields, said("holder", "YOU: it is the key that would sign"))
	}
	return fields
}

func quorumOf(s *quorum.Set) string {
	if s.IsRemoval() {
		return "no approvers"
	}
	return fmt.Sprintf("%d of %d", s.Threshold(), len(s.Keys()))
}
