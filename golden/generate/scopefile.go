package main

import "strings"

type scopeVector struct {
	Name  string `json:"name"`
	Batch string `json:"batch,omitempty"` // the batch id given with a bare array
	content
	outcome
	Root    string            `json:"root,omitempty"`
	Size    int               `json:"size,omitempty"`
	Order   []int             `json:"order,omitempty"` // of each place in hash order the leaf as listed
	Opaque  int               `json:"opaque,omitempty"`
	Unbound int               `json:"unbound,omitempty"`
	Texts   map[string]string `json:"texts,omitempty"` // free texts as they read
}

// A scopeList collects scope files and what a strict reader and verifier makes of them.
type scopeList struct{ vectors []scopeVector }

// ok takes a scope as its own text.
func (l *scopeList) ok(name string, s *scope) { l.okText(name, s, s.text()) }

// okText takes a scope in a text that reads the same.
func (l *scopeList) okText(name string, s *scope, file string) *scopeVector {
	l.vectors = append(l.vectors, scopeVector{Name: name, content: text(file), outcome: ok, Root: hexOf(s.root), Size: s.size,
		Order: s.order, Opaque: s.opaque, Unbound: s.unbound})
	return &l.vectors[len(l.vectors)-1]
}

// bad takes a text that is refused.
func (l *scopeList) bad(name string, want outcome, file string) {
	l.vectors = append(l.vectors, scopeVector{Name: name, content: text(file), outcome: want})
}

// pair is the scope that most vectors mutate: two bound leaves.
func pair() *scope {
	return newScope("batch_g1", bound("node_a", "node.reboot", reboot("kernel CVE")),
		bound("bmc:node_site1/10.0.7.12", "bmc.power", bmcPower("10.0.7.12", powerCycle)))
}

// one is the shortest scope of a bound leaf.
func one() *scope { return newScope("batch_g1", bound("node_a", "node.reboot", reboot("x"))) }

// scopeFiles is scope files and bare arrays, good or refused by one rule of WIRE.md §5, §2 or §7. What a file's trust
// domain, window and policy make of it is in scope-policy.json.
func scopeFiles() any {
	var l scopeList
	l.wellFormed()
	l.syntax()
	l.encoding()
	l.members()
	l.numbers()
	l.strings()
	l.freeTexts()
	l.header()
	l.claims()
	l.bareArrays()
	l.leafForms()
	l.subjectForms()
	l.payloadRules()
	l.duplicates()
	l.sizes()
	l.indexes()
	return l.vectors
}

func (l *scopeList) wellFormed() {
	l.ok("two bound leaves", pair())
	l.ok("in hash order with leaf indexes", pair().ordered())
	l.ok("one unbound leaf", newScope("batch_g1", unbound("node_a", "node.reboot")))
	l.ok("a digest without its payload", newScope("batch_g1", digestOnly("node_a", "node.reboot", sum(reboot("x")))))
	l.ok("an empty payload", newScope("batch_g1", bound("node_a", "node.inspect", nil)))
	l.ok("a leaf of every kind", newScope("batch_g1", everyKind()...))
	l.ok("one subject, two kinds", newScope("batch_g1", bound("node_a", "node.reboot", reboot("x")), bound("node_a", "node.wipe", wipe())))
	l.ok("one subject and kind, two payloads", newScope("batch_g1", bound("node_a", "node.reboot", reboot("x")), bound("node_a", "node.reboot", reboot("y"))))
	l.ok("one subject and kind, bound and unbound", newScope("batch_g1", bound("node_a", "node.reboot", reboot("x")), unbound("node_a", "node.reboot")))
	s := pair()
	l.okText("optional members absent", s, s.del("notAfter").del("trustDomain").del("reason").del("createdBy").text())
	s = one()
	file := object{{"leaves", s.list()}}
	for i := len(s.head) - 1; i >= 0; i-- {
		file = append(file, s.head[i])
	}
	l.okText("members in reverse order, leaves first", s, file.String())
	s = one()
	l.okText("leaf members in another order", s, edit(s.text(), s.leaves[0].String(),
		object{s.leaves[0][3], s.leaves[0][2], s.leaves[0][1], s.leaves[0][0]}.String()))
	l.okText("value before typeUrl", s, edit(s.text(), `"typeUrl":"`+typeURL("node.reboot")+`",`+valueMember(reboot("x")),
		valueMember(reboot("x"))+`,"typeUrl":"`+typeURL("node.reboot")+`"`))
	l.okText("no payloadSha256 beside a payload", s, edit(s.text(), `"payloadSha256":"`+hexOf(sum(reboot("x")))+`",`, ""))
	u := newScope("batch_g1", unbound("node_a", "node.reboot"))
	l.okText("no payloadSha256 on an unbound leaf", u, edit(u.text(), `,"payloadSha256":""`, ""))
	l.okText("white space of every kind", s, " \t\r\n"+strings.NewReplacer("{", "{\r\n\t", "}", " \n}", ":", " : ", ",", " ,\t").Replace(s.text())+"\r\n \t\n")
	l.okText("no final newline", s, strings.TrimSpace(s.text()))
}

func valueMember(value []byte) string { return `"value":"` + b64(value) + `"` }

func everyKind() []leaf {
	return []leaf{
		bound("node_a", "node.reboot", reboot("x")), bound("node_a", "node.reimage", reimage("ubuntu-24.04")),
		bound("node_a", "node.wipe", wipe()), bound("node_a", "node.firmware", firmware("bios", "2.19.1")),
		bound("node_a", "gpu.reset", gpuReset("0000:17:00.0")), bound("node_a", "node.inspect", str(1, "smart")),
		bound(bmcSubject, "bmc.power", bmcPower("10.0.7.12", powerCycle)),
		bound(bmcSubject, "bmc.boot", msg(str(1, "10.0.7.12"), sub(3, str(1, "pxe")))),
		bound(bmcSubject, "bmc.rotate", msg(str(1, "10.0.7.12"), sub(4, str(1, "admin")))),
		bound(bmcSubject, "bmc.sensors", bmcSensors("10.0.7.12")),
		bound("node:node_b", "site.httpProxy", httpProxy("node_b", "POST", "/apply", "x")),
	}
}
