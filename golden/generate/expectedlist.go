package main

import "slices"

type expectedVector struct {
	Name  string `json:"name"`
	Scope string `json:"scope"` // the name of the scope
	content
	outcome
	Missing    []string `json:"missing,omitempty"`    // subjects
	Unexpected []string `json:"unexpected,omitempty"` // subjects
	Doubled    []string `json:"doubled,omitempty"`    // subjects
}

type namedScope struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// A difference is what a scope holds otherwise than a list says, as subjects.
type difference struct{ missing, unexpected, doubled []string }

type expectedList struct {
	scope   string
	vectors []expectedVector
}

// add takes a list; the reason is given where only one kind of difference is there.
func (l *expectedList) add(name, file string, d difference) {
	want := ok
	var reasons []string
	for _, r := range []struct {
		reason   string
		subjects []string
	}{{"expect-missing", d.missing}, {"expect-unexpected", d.unexpected}, {"expect-doubled", d.doubled}} {
		if len(r.subjects) > 0 {
			reasons = append(reasons, r.reason)
			slices.Sort(r.subjects)
		}
	}
	switch len(reasons) {
	case 0:
	case 1:
		want = refused("SCOPE_UNEXPECTED " + reasons[0])
	default:
		want = refused("SCOPE_UNEXPECTED")
	}
	l.vectors = append(l.vectors, expectedVector{name, l.scope, text(file), want, d.missing, d.unexpected, d.doubled})
}

func (l *expectedList) bad(name, file string) {
	l.vectors = append(l.vectors, expectedVector{Name: name, Scope: l.scope, content: text(file), outcome: invalid})
}

const bmcNode = "bmc:node_site1/10.0.7.12"

// expectedLists is lists of what a batch should hold (--expect, WIRE.md §5) against two scopes.
func expectedLists() any {
	plain := newScope("batch_g1", bound("node_a", "node.reboot", reboot("x")), bound("node_b", "node.reboot", reboot("x")),
		bound(bmcNode, "bmc.power", bmcPower("10.0.7.12", powerCycle)))
	twice := newScope("batch_g1", bound("node_a", "node.reboot", reboot("x")), bound("node_a", "node.reboot", reboot("y")),
		bound("node_b", "node.reboot", reboot("x")), bound("node_b", "node.wipe", wipe()), bound("node_c", "node.wipe", wipe()))
	l := &expectedList{scope: "plain"}
	l.lines()
	l.subjects()
	l.entries()
	l.refusedLists()
	l.scope = "twice"
	l.twice()
	return struct {
		Scopes  []namedScope     `json:"scopes"`
		Vectors []expectedVector `json:"vectors"`
	}{[]namedScope{{"plain", plain.text()}, {"twice", twice.text()}}, l.vectors}
}

func (l *expectedList) lines() {
	l.add("lines", "node_a\nnode_b\n"+bmcNode+"\n", difference{})
	l.add("lines in another order, no final newline", bmcNode+"\nnode_b\nnode_a", difference{})
	l.add("lines, comments, blank lines", "# the fleet\n\nnode_a\n#node_x\nnode_b\n\n"+bmcNode+"\n\n", difference{})
	l.add("a line twice", "node_a\nnode_a\nnode_b\n"+bmcNode+"\n", difference{})
	l.add("lines, one missing", "node_a\nnode_b\n"+bmcNode+"\nnode_z\n", difference{missing: []string{"node_z"}})
	l.add("lines, one unexpected", "node_a\nnode_b\n", difference{unexpected: []string{bmcNode}})
	l.add("lines, one for another", "node_a\nnode_b\nbmc:node_site1/10.0.7.13\n",
		difference{missing: []string{"bmc:node_site1/10.0.7.13"}, unexpected: []string{bmcNode}})
	l.add("lines, in other letter case", "node_A\nnode_b\n"+bmcNode+"\n", difference{missing: []string{"node_A"}, unexpected: []string{"node_a"}})
}

func (l *expectedList) subjects() {
	l.add("subjects in JSON", `["node_a","node_b","`+bmcNode+`"]`, difference{})
	l.add("subjects in JSON, white space", "\n [ \"node_a\" ,\t\"node_b\",\r\n\""+bmcNode+"\" ] \n", difference{})
	l.add("subjects in JSON, one twice", `["node_a","node_a","node_b","`+bmcNode+`"]`, difference{})
	l.add("subjects in JSON, one missing", `["node_a","node_b","node_z","`+bmcNode+`"]`, difference{missing: []string{"node_z"}})
	l.add("subjects in JSON, two unexpected", `["node_a"]`, difference{unexpected: []string{"node_b", bmcNode}})
}

// expected is an entry { subject, kind } with a digest where one is given.
func expected(subject, kind string, digest ...byte) string {
	o := object{{"subject", quote(subject)}, {"kind", quote(kind)}}
	if len(digest) > 0 {
		o = append(o, member{"payloadSha256", `"` + hexOf(digest) + `"`})
	}
	return o.String()
}

func (l *expectedList) entries() {
	a, b, c := expected("node_a", "node.reboot"), expected("node_b", "node.reboot"), expected(bmcNode, "bmc.power")
	digest := func(subject, reason string) string { return expected(subject, "node.reboot", sum(reboot(reason))...) }
	l.add("entries", lines([]string{a, b, c}), difference{})
	l.add("entries with digests", lines([]string{digest("node_a", "x"), digest("node_b", "x"), c}), difference{})
	l.add("entries, a digest null", lines([]string{edit(a, "}", `,"payloadSha256":null}`), b, c}), difference{})
	l.add("entries, one missing", lines([]string{a, b, c, expected("node_z", "node.reboot")}), difference{missing: []string{"node_z"}})
	l.add("entries, one unexpected", lines([]string{a, b}), difference{unexpected: []string{bmcNode}})
	l.add("entries, one listed twice", lines([]string{a, a, b, c}), difference{missing: []string{"node_a"}})
	l.add("entries, another kind", lines([]string{expected("node_a", "node.wipe"), b, c}),
		difference{missing: []string{"node_a"}, unexpected: []string{"node_a"}})
	l.add("entries, another digest", lines([]string{digest("node_a", "y"), b, c}), difference{missing: []string{"node_a"}, unexpected: []string{"node_a"}})
}

func (l *expectedList) refusedLists() {
	a := expected("node_a", "node.reboot")
	l.bad("a line that is no subject", "node_a\nnode b\n")
	l.bad("a line with a comment after it", "node_a # the first\n")
	l.bad("lines not UTF-8", "node_a\nnode_\xff\n")
	l.bad("an address with leading zeros", "bmc:node_site1/010.0.7.12\n")
	l.bad("a kind without entry", `["node_a",{"kind":"node.reboot"}]`)
	l.bad("an entry without kind", `[{"subject":"node_a"}]`)
	l.bad("an entry without subject", `[{"kind":"node.reboot"}]`)
	l.bad("an entry that is a number", "[1]")
	l.bad("an entry that is null", "["+a+",null]")
	l.bad("unknown member", "["+edit(a, "}", `,"note":"x"}`)+"]")
	l.bad("a member twice", "["+edit(a, `"kind"`, `"kind":"node.reboot","kind"`)+"]")
	l.bad("letter case of a member", "["+edit(a, `"kind"`, `"Kind"`)+"]")
	l.bad("an escape in a subject", `["node\u005fa"]`)
	l.bad("a subject that is none", `["node a"]`)
	l.bad("a kind that is none", "["+expected("node_a", "reboot")+"]")
	l.bad("a digest in upper case", "["+edit(a, "}", `,"payloadSha256":"`+rep("A", 64)+`"}`)+"]")
	l.bad("a digest of 63 digits", "["+edit(a, "}", `,"payloadSha256":"`+rep("a", 63)+`"}`)+"]")
	l.bad("a comma at the end", `["node_a",]`)
	l.bad("a second value", `["node_a"] ["node_b"]`)
	l.bad("cut off", `["node_a"`)
	l.bad("an object", a)
	l.bad("byte order mark", "\ufeff[\"node_a\"]")
}

// twice is lists against a scope that has two leaves of some subjects.
func (l *expectedList) twice() {
	digest := func(reason string) string { return expected("node_a", "node.reboot", sum(reboot(reason))...) }
	rest := []string{expected("node_b", "node.reboot"), expected("node_b", "node.wipe"), expected("node_c", "node.wipe")}
	reboots := expected("node_a", "node.reboot")
	l.add("subjects with two leaves are doubled", "node_a\nnode_b\nnode_c\n", difference{doubled: []string{"node_a", "node_b"}})
	l.add("and in JSON", `["node_a","node_b","node_c"]`, difference{doubled: []string{"node_a", "node_b"}})
	l.add("and listed twice all the same", "node_a\nnode_a\nnode_b\nnode_b\nnode_c\n", difference{doubled: []string{"node_a", "node_b"}})
	l.add("entries, as often as they are there", lines(append([]string{reboots, reboots}, rest...)), difference{})
	l.add("entries, each with its digest", lines(append([]string{digest("y"), digest("x")}, rest...)), difference{})
	l.add("entries, one with and one without digest", lines(append([]string{reboots, digest("y")}, rest...)), difference{})
	l.add("entries, one without and one with digest", lines(append([]string{digest("x"), reboots}, rest...)), difference{})
	l.add("entries, one digest twice", lines(append([]string{digest("x"), digest("x")}, rest...)),
		difference{missing: []string{"node_a"}, unexpected: []string{"node_a"}})
	l.add("entries, once more than they are there", lines(append([]string{reboots, reboots, reboots}, rest...)), difference{missing: []string{"node_a"}})
	l.add("entries, one digest left out", lines(append([]string{digest("x")}, rest...)), difference{unexpected: []string{"node_a"}})
}
