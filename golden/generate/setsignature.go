package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A digestVector is an approver set with the bytes its digest covers, and what its approvers sign.
type digestVector struct {
	Name         string `json:"name"`
	File         string `json:"file"` // an approver set file, unsigned
	Input        string `json:"input"`
	SetSHA256    string `json:"setSha256"`
	Epoch        uint64 `json:"epoch"`
	TrustDomain  string `json:"trustDomain"`
	SigningInput string `json:"signingInput"`
}

// A setSignatureVector is an approver-set signature file.
type setSignatureVector struct {
	Name string `json:"name"`
	content
	outcome
	Canonical bool   `json:"canonical,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	SetSHA256 string `json:"setSha256,omitempty"`
	KID       string `json:"kid,omitempty"`
	Verifies  bool   `json:"verifies,omitempty"` // the signature is alice's over what the file says
}

// setDigests is digests of approver sets and signatures over them (WIRE.md §4, §5).
func setDigests() any {
	l := &setSignatureList{}
	l.good()
	l.bad()
	return struct {
		Digests    []digestVector       `json:"digests"`
		Signatures []setSignatureVector `json:"signatures"`
	}{digests(), l.vectors}
}

func (s setDraft) signingInput(epoch uint64, domain string) []byte {
	return signingInput("approver-set", u64(epoch), s.digest(), []byte(domain))
}

var cappedSet = setDraft{[]key{dave, alice}, 1, []tier{{1, 1}, {50_000, 1}}, 3}

func digests() (v []digestVector) {
	for name, s := range named[setDraft](
		"2 of 3 with a tier", twoOfThree, "keys in another order", set(2, []tier{{5, 1}}, carol, bob, alice), "1 of 1", set(1, nil, alice),
		"three tiers", set(3, []tier{{5, 1}, {100, 2}, {1000, 2}}, alice, bob, carol, dave), "an unbatched cap", cappedSet,
		"64 keys and 64 tiers", set(64, manyTiers(64, 1), manyKeys(64)...), "a removal", setDraft{},
	) {
		v = append(v, digestVector{name, s.file(), hexOf(s.input()), hexOf(s.digest()), 2, domain, hexOf(s.signingInput(2, domain))})
	}
	return v
}

type setSignatureList struct{ vectors []setSignatureVector }

// setSignature is the file of a key's signature over a set.
func setSignature(s setDraft, epoch uint64, k key, input []byte) object {
	return object{{"epoch", strconv.FormatUint(epoch, 10)}, {"trustDomain", `"` + domain + `"`}, {"setSha256", `"` + hexOf(s.digest()) + `"`},
		{"set", s.object().String()}, {"signature", `{"kid":"` + k.kid() + `","sig":"` + b64url(k.sign(input)) + `"}`}}
}

func (l *setSignatureList) ok(name string, s setDraft, epoch uint64, k key, input []byte) {
	s.keys = inKIDOrder(s.keys...)
	verifies := k.name == alice.name && bytes.Equal(input, s.signingInput(epoch, domain))
	l.vectors = append(l.vectors, setSignatureVector{name, text(setSignature(s, epoch, k, input).String() + "\n"), ok, true, epoch, hexOf(s.digest()), k.kid(), verifies})
}

func (l *setSignatureList) good() {
	s := twoOfThree
	l.ok("alice's", s, 2, alice, s.signingInput(2, domain))
	l.ok("bob's", s, 2, bob, s.signingInput(2, domain))
	l.ok("over a set with a cap", cappedSet, 3, alice, cappedSet.signingInput(3, domain))
	l.ok("over a removal", setDraft{}, 4, alice, setDraft{}.signingInput(4, domain))
	l.ok("at the largest epoch", s, 1<<53-1, alice, s.signingInput(1<<53-1, domain))
	l.ok("signed for another epoch", s, 2, alice, s.signingInput(3, domain))
	l.ok("signed for another set", s, 2, alice, cappedSet.signingInput(2, domain))
	l.ok("signed for another trust domain", s, 2, alice, s.signingInput(2, "staging.example.com"))
	l.ok("signed without the trust domain", s, 2, alice, signingInput("approver-set", u64(2), s.digest()))
	l.ok("signed with the epoch in 32 bits", s, 2, alice, signingInput("approver-set", u32(2), s.digest(), []byte(domain)))
	l.ok("signed as an approval", s, 2, alice, signingInput("batch-approval", u64(2), s.digest(), []byte(domain)))
	o := setSignature(s, 2, alice, s.signingInput(2, domain))
	slices.Reverse(o)
	l.vectors = append(l.vectors, setSignatureVector{"members in reverse order", text(o.String()), ok, false, 2, hexOf(s.digest()), alice.kid(), true})
}

func (l *setSignatureList) bad() {
	good := setSignature(twoOfThree, 2, alice, twoOfThree.signingInput(2, domain))
	file := good.String() + "\n"
	malformed := refused("INVALID_INPUT malformed-set")
	add := func(name string, want outcome, file string) {
		l.vectors = append(l.vectors, setSignatureVector{Name: name, content: text(file), outcome: want})
	}
	with := func(name, raw string) string {
		o := slices.Clone(good)
		o.set(name, raw)
		return o.String()
	}
	for _, m := range good {
		o := slices.Clone(good)
		o.del(m.name)
		add("no "+m.name, invalid, o.String())
	}
	add("epoch 0", malformed, with("epoch", "0"))
	add("a set that breaks a rule", malformed, with("set", set(3, nil, alice, bob).object().String()))
	for name, m := range named[member](
		"epoch 2^53", member{"epoch", "9007199254740992"}, "epoch as a string", member{"epoch", `"2"`}, "trust domain empty", member{"trustDomain", `""`},
		"the digest of another set", member{"setSha256", `"` + hexOf(cappedSet.digest()) + `"`}, "another set under the digest", member{"set", cappedSet.object().String()},
		"the digest in upper case", member{"setSha256", strings.ToUpper(`"` + hexOf(twoOfThree.digest()) + `"`)}, "the digest of 31 bytes", member{"setSha256", `"` + hexOf(twoOfThree.digest()[1:]) + `"`},
		"signature a list", member{"signature", "[]"}, "signature null", member{"signature", "null"}, "a format", member{"format", `"better-compute-approver-set"`},
		"signature without sig", member{"signature", `{"kid":"` + alice.kid() + `"}`}, "signature without kid", member{"signature", `{"sig":"` + b64url(make([]byte, 64)) + `"}`},
		"sig of 63 bytes", member{"signature", `{"kid":"` + alice.kid() + `","sig":"` + b64url(make([]byte, 63)) + `"}`},
		"kid with stray bits", member{"signature", `{"kid":"` + stray(alice.kid()) + `","sig":"` + b64url(make([]byte, 64)) + `"}`},
		"unknown member of the signature", member{"signature", `{"kid":"` + alice.kid() + `","sig":"` + b64url(make([]byte, 64)) + `","epoch":2}`},
	) {
		add(m.name+": "+name, invalid, with(m.name, m.raw))
	}
	add("a member twice", invalid, edit(file, `"epoch":2`, `"epoch":2,"epoch":2`))
	add("something after the value", invalid, file+"{}")
	add("an unsigned set file", invalid, twoOfThree.file())
}
