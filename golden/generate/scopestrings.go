package main

import (
	"fmt"
	"strings"
)

// strings is values of another JSON type, and escapes where none may stand: identifiers.
func (l *scopeList) strings() {
	for _, name := range []string{"format", "batchId", "scopeRoot", "trustDomain", "reason", "createdBy", "createdByAgent", "delegationId"} {
		for _, raw := range []string{"1", "true", `["x"]`, `{"x":"x"}`} {
			l.bad(name+" as "+raw, invalid, one().set(name, raw).text())
		}
	}
	for _, name := range []string{"subject", "kind", "payloadSha256"} {
		l.bad(name+" as 1", invalid, one().leaf(0, name, "1").text())
		l.bad(name+" as a list", invalid, one().leaf(0, name, `["x"]`).text())
	}
	for _, raw := range []string{`"x"`, "1", "[]", "true"} {
		l.bad("payload as "+raw, invalid, one().leaf(0, "payload", raw).text())
	}
	s := one()
	for _, raw := range []string{"{}", `"x"`, "1", "[[" + s.leaves[0].String() + "]]", "[null]", `["x"]`, "[1]"} {
		l.bad("leaves as "+strings.SplitN(raw, `{"subj`, 2)[0], invalid, append(one().head, member{"leaves", raw}).String())
	}
	l.bad("typeUrl as 1", invalid, edit(s.text(), `"typeUrl":"`+typeURL("node.reboot")+`"`, `"typeUrl":1`))
	l.bad("value as a list of bytes", invalid, edit(s.text(), valueMember(reboot("x")), `"value":[8,1]`))
	l.bad("approvals as an object", invalid, one().set("approvals", "{}").text())
	l.bad("approvals as a string", invalid, one().set("approvals", `"`+alice.kid()+`"`).text())
	l.bad("signatures as an object", invalid, one().set("signatures", "{}").text())
	l.escapes()
}

// escapes writes identifiers with an escape; each reads as it should.
func (l *scopeList) escapes() {
	root, digest, value := hexOf(one().root), hexOf(sum(reboot("x"))), b64(reboot("x"))
	for _, e := range []struct{ where, old, escaped string }{
		{"format", `"better-compute-batch-scope"`, `"better\u002dcompute-batch-scope"`},
		{"batchId", `"batch_g1"`, `"batch\u005fg1"`},
		{"trustDomain", `"compute.example.com"`, `"compute.example\u002ecom"`},
		{"scopeRoot", `"` + root + `"`, fmt.Sprintf(`"\u%04x%s"`, root[0], root[1:])},
		{"subject", `"node_a"`, `"node\u005fa"`},
		{"kind", `"node.reboot"`, `"\u006eode.reboot"`},
		{"payloadSha256", `"` + digest + `"`, fmt.Sprintf(`"\u%04x%s"`, digest[0], digest[1:])},
		{"typeUrl", `"` + typeURL("node.reboot") + `"`, `"type.googleapis.com\/bettercompute.v1.RebootRequest"`},
		{"value", `"` + value + `"`, fmt.Sprintf(`"\u%04x%s"`, value[0], value[1:])},
		{"a name of the header", `"batchId"`, `"batch\u0049d"`},
		{"the name of a free text", `"reason"`, `"r\u0065ason"`},
		{"a name of a leaf", `"subject"`, `"\u0073ubject"`},
		{"a name of a payload", `"value"`, `"valu\u0065"`},
	} {
		l.bad("an escape in "+e.where, invalid, edit(one().text(), e.old, e.escaped))
	}
}

// freeTexts is the four free texts, which take any escape (WIRE.md §5).
func (l *scopeList) freeTexts() {
	good := func(name, raw, reads string) {
		s := one().set("reason", raw)
		l.okText("reason: "+name, s, s.text()).Texts = map[string]string{"reason": reads}
	}
	bad := func(name, raw string) { l.bad("reason: "+name, invalid, one().set("reason", raw).text()) }
	good("empty", `""`, "")
	good("every short escape", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t")
	good("a control character", `"\u001b[2J"`, "\x1b[2J")
	good("NUL", `"a\u0000b"`, "a\x00b")
	good("DEL, raw", "\"a\x7fb\"", "a\x7fb")
	good("upper and lower case digits", `"\u00E9\u00e9"`, "éé")
	good("U+2028, raw", "\"a\u2028b\"", "a\u2028b")
	good("U+202E, escaped", `"\u202etxt"`, "\u202etxt")
	good("a pair of surrogates", `"\ud83d\ude00"`, "😀")
	good("a pair in upper case", `"\uD83D\uDE00"`, "😀")
	good("a rune beyond the plane, raw", `"😀"`, "😀")
	good("a lone high surrogate", `"a\ud83db"`, "a\ufffdb")
	good("a lone high surrogate at the end", `"\ud83d"`, "\ufffd")
	good("a lone low surrogate", `"\ude00b"`, "\ufffdb")
	good("surrogates in the wrong order", `"\ude00\ud83d"`, "\ufffd\ufffd")
	good("two high surrogates, then a low one", `"\ud83d\ud83d\ude00"`, "\ufffd😀")
	good("a high surrogate before an ordinary escape", `"\ud83d\u0041"`, "\ufffdA")
	good("a high surrogate before a short escape", `"\ud83d\n"`, "\ufffd\n")
	good("U+FFFD, raw", "\"\ufffd\"", "\ufffd")
	good("noncharacter", `"\uffff"`, "\uffff")
	bad("an escape of no kind", `"\x41"`)
	bad("an escape cut off", `"\u12"`)
	bad("an escape with a letter that is no digit", `"\u12g4"`)
	bad("upper-case U", `"\U0041"`)
	bad("a surrogate's second half cut off", `"\ud83d\u"`)
	bad("a backslash at the end", `"\"`)
	l.textLengths()
}

// textLengths is texts at their limit in UTF-16 units, and one over it.
func (l *scopeList) textLengths() {
	atLimit := func(member, name, raw, reads string) {
		s := one().set(member, `"`+raw+`"`)
		l.okText(member+": "+name, s, s.text()).Texts = map[string]string{member: reads}
	}
	over := func(member, name, raw string) {
		l.bad(member+": "+name, invalid, one().set(member, `"`+raw+`"`).text())
	}
	rep := strings.Repeat
	atLimit("reason", "500 letters", rep("a", 500), rep("a", 500))
	atLimit("reason", "500 letters of two bytes", rep("é", 500), rep("é", 500))
	atLimit("reason", "500 escapes", rep(`\u0041`, 500), rep("A", 500))
	atLimit("reason", "250 raw runes of two units", rep("😀", 250), rep("😀", 250))
	atLimit("reason", "250 escaped pairs", rep(`\ud83d\ude00`, 250), rep("😀", 250))
	atLimit("reason", "500 lone surrogates", rep(`\ud83d`, 500), rep("\ufffd", 500))
	over("reason", "501 letters", rep("a", 501))
	over("reason", "501 letters of two bytes", rep("é", 501))
	over("reason", "501 escapes", rep(`\u0041`, 501))
	over("reason", "499 letters and a rune of two units", rep("a", 499)+"😀")
	over("reason", "251 escaped pairs", rep(`\ud83d\ude00`, 251))
	over("reason", "501 lone surrogates", rep(`\ud83d`, 501))
	for _, member := range []string{"createdBy", "createdByAgent", "delegationId"} {
		atLimit(member, "256 letters", rep("a", 256), rep("a", 256))
		atLimit(member, "128 runes of two units", rep("😀", 128), rep("😀", 128))
		over(member, "257 letters", rep("a", 257))
		over(member, "128 runes of two units and a letter", rep("😀", 128)+"a")
	}
}
