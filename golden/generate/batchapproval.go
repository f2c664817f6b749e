package main

import "slices"

type signatureEntry struct {
	KID string `json:"kid"`
	Sig string `json:"sig"` // base64url, of any length
}

type approval struct {
	BatchID    string           `json:"batchId"`
	ScopeRoot  string           `json:"scopeRoot"` // hex, of any length
	ScopeSize  uint64           `json:"scopeSize"`
	NotAfter   uint64           `json:"notAfter"`
	Signatures []signatureEntry `json:"signatures"`
}

type approvalVector struct {
	Name        string   `json:"name"`
	Set         string   `json:"set"` // the name of the set
	TrustDomain string   `json:"trustDomain"`
	Now         uint64   `json:"now"`
	Approval    approval `json:"approval"`
	Want        string   `json:"want"`
	Reason      string   `json:"reason,omitempty"`
	Required    int      `json:"required,omitempty"`
	Approvers   []string `json:"approvers"` // the kids that count, in the order of their first valid signatures
}

type requiredVector struct {
	Set      string `json:"set"`
	Size     int    `json:"size"`
	Required int    `json:"required"`
}

type namedSet struct {
	Name string `json:"name"`
	File string `json:"file"` // an approver set file
	setDraft
}

var approvalSets = []namedSet{
	{Name: "2 of 3", setDraft: twoOfThree},
	{Name: "3 of 4, three tiers", setDraft: set(3, []tier{{5, 1}, {100, 2}, {1000, 2}}, alice, bob, carol, dave)},
	{Name: "1 of 1", setDraft: set(1, nil, alice)},
	{Name: "64 of 64", setDraft: set(64, nil, manyKeys(64)...)},
}

func (s setDraft) required(size int) int {
	for _, t := range s.tiers {
		if t.MaxScopeSize >= size {
			return t.Threshold
		}
	}
	return s.threshold
}

// batchApprovals is approvals that hold or do not (WIRE.md §3), and the approvals a size requires.
func batchApprovals() any {
	sets := slices.Clone(approvalSets)
	var required []requiredVector
	for i, s := range sets {
		sets[i].File = s.file()
		for _, size := range []int{1, 5, 6, 100, 101, 1000, 1001, 50_000} {
			required = append(required, requiredVector{s.Name, size, s.required(size)})
		}
	}
	l := &approvalList{}
	l.counting()
	l.binding()
	l.form()
	return struct {
		Sets     []namedSet       `json:"sets"`
		Required []requiredVector `json:"required"`
		Vectors  []approvalVector `json:"vectors"`
	}{sets, required, l.vectors}
}

type approvalList struct{ vectors []approvalVector }

// An attempt is an approval as a vector wants it: what was signed, and by default what is shown.
type attempt struct {
	set   namedSet
	size  int
	input []byte
	shown approval
	now   uint64
}

func try(set, size int) attempt {
	root := sum([]byte("approved root"))
	return attempt{approvalSets[set], size, approvalInput("batch_a1", root, size, notAfter, domain),
		approval{"batch_a1", hexOf(root), uint64(size), notAfter, []signatureEntry{}}, now}
}

func entryOf(kid string, sig []byte) signatureEntry { return signatureEntry{kid, b64url(sig)} }

// by gives the signatures of keys over what was signed.
func (a attempt) by(keys ...key) (s []signatureEntry) {
	for _, k := range keys {
		s = append(s, entryOf(k.kid(), k.sign(a.input)))
	}
	return s
}

func (l *approvalList) add(name string, a attempt, signatures []signatureEntry, reason string, approvers ...key) {
	a.shown.Signatures = append([]signatureEntry{}, signatures...)
	v := approvalVector{name, a.set.Name, domain, a.now, a.shown, "ok", reason, a.set.required(a.size), []string{}}
	if reason != "" {
		v.Want = "refused"
	}
	for _, k := range approvers {
		v.Approvers = append(v.Approvers, k.kid())
	}
	l.vectors = append(l.vectors, v)
}

const few = "too-few-approvals"

func (l *approvalList) counting() {
	a, tiered := try(0, 6), try(1, 100)
	l.add("two of three", a, a.by(alice, bob), "", alice, bob)
	l.add("the other two, in another order", a, a.by(carol, alice), "", carol, alice)
	l.add("three of three", a, a.by(alice, bob, carol), "", alice, bob, carol)
	l.add("one of three", a, a.by(alice), few, alice)
	l.add("none", a, nil, few)
	small := try(0, 5)
	l.add("one suffices in the tier", small, small.by(bob), "", bob)
	l.add("two suffice in the second tier", tiered, tiered.by(dave, bob), "", dave, bob)
	third := try(1, 1001)
	l.add("two do not suffice over the last tier", third, third.by(dave, bob), few, dave, bob)
	all := try(3, 50_000)
	l.add("64 of 64", all, all.by(manyKeys(64)...), "", manyKeys(64)...)
	l.add("63 of 64", all, all.by(manyKeys(63)...), few, manyKeys(63)...)
	l.add("one signature twice", a, a.by(alice, alice), few, alice)
	l.add("one signature and its other half", a, []signatureEntry{entryOf(alice.kid(), alice.sign(a.input)),
		entryOf(alice.kid(), otherHalf(alice.sign(a.input)))}, few, alice)
	l.add("two signatures of one key", a, []signatureEntry{entryOf(alice.kid(), alice.sign(a.input)),
		entryOf(alice.kid(), alice.signWithNonce(a.input, "another"))}, few, alice)
	l.add("the other half of s", a, append(a.by(alice), entryOf(bob.kid(), otherHalf(bob.sign(a.input)))), "", alice, bob)
	l.add("two keys share one r", a, []signatureEntry{entryOf(alice.kid(), alice.signWithNonce(a.input, "shared")),
		entryOf(bob.kid(), bob.signWithNonce(a.input, "shared"))}, few, alice)
	l.add("two keys share one r, a third has its own", a, []signatureEntry{entryOf(alice.kid(), alice.signWithNonce(a.input, "shared")),
		entryOf(bob.kid(), bob.signWithNonce(a.input, "shared")), a.by(carol)[0]}, "", alice, carol)
	l.add("a key of nobody", a, a.by(alice, erin), few, alice)
	l.add("a key of nobody does not spoil the others", a, a.by(erin, alice, bob), "", alice, bob)
	l.add("a bad signature, then a good one of the same key", a, append([]signatureEntry{entryOf(alice.kid(), bob.sign(a.input))}, a.by(alice, bob)...), "", alice, bob)
	l.add("a signature under another key's kid", a, append(a.by(alice), entryOf(bob.kid(), alice.sign(a.input))), few, alice)
	l.add("a kid with stray bits", a, append(a.by(alice), signatureEntry{stray(bob.kid()), b64url(bob.sign(a.input))}), few, alice)
	l.add("an empty kid", a, append(a.by(alice), signatureEntry{"", b64url(bob.sign(a.input))}), few, alice)
	l.add("63 bytes", a, append(a.by(alice), entryOf(bob.kid(), bob.sign(a.input)[:63])), few, alice)
	l.add("65 bytes", a, append(a.by(alice), entryOf(bob.kid(), append(bob.sign(a.input), 0))), few, alice)
	l.add("all zero", a, append(a.by(alice), entryOf(bob.kid(), make([]byte, 64))), few, alice)
	l.add("r the group order", a, append(a.by(alice), entryOf(bob.kid(), append(order.Bytes(), bob.sign(a.input)[32:]...))), few, alice)
}

// binding is two good signatures over something else than what is shown.
func (l *approvalList) binding() {
	root := sum([]byte("approved root"))
	for name, input := range named[[]byte](
		"for another batch", approvalInput("batch_a2", root, 6, notAfter, domain),
		"for another root", approvalInput("batch_a1", sum([]byte("another")), 6, notAfter, domain),
		"for another size", approvalInput("batch_a1", root, 5, notAfter, domain),
		"for another end", approvalInput("batch_a1", root, 6, notAfter+1, domain),
		"for another trust domain", approvalInput("batch_a1", root, 6, notAfter, "staging.example.com"),
		"for a decline", signingInput("batch-decline", []byte("batch_a1"), root, u64(6), u64(notAfter), []byte(domain)),
		"with the size in 32 bits", signingInput("batch-approval", []byte("batch_a1"), root, u32(6), u64(notAfter), []byte(domain)),
		"with the root in hex", signingInput("batch-approval", []byte("batch_a1"), []byte(hexOf(root)), u64(6), u64(notAfter), []byte(domain)),
		"without the trust domain", signingInput("batch-approval", []byte("batch_a1"), root, u64(6), u64(notAfter)),
	) {
		a := try(0, 6)
		a.input = input
		l.add("signed "+name, a, a.by(alice, bob), few)
	}
}

func (l *approvalList) form() {
	const malformed = "malformed-approval"
	late := try(0, 6)
	late.now = notAfter
	l.add("at the last millisecond", late, late.by(alice, bob), "", alice, bob)
	late.now = notAfter + 1
	l.add("a millisecond later", late, late.by(alice, bob), "expired")
	root := sum([]byte("approved root"))
	reshaped := func(name string, shownRoot []byte, size int) {
		a := try(0, 6)
		a.size = size
		a.input = approvalInput("batch_a1", shownRoot, size, notAfter, domain)
		a.shown.ScopeRoot, a.shown.ScopeSize = hexOf(shownRoot), uint64(size)
		l.add(name, a, a.by(alice, bob), malformed)
	}
	reshaped("a root of 31 bytes", root[:31], 6)
	reshaped("a root of 33 bytes", append(slices.Clone(root), 0), 6)
	reshaped("no root", nil, 6)
	reshaped("size 0", root, 0)
	reshaped("size 50,001", root, 50_001)
	a := try(0, 6)
	l.add("65 signatures", a, slices.Repeat(a.by(alice), 65), malformed)
	l.add("64 signatures, the last one good", a, append(append(a.by(alice), slices.Repeat([]signatureEntry{entryOf(bob.kid(), make([]byte, 64))}, 62)...), a.by(bob)...), "", alice, bob)
}
