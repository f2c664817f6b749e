package main

import (
	"slices"
	"strings"
)

func (l *combinedList) okFile(name string, a approval, canonical bool, file string) {
	binpb := b64(a.message())
	l.text = append(l.text, combinedVector{Name: name, Binpb: &binpb, content: text(file), outcome: ok, Canonical: canonical, TrustDomain: domain, Approval: &a})
}

func (l *combinedList) badFile(name string, want outcome, file string) {
	l.text = append(l.text, combinedVector{Name: name, content: text(file), outcome: want})
}

func (l *combinedList) files() {
	good := func(name string, a approval) { l.okFile(name, a, true, a.object().String()+"\n") }
	two := combinedBy(inKIDOrder(alice, bob)...)
	good("two signatures", two)
	good("one signature", combinedBy(alice))
	good("an empty list of signatures", combinedBy())
	good("64 signatures", combinedBy(inKIDOrder(manyKeys(64)...)...))
	long := two
	long.BatchID = rep("b", 123)
	good("a batch id of 123 bytes", long)
	o := two.object()
	slices.Reverse(o)
	l.okFile("members in reverse order", two, false, o.String())
	l.okFile("white space", two, false, " \r\n\t"+strings.ReplaceAll(two.object().String(), ",", " ,\n")+"\n\n")
	unsigned := two
	unsigned.Signatures = []signatureEntry{two.Signatures[0], entryOf(two.Signatures[1].KID, make([]byte, 64))}
	good("a signature all zero", unsigned)
}

func (l *combinedList) fileForms() {
	two := combinedBy(inKIDOrder(alice, bob)...)
	file := two.object().String() + "\n"
	a, b := `{"kid":"`+two.Signatures[0].KID+`","sig":"`+two.Signatures[0].Sig+`"}`, `{"kid":"`+two.Signatures[1].KID+`","sig":"`+two.Signatures[1].Sig+`"}`
	with := func(name, raw string) string {
		o := two.object()
		o.set(name, raw)
		return o.String()
	}
	bad := func(name, file string) { l.badFile(name, invalid, file) }
	bad("kids descend", with("signatures", lines([]string{b, a})))
	bad("a kid twice", with("signatures", lines([]string{a, a, b})))
	bad("a kid twice, with two signatures", with("signatures", lines([]string{a, edit(a, two.Signatures[0].Sig, two.Signatures[1].Sig)})))
	bad("a kid with stray bits", edit(file, two.Signatures[1].KID, stray(two.Signatures[1].KID)))
	bad("a sig with stray bits", edit(file, two.Signatures[1].Sig, stray(two.Signatures[1].Sig)))
	bad("a sig of 63 bytes", edit(file, two.Signatures[1].Sig, two.Signatures[1].Sig[:84]))
	bad("a sig padded", edit(file, two.Signatures[1].Sig, two.Signatures[1].Sig+"=="))
	bad("a signature without kid", with("signatures", lines([]string{`{"sig":"` + two.Signatures[0].Sig + `"}`})))
	bad("a signature without sig", with("signatures", lines([]string{`{"kid":"` + two.Signatures[0].KID + `"}`})))
	bad("an unknown member of a signature", with("signatures", lines([]string{edit(a, `{"kid"`, `{"unchecked":true,"kid"`)})))
	bad("a signature null", with("signatures", "[null]"))
	bad("signatures null", with("signatures", "null"))
	bad("signatures an object", with("signatures", a))
	for _, m := range two.object() {
		o := two.object()
		o.del(m.name)
		bad("no "+m.name, o.String())
	}
	for _, raw := range []string{"0", "50001"} {
		l.badFile("scopeSize "+raw, malformedApproval, with("scopeSize", raw))
	}
	for name, m := range named[member](
		"version 2", member{"version", "2"}, "another format", member{"format", `"better-compute-batch-signature"`}, "scopeSize 6.0", member{"scopeSize", "6.0"},
		"scopeSize as a string", member{"scopeSize", `"6"`}, "notAfter 2^53", member{"notAfter", "9007199254740992"}, "notAfter -1", member{"notAfter", "-1"},
		"root in upper case", member{"scopeRoot", strings.ToUpper(`"` + two.ScopeRoot + `"`)}, "root of 31 bytes", member{"scopeRoot", `"` + two.ScopeRoot[2:] + `"`},
		"batch id ..", member{"batchId", `".."`}, "trust domain in upper case", member{"trustDomain", `"Compute.example.com"`}, "trust domain empty", member{"trustDomain", `""`},
		"an escape in the batch id", member{"batchId", `"batch\u005fa1"`}, "an unknown member", member{"unchecked", "true"},
	) {
		bad(m.name+": "+name, with(m.name, m.raw))
	}
	var many []string
	for _, k := range inKIDOrder(manyKeys(65)...) {
		many = append(many, `{"kid":"`+k.kid()+`","sig":"`+two.Signatures[0].Sig+`"}`)
	}
	l.badFile("65 signatures", malformedApproval, with("signatures", lines(many)))
	bad("a member twice", edit(file, `"scopeSize":6`, `"scopeSize":6,"scopeSize":6`))
	bad("letter case of a member", edit(file, `"batchId"`, `"batchID"`))
	bad("something after the value", file+"{}")
	bad("byte order mark", "\ufeff"+file)
	bad("cut off", strings.TrimSuffix(file, "}\n"))
	bad("a batch signature", batchSignature().String())
}
