package main

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

func (l *scopeList) syntax() {
	good := pair().text()
	trimmed := strings.TrimSpace(good)
	l.bad("empty file", invalid, "")
	l.bad("white space alone", invalid, " \n")
	l.bad("null", invalid, "null")
	l.bad("a string", invalid, `"x"`)
	l.bad("a number", invalid, "1")
	l.bad("an empty object", invalid, "{}")
	l.bad("cut off", invalid, trimmed[:len(trimmed)-1])
	l.bad("cut off in a string", invalid, good[:strings.Index(good, "kernel roll-out")+3])
	l.bad("a second value", invalid, good+trimmed)
	l.bad("a brace too many", invalid, trimmed+"}")
	l.bad("a NUL after the value", invalid, good+"\x00")
	l.bad("a form feed as white space", invalid, "\f"+good)
	l.bad("a no-break space as white space", invalid, "\u00a0"+good)
	l.bad("a comment", invalid, "/* x */"+good)
	l.bad("a line comment after the value", invalid, good+"// x")
	l.bad("a comma after the last leaf", invalid, edit(good, "\n]", ",\n]"))
	l.bad("a comma after the last member", invalid, trimmed[:len(trimmed)-1]+",}")
	l.bad("a comma missing", invalid, edit(good, `"version":1,`, `"version":1 `))
	l.bad("a colon missing", invalid, edit(good, `"version":1`, `"version" 1`))
	l.bad("single quotes", invalid, edit(good, `"batch_g1"`, `'batch_g1'`))
	l.bad("a name without quotes", invalid, edit(good, `"version":`, `version:`))
	l.bad("Null", invalid, edit(good, `"reason":"kernel roll-out"`, `"reason":Null`))
	l.bad("NaN", invalid, edit(good, `"scopeSize":2`, `"scopeSize":NaN`))
	l.bad("brackets swapped", invalid, edit(good, "\n]}", "\n}]"))
	l.repeat("200,000 open brackets", invalid, repeat{Unit: "[", Count: 200_000})
	l.repeat("200,000 open objects", invalid, repeat{Unit: `{"leaves":`, Count: 200_000})
	l.repeat("200,000 brackets in an unknown member", invalid, repeat{Head: `{"x":`, Unit: "[", Count: 200_000, Tail: strings.Repeat("]", 9) + "}"})
}

// repeat takes a file that is written as a repetition.
func (l *scopeList) repeat(name string, want outcome, r repeat) {
	l.vectors = append(l.vectors, scopeVector{Name: name, content: content{Repeat: &r}, outcome: want})
}

func (l *scopeList) encoding() {
	good := pair().text()
	inReason := func(s string) string { return edit(good, "kernel roll-out", s) }
	l.bad("byte order mark", invalid, "\ufeff"+good)
	l.bad("UTF-16", invalid, utf16le(good))
	l.bad("Latin-1 in a free text", invalid, inReason("\xe9"))
	l.bad("a raw surrogate in a free text", invalid, inReason("\xed\xa0\x80"))
	l.bad("an overlong NUL in a free text", invalid, inReason("\xc0\x80"))
	l.bad("a rune over U+10FFFF in a free text", invalid, inReason("\xf4\x90\x80\x80"))
	l.bad("a rune cut off in a free text", invalid, inReason("\xe2\x82"))
	l.bad("not UTF-8 between members", invalid, edit(good, `,"version"`, ",\xff\"version\""))
	l.bad("a raw newline in a string", invalid, inReason("a\nb"))
	l.bad("a raw tab in a string", invalid, inReason("a\tb"))
	l.bad("a raw NUL in a string", invalid, inReason("a\x00b"))
	l.bad("a raw escape byte in a string", invalid, inReason("a\x1bb"))
}

func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func (l *scopeList) members() {
	good := pair().text()
	twice := func(where, m string) { l.bad("a member twice "+where, invalid, edit(good, m, m+","+m)) }
	twice("in the header", `"version":1`)
	twice("in the header, another value", `"createdBy":"id_ops"`)
	twice("in a leaf", `"kind":"node.reboot"`)
	twice("in a payload", `"typeUrl":"`+typeURL("node.reboot")+`"`)
	l.bad("a member twice, once null", invalid, edit(good, `"reason":"kernel roll-out"`, `"reason":null,"reason":"x"`))
	l.bad("leaves twice", invalid, edit(good, `"leaves":[`, `"leaves":[],"leaves":[`))
	l.bad("unknown member in the header", invalid, edit(good, `"version":1`, `"version":1,"note":"x"`))
	l.bad("unknown member in a leaf", invalid, edit(good, `"kind":"node.reboot"`, `"kind":"node.reboot","note":"x"`))
	l.bad("unknown member in a payload", invalid, edit(good, `"typeUrl":"`+typeURL("node.reboot")+`"`, `"typeUrl":"`+typeURL("node.reboot")+`","note":"x"`))
	l.bad("unknown member, null", invalid, edit(good, `"version":1`, `"version":1,"note":null`))
	l.bad("an empty name", invalid, edit(good, `"version":1`, `"version":1,"":1`))
	for _, m := range []member{{"batchId", "batchid"}, {"scopeRoot", "ScopeRoot"}, {"payloadSha256", "payloadSHA256"}, {"typeUrl", "typeURL"}} {
		l.bad("letter case of "+m.name, invalid, edit(one().text(), `"`+m.name+`"`, `"`+m.raw+`"`))
	}
	l.bad("a name with look-alike letters", invalid, edit(good, `"createdBy"`, `"сreatedBy"`))
	for _, name := range []string{"format", "version", "batchId", "scopeRoot", "scopeSize"} {
		l.bad("no "+name, invalid, pair().del(name).text())
		l.bad(name+" null", invalid, pair().set(name, "null").text())
	}
	for _, name := range []string{"subject", "kind"} {
		s := one()
		s.leaves[0].del(name)
		l.bad("no "+name, invalid, s.text())
		l.bad(name+" null", invalid, one().leaf(0, name, "null").text())
	}
	l.bad("no leaves", invalid, pair().head.String())
	l.bad("leaves null", invalid, append(pair().head, member{"leaves", "null"}).String())
	l.bad("no typeUrl in a payload", invalid, edit(one().text(), `"typeUrl":"`+typeURL("node.reboot")+`",`, ""))
	l.bad("no value in a payload", invalid, edit(one().text(), ","+valueMember(reboot("x")), ""))
	l.bad("value null in a payload", invalid, edit(one().text(), valueMember(reboot("x")), `"value":null`))
	l.nulls()
}

// nulls is optional members that are null, which is the same as absent.
func (l *scopeList) nulls() {
	for _, name := range []string{"notAfter", "trustDomain", "reason", "createdBy", "createdByAgent", "delegationId", "required",
		"approvals", "signatures"} {
		l.ok(name+" null", one().set(name, "null"))
	}
	l.ok("leafIndex null", one().leaf(0, "leafIndex", "null"))
	l.ok("payloadSha256 null beside a payload", one().leaf(0, "payloadSha256", "null"))
	u := func() *scope { return newScope("batch_g1", unbound("node_a", "node.reboot")) }
	l.ok("payloadSha256 null on an unbound leaf", u().leaf(0, "payloadSha256", "null"))
	l.ok("payload null on an unbound leaf", u().leaf(0, "payload", "null"))
}

func (l *scopeList) numbers() {
	const largest = 1<<53 - 1
	l.ok("notAfter 2^53-1", one().set("notAfter", strconv.Itoa(largest)))
	l.ok("required 2^53-1", one().set("required", strconv.Itoa(largest)))
	for _, m := range []member{{"notAfter", "4102444800000"}, {"required", "2"}} {
		for _, raw := range []string{"9007199254740992", "9007199254740993", "18446744073709551616", "1" + strings.Repeat("0", 400), "-0",
			"-1", "+1", m.raw + ".0", m.raw + "e0", "1e3", "1E3", "0x10", "01", "1_000", `"` + m.raw + `"`, "true", "[1]", "{}", ""} {
			l.bad(m.name+" as "+shown(raw), invalid, one().set(m.name, raw).text())
		}
	}
	for _, raw := range []string{"1.0", "1e0", "-1", "01", `"1"`, "true"} {
		l.bad("version as "+raw, invalid, one().set("version", raw).text())
		l.bad("scopeSize as "+raw, invalid, one().set("scopeSize", raw).text())
	}
	for _, raw := range []string{"-0", "0.0", "00", `"0"`, "false", "9007199254740992"} {
		l.bad("leafIndex as "+raw, invalid, one().leaf(0, "leafIndex", raw).text())
	}
}

// shown shortens what stands in a vector's name.
func shown(raw string) string {
	switch {
	case raw == "":
		return "nothing"
	case len(raw) > 24:
		return raw[:3] + "… of " + strconv.Itoa(len(raw)) + " digits"
	}
	return raw
}
