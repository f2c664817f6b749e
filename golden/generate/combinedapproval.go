package main

import (
	"slices"
	"strconv"
	"strings"
)

// A combinedVector is a combined approval in one of its forms: JSON as content, or protobuf.
type combinedVector struct {
	Name  string  `json:"name"`
	Binpb *string `json:"binpb,omitempty"` // base64: the protobuf form
	content
	outcome
	Canonical   bool      `json:"canonical,omitempty"` // the JSON is laid out as it is written
	TrustDomain string    `json:"trustDomain,omitempty"`
	Approval    *approval `json:"approval,omitempty"` // what a good one says
}

// combinedApprovals is combined approvals in protobuf and JSON that read well, whether they hold or not, and such that do
// not read (WIRE.md §5, §7).
func combinedApprovals() any {
	l := &combinedList{}
	l.messages()
	l.messageForms()
	l.files()
	l.fileForms()
	return struct {
		Messages []combinedVector `json:"messages"`
		Files    []combinedVector `json:"files"`
	}{l.binary, l.text}
}

type combinedList struct{ binary, text []combinedVector }

// combinedBy is an approval of batch_a1 by keys, in the order given.
func combinedBy(keys ...key) approval {
	a := try(0, 6)
	a.shown.Signatures = append([]signatureEntry{}, a.by(keys...)...)
	return a.shown
}

// inKIDOrder sorts keys as a combined approval lists them.
func inKIDOrder(keys ...key) []key {
	return slices.SortedFunc(slices.Values(keys), func(a, b key) int { return strings.Compare(a.kid(), b.kid()) })
}

func signatureMessage(kid string, sig []byte) []byte {
	var m []byte
	if kid != "" {
		m = append(m, str(1, kid)...)
	}
	if len(sig) > 0 {
		m = append(m, sub(2, sig)...)
	}
	return m
}

// fields is an approval field by field: batch id, root, size, end, and each signature.
func (a approval) fields() [][]byte {
	f := [][]byte{str(1, a.BatchID), sub(2, unhex(a.ScopeRoot)), vint(3, int64(a.ScopeSize)), vint(4, int64(a.NotAfter))}
	for _, s := range a.Signatures {
		f = append(f, sub(5, signatureMessage(s.KID, fromURL(s.Sig))))
	}
	return f
}

func (a approval) message() []byte { return msg(a.fields()...) }

// object is the approval as it stands in a JSON file.
func (a approval) object() object {
	var entries []string
	for _, s := range a.Signatures {
		entries = append(entries, `{"kid":"`+s.KID+`","sig":"`+s.Sig+`"}`)
	}
	return object{{"format", `"better-compute-batch-approval"`}, {"version", "1"}, {"batchId", `"` + a.BatchID + `"`},
		{"scopeRoot", `"` + a.ScopeRoot + `"`}, {"scopeSize", strconv.FormatUint(a.ScopeSize, 10)}, {"notAfter", strconv.FormatUint(a.NotAfter, 10)},
		{"trustDomain", `"` + domain + `"`}, {"signatures", lines(entries)}}
}

func (l *combinedList) okMessage(name string, a approval) {
	binpb := b64(a.message())
	l.binary = append(l.binary, combinedVector{Name: name, Binpb: &binpb, outcome: ok, Approval: &a})
}

func (l *combinedList) badMessage(name string, want outcome, message []byte) {
	binpb := b64(message)
	l.binary = append(l.binary, combinedVector{Name: name, Binpb: &binpb, outcome: want})
}

var malformedApproval = refused("INVALID_INPUT malformed-approval")

func (l *combinedList) messages() {
	two := combinedBy(inKIDOrder(alice, bob)...)
	l.okMessage("two signatures", two)
	l.okMessage("three signatures, in another order than by kid", combinedBy(inKIDOrder(alice, bob, carol)[2], inKIDOrder(alice, bob, carol)[0], inKIDOrder(alice, bob, carol)[1]))
	l.okMessage("no signatures", combinedBy())
	l.okMessage("one signature twice", combinedBy(alice, alice))
	l.okMessage("64 signatures", combinedBy(manyKeys(64)...))
	shown := func(name string, change func(a *approval)) approval {
		a := two
		a.Signatures = slices.Clone(two.Signatures)
		change(&a)
		l.okMessage(name, a)
		return a
	}
	shown("a batch id of 123 bytes, whose length is a brace", func(a *approval) { a.BatchID = rep("b", 123) })
	shown("a batch id of 128 bytes", func(a *approval) { a.BatchID = rep("b", 128) })
	shown("the largest end", func(a *approval) { a.NotAfter = 1<<53 - 1 })
	shown("the largest size", func(a *approval) { a.ScopeSize = 50_000 })
	shown("a kid of another form", func(a *approval) { a.Signatures[0].KID = "alice" })
	shown("a signature of 63 bytes", func(a *approval) { a.Signatures[0].Sig = b64url(fromURL(a.Signatures[0].Sig)[:63]) })
	shown("a signature without kid and bytes", func(a *approval) { a.Signatures[0] = signatureEntry{} })
	for name, change := range named[func(*approval)](
		"a root of 31 bytes", func(a *approval) { a.ScopeRoot = a.ScopeRoot[2:] },
		"a root of 33 bytes", func(a *approval) { a.ScopeRoot += "00" },
		"size 50,001", func(a *approval) { a.ScopeSize = 50_001 },
		"a size that is 6 in 32 bits", func(a *approval) { a.ScopeSize = 1<<32 + 6 },
		"65 signatures", func(a *approval) { a.Signatures = slices.Repeat(a.Signatures[:1], 65) },
	) {
		a := two
		change(&a)
		l.badMessage(name, malformedApproval, a.message())
	}
	for name, change := range named[func(*approval)](
		"an end over 2^53-1", func(a *approval) { a.NotAfter = 1 << 53 },
		"a batch id of 129 bytes", func(a *approval) { a.BatchID = rep("b", 129) },
		"a batch id that is a path", func(a *approval) { a.BatchID = ".." },
		"a batch id with a line feed", func(a *approval) { a.BatchID = "batch\na1" },
	) {
		a := two
		change(&a)
		l.badMessage(name, invalid, a.message())
	}
}

// messageForms is messages that are not in the one encoding of WIRE.md §7.
func (l *combinedList) messageForms() {
	good := combinedBy(inKIDOrder(alice, bob)...)
	f := good.fields()
	whole := good.message()
	sig := signatureMessage(alice.kid(), fromURL(good.Signatures[0].Sig))
	bad := func(name string, parts ...[]byte) { l.badMessage(name, invalid, msg(parts...)) }
	bad("no batch id", f[1], f[2], f[3], f[4])
	l.badMessage("no root", malformedApproval, msg(f[0], f[2], f[3], f[4]))
	l.badMessage("no size", malformedApproval, msg(f[0], f[1], f[3], f[4]))
	l.badMessage("nothing at all", malformedApproval, nil)
	bad("size before root", f[0], f[2], f[1], f[3], f[4])
	bad("a signature before the end", f[0], f[1], f[2], f[4], f[3])
	bad("the batch id twice", f[0], f[0], f[1], f[2], f[3], f[4])
	bad("the size twice", f[0], f[1], f[2], f[2], f[3], f[4])
	bad("a size in two bytes", f[0], f[1], tag(3, wireVarint), overlong(6), f[3], f[4])
	bad("a size as a fixed number", f[0], f[1], fixed32(3, 6), f[3], f[4])
	bad("an end as a fixed number", f[0], f[1], f[2], fixed64(4, good.NotAfter), f[4])
	bad("an end of 0 written", f[0], f[1], f[2], vint(4, 0), f[4])
	bad("an unknown field", whole, vint(6, 1))
	bad("field 0", whole, vint(0, 1))
	bad("a group", whole, tag(6, wireGroup), tag(6, wireEnd))
	bad("a length in two bytes", tag(1, wireBytes), overlong(uint64(len(good.BatchID))), []byte(good.BatchID), f[1], f[2], f[3])
	bad("cut off", whole[:len(whole)-1])
	bad("a signature's fields in another order", whole, sub(5, sub(2, fromURL(good.Signatures[0].Sig)), str(1, alice.kid())))
	bad("an empty kid written", whole, sub(5, sub(1), sub(2, []byte{1})))
	bad("an unknown field of a signature", whole, sub(5, sig, vint(3, 1)))
	bad("a kid that is not UTF-8", whole, sub(5, str(1, "kid\xff")))
	bad("a kid of 129 bytes", whole, sub(5, str(1, rep("k", 129))))
	bad("a signature of 129 bytes", whole, sub(5, str(1, alice.kid()), sub(2, make([]byte, 129))))
}
