package main

import "strings"

// leafForms is kinds, digests and payload values of every form. A kind that no table knows takes any subject and type.
func (l *scopeList) leafForms() {
	for _, f := range kindForms() {
		v := leaf{subject: "node_a", kind: f.text, typeURL: richType, value: []byte{8, 1}, digest: sum([]byte{8, 1})}
		l.form("kind", f, newScope("batch_g1", v))
	}
	unknown := func(subject, typeURL string, value []byte) leaf {
		return leaf{subject, "acme.defrost", typeURL, value, sum(value)}
	}
	l.ok("a kind no table knows, on a BMC", newScope("batch_g1", unknown("bmc:node_site1/10.0.7.12", richType, []byte{8, 1})))
	l.ok("a kind no table knows, on a target node", newScope("batch_g1", unknown("node:node_b", richType, []byte{8, 1})))
	l.ok("a kind no table knows, with any type", newScope("batch_g1", unknown("node_a", "acme", []byte{8, 1})))
	l.ok("a kind no table knows, bytes that are no message", newScope("batch_g1", unknown("node_a", richType, []byte{0xff, 0xff})))
	l.ok("a kind no table knows, a digest alone", newScope("batch_g1", digestOnly("node_a", "acme.defrost", sum([]byte{8, 1}))))
	l.digestForms("payloadSha256", func(raw string) string { return one().leaf(0, "payloadSha256", raw).text() }, hexOf(sum(reboot("x"))))
	d := sum([]byte{8, 1})
	l.digestForms("payloadSha256 alone", func(raw string) string {
		return newScope("batch_g1", digestOnly("node_a", "node.reboot", d)).leaf(0, "payloadSha256", raw).text()
	}, hexOf(d))
	l.values()
}

// values writes a payload in base64 in every wrong way.
func (l *scopeList) values() {
	value := reboot("xy") // 8 bytes, so that base64 pads with one "=" and has two stray bits
	good := newScope("batch_g1", bound("node_a", "node.reboot", value)).text()
	text := b64(value)
	last := len(text) - 2
	for name, replacement := range named[string](
		"without padding", strings.TrimRight(text, "="),
		"with padding too much", text+"=",
		"with stray bits", text[:last]+string(text[last]+1)+"=",
		"with a space", text[:4]+" "+text[4:],
		"with a space at the end", text+" ",
		"of one character", "A",
		"of padding alone", "====",
		"with padding inside", text+text,
		"with a letter of base64url", "-"+text[1:],
		"with a letter of no base64", "!"+text[1:],
		"in hex", hexOf(value)+"g",
	) {
		l.bad("payload value "+name, invalid, edit(good, `"value":"`+text+`"`, `"value":"`+replacement+`"`))
	}
	l.bad("payload value with an escaped line break", invalid, edit(good, text, text[:4]+`\n`+text[4:]))
}

// subjectForms is subjects of every form, each under a kind of that form, or one that no table knows.
func (l *scopeList) subjectForms() {
	for _, f := range addresses() {
		l.form("address", f, newScope("batch_g1", bound("bmc:node_site1/"+f.text, "bmc.sensors", bmcSensors(f.text))))
	}
	for _, f := range subjects() {
		l.form("subject", f, newScope("batch_g1", leaf{f.text, "acme.defrost", richType, []byte{8, 1}, sum([]byte{8, 1})}))
	}
	long := "bmc:node_site1/" + rep("a", 500)
	l.bad("subject of over 512 bytes", invalid, newScope("batch_g1", bound(long, "bmc.sensors", bmcSensors(rep("a", 500)))).text())
	power := bmcPower("10.0.7.12", powerCycle)
	for name, v := range named[leaf](
		"a node's kind on a BMC", bound(bmcSubject, "node.reboot", reboot("x")),
		"a node's kind on a target node", bound("node:node_b", "node.reboot", reboot("x")),
		"a BMC's kind on a node", bound("node_a", "bmc.power", power),
		"a BMC's kind on a target node", bound("node:node_b", "bmc.power", power),
		"the proxy's kind on a node", bound("node_b", "site.httpProxy", httpProxy("node_b", "GET", "/", "x")),
		"the proxy's kind on a BMC", bound("bmc:node_site1/node_b.x", "site.httpProxy", httpProxy("node_b.x", "GET", "/", "x")),
		"an unbound leaf on another kind's subject", unbound("node_a", "bmc.power"),
		"a digest alone on another kind's subject", digestOnly(bmcSubject, "node.reboot", sum(reboot("x"))),
		"another address in the payload", bound(bmcSubject, "bmc.power", bmcPower("10.0.7.13", powerCycle)),
		"another target in the payload", bound("node:node_b", "site.httpProxy", httpProxy("node_c", "GET", "/", "x")),
		"another kind's operation", bound(bmcSubject, "bmc.power", bmcSensors("10.0.7.12")),
		"no operation", bound(bmcSubject, "bmc.power", str(1, "10.0.7.12")),
		"power action unspecified", bound(bmcSubject, "bmc.power", bmcPower("10.0.7.12", 0)),
	) {
		l.bad(name, foreign, newScope("batch_g1", v).text())
	}
}

// payloadRules is one example of each way in which a payload is refused; payload.json has them all.
func (l *scopeList) payloadRules() {
	digest := refused("INVALID_INPUT payload-digest")
	foreignType := refused("INVALID_INPUT payload-type")
	l.bad("the digest of another payload", digest, newScope("batch_g1", leaf{"node_a", "node.reboot", typeURL("node.reboot"), reboot("x"), sum(reboot("y"))}).text())
	l.bad("an empty digest beside a payload", digest, newScope("batch_g1", leaf{"node_a", "node.reboot", typeURL("node.reboot"), reboot("x"), nil}).text())
	l.bad("an empty digest beside an empty payload", digest, newScope("batch_g1", leaf{"node_a", "node.inspect", typeURL("node.inspect"), []byte{}, nil}).text())
	l.bad("a digest beside a payload of a kind no table knows", digest, newScope("batch_g1", leaf{"node_a", "acme.defrost", richType, []byte{8, 1}, sum(nil)}).text())
	for _, t := range []string{typeURL("node.wipe"), "bettercompute.v1.RebootRequest", "type.googleprod.com/bettercompute.v1.RebootRequest",
		"https://type.googleapis.com/bettercompute.v1.RebootRequest", "type.googleapis.com/bettercompute.v1.rebootrequest",
		"type.googleapis.com/bettercompute.v2.RebootRequest", "type.googleapis.com/bettercompute.v1.RebootRequest ", ""} {
		l.bad("type "+quote(t), foreignType, newScope("batch_g1", leaf{"node_a", "node.reboot", t, reboot("x"), sum(reboot("x"))}).text())
	}
	for name, value := range named[string]("unknown field", string(msg(vint(1, 1), vint(127, 1))), "a scalar twice", string(msg(vint(1, 1), vint(1, 1))),
		"overlong varint", string(msg(tag(2, wireVarint), overlong(30))), "default written", string(vint(1, 0)), "order", string(msg(vint(2, 1), vint(1, 1))),
		"no protobuf", "reboot", "not UTF-8", string(str(3, "\xff"))) {
		l.bad("payload: "+name, unclear, newScope("batch_g1", bound("node_a", "node.reboot", []byte(value))).text())
	}
	second := newScope("batch_g1", bound("node_a", "node.reboot", reboot("x")), bound("node_b", "node.reboot", vint(1, 0)))
	l.bad("payload: only the second leaf's", unclear, second.text())
}
