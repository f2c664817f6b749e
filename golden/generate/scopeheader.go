package main

import (
	"fmt"
	"strconv"
	"strings"
)

func (l *scopeList) header() {
	reboots := bound("node_a", "node.reboot", reboot("x"))
	for _, f := range ids() {
		s := newScope(f.text, reboots)
		l.form("batchId", f, s)
	}
	for _, f := range trustDomains() {
		l.form("trustDomain", f, one().set("trustDomain", quote(f.text)))
	}
	for _, raw := range []string{"Better-Compute-Batch-Scope", "better-compute-batch-signature", "better-compute-batch-scope ", ""} {
		l.bad("format "+quote(raw), invalid, one().set("format", quote(raw)).text())
	}
	for _, raw := range []string{"0", "2", "9007199254740991"} {
		l.bad("version "+raw, invalid, one().set("version", raw).text())
	}
	l.digestForms("scopeRoot", func(raw string) string { return one().set("scopeRoot", raw).text() }, hexOf(one().root))
	l.bad("scopeRoot empty", invalid, one().set("scopeRoot", `""`).text())
	l.bad("scopeSize 0", invalid, one().set("scopeSize", "0").text())
	l.bad("scopeSize 50,001", invalid, one().set("scopeSize", "50001").text())
	l.bad("scopeSize 2^53-1", invalid, one().set("scopeSize", "9007199254740991").text())
	l.bad("no leaf in leaves", invalid, append(one().head, member{"leaves", "[]"}).String())
}

// form takes a scope that has the text in its place, with everything else true to it.
func (l *scopeList) form(what string, f form, s *scope) {
	name := what + " " + quote(f.text)
	if len(f.text) > 60 {
		name = fmt.Sprintf("%s of %d bytes, %s…", what, len(f.text), quote(f.text[:8]))
	}
	if f.good {
		l.ok(name, s)
	} else {
		l.bad(name, invalid, s.text())
	}
}

// digestForms writes 32 bytes in hex in every wrong way.
func (l *scopeList) digestForms(what string, file func(raw string) string, hex string) {
	for _, e := range []struct{ name, text string }{
		{"in upper case", strings.ToUpper(hex)}, {"with 0x", "0x" + hex}, {"with 0x in 64 characters", "0x" + hex[2:]},
		{"with one letter in upper case", oneUpper(hex)}, {"of 63 digits", hex[:63]}, {"of 65 digits", hex + "0"}, {"of 62 digits", hex[:62]},
		{"with a letter that is no digit", "g" + hex[1:]}, {"with a space in front", " " + hex}, {"with a space for a digit", " " + hex[1:]},
		{"in base64", b64(unhex(hex))},
	} {
		l.bad(what+" "+e.name, invalid, file(quote(e.text)))
	}
}

func oneUpper(hex string) string {
	at := strings.IndexAny(hex, "abcdef")
	return hex[:at] + strings.ToUpper(hex[at:at+1]) + hex[at+1:]
}

// claims is required, approvals and signatures, which claim and do not prove.
func (l *scopeList) claims() {
	var kids, signed []string
	for i := range 65 {
		k := newKey("claim " + strconv.Itoa(i))
		kids = append(kids, `"`+k.kid()+`"`)
		signed = append(signed, signatureObject(k.kid(), b64url(append(sum(k.spki, []byte{1}), sum(k.spki)...)))) // verifies nothing
	}
	list := func(s []string) string { return "[" + strings.Join(s, ",") + "]" }
	input := approvalInput("batch_g1", one().root, 1, notAfter, domain)
	sig := b64url(alice.sign(input))
	sigs := func(o ...string) string { return one().set("signatures", list(o)).text() }
	l.ok("every optional member", one().set("createdByAgent", `"agent_mcp"`).set("delegationId", `"del_01"`).set("required", "2").
		set("approvals", list(kids[:1])).set("signatures", list([]string{signatureObject(alice.kid(), sig)})))
	l.ok("empty texts and lists", one().set("reason", `""`).set("createdBy", `""`).set("approvals", "[]").set("signatures", "[]"))
	l.ok("required 0", one().set("required", "0"))
	l.ok("64 approvals", one().set("approvals", list(kids[:64])))
	l.bad("65 approvals", invalid, one().set("approvals", list(kids)).text())
	l.bad("65 signatures", invalid, one().set("signatures", list(signed)).text())
	l.ok("64 signatures", one().set("signatures", list(signed[:64])))
	for name, kid := range named[string]("kid of 42 characters", `"`+alice.kid()[:42]+`"`, "kid padded", `"`+alice.kid()+`="`, "kid with stray bits", `"`+stray(alice.kid())+`"`,
		"empty kid", `""`, "kid null", "null", "kid a number", "1") {
		l.bad("approvals: "+name, invalid, one().set("approvals", "["+kid+"]").text())
		l.bad("signatures: "+name, invalid, sigs(`{"kid":`+kid+`,"sig":"`+sig+`"}`))
	}
	l.bad("signatures: padded", invalid, sigs(signatureObject(alice.kid(), sig+"==")))
	l.bad("signatures: stray bits", invalid, sigs(signatureObject(alice.kid(), stray(sig))))
	l.bad("signatures: a line break", invalid, sigs(signatureObject(alice.kid(), sig[:43]+`\n`+sig[43:])))
	l.bad("signatures: no sig", invalid, sigs(`{"kid":"`+alice.kid()+`"}`))
	l.bad("signatures: no kid", invalid, sigs(`{"sig":"`+sig+`"}`))
	l.bad("signatures: sig null", invalid, sigs(`{"kid":"`+alice.kid()+`","sig":null}`))
	l.bad("signatures: unknown member", invalid, sigs(`{"kid":"`+alice.kid()+`","sig":"`+sig+`","x":1}`))
	l.bad("signatures: a member twice", invalid, sigs(`{"kid":"`+alice.kid()+`","sig":"`+sig+`","sig":"`+sig+`"}`))
	l.bad("signatures: an entry null", invalid, sigs("null"))
}

func signatureObject(kid, sig string) string { return `{"kid":"` + kid + `","sig":"` + sig + `"}` }

func (l *scopeList) bareArrays() {
	bare := func(s *scope) string { return s.list() + "\n" }
	good := func(name string, s *scope, file string) { l.okText("bare array: "+name, s, file).Batch = s.batchID }
	bad := func(name string, want outcome, file string) {
		l.bad("bare array: "+name, want, file)
		l.vectors[len(l.vectors)-1].Batch = "batch_g1"
	}
	good("two leaves", pair(), bare(pair()))
	good("in hash order with leaf indexes", pair().ordered(), bare(pair().ordered()))
	good("an unbound leaf", newScope("batch_g1", unbound("node_a", "node.reboot")), `[{"subject":"node_a","kind":"node.reboot"}]`)
	s := one()
	bad("empty", invalid, "[]")
	bad("of arrays", invalid, "[["+s.leaves[0].String()+"]]")
	bad("of a whole scope", invalid, "["+s.text()+"]")
	bad("a null leaf", invalid, "["+s.leaves[0].String()+",null]")
	bad("unknown member", invalid, edit(bare(s), `"kind"`, `"batchId":"batch_g1","kind"`))
	bad("a member twice", invalid, edit(bare(s), `"kind"`, `"kind":"node.reboot","kind"`))
	bad("a second value", invalid, bare(s)+"{}")
	bad("cut off", invalid, strings.TrimSuffix(bare(s), "]\n"))
	bad("byte order mark", invalid, "\ufeff"+bare(s))
	bad("wrong leaf index", refused("SCOPE_MISMATCH"), "["+s.leaf(0, "leafIndex", "1").leaves[0].String()+"]")
	bad("the same leaf twice", refused("INVALID_INPUT duplicate-leaf"), "["+one().leaves[0].String()+","+one().leaves[0].String()+"]")
}
