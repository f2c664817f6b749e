package main

import (
	"fmt"
	"strconv"
	"strings"
)

func (l *scopeList) duplicates() {
	twice := refused("INVALID_INPUT duplicate-leaf")
	a := bound("node_a", "node.reboot", reboot("x"))
	for name, leaves := range named[[]leaf](
		"the same leaf twice", []leaf{a, a},
		"the same leaf with and without its payload", []leaf{a, digestOnly("node_a", "node.reboot", sum(reboot("x")))},
		"the same digest twice", []leaf{digestOnly("node_a", "node.reboot", sum(reboot("x"))), digestOnly("node_a", "node.reboot", sum(reboot("x")))},
		"the same unbound leaf twice", []leaf{unbound("node_a", "node.reboot"), unbound("node_a", "node.reboot")},
		"the same empty payload twice", []leaf{bound("node_a", "node.inspect", nil), bound("node_a", "node.inspect", nil)},
	) {
		l.bad(name, twice, newScope("batch_g1", leaves...).text())
	}
	derived := newScope("batch_g1", a, a)
	derived.leaves[1].del("payloadSha256")
	l.bad("the same leaf, its digest once derived", twice, derived.text())
	apart := newScope("batch_g1", a, bound("node_b", "node.wipe", wipe()), unbound("node_c", "node.wipe"), a)
	l.bad("the same leaf, others between", twice, apart.text())
}

// sizes is files at the limits of WIRE.md §2 and §5, and one over each.
func (l *scopeList) sizes() {
	tooLarge, tooMany := refused("INVALID_INPUT payload-too-large"), refused("INVALID_INPUT too-many-leaves")
	l.ok("a payload of 65,536 bytes", newScope("batch_g1", bound("node_a", "node.reimage", sized(65_536))))
	l.bad("a payload of 65,537 bytes", tooLarge, newScope("batch_g1", bound("node_a", "node.reimage", sized(65_537))).text())
	l.many("8,388,608 payload bytes", ok, 2048, sized(4096))
	l.many("8,388,608 payload bytes and 4,096 more", tooLarge, 2049, sized(4096))
	l.many("50,000 leaves", ok, 50_000, nil)
	l.many("bare array: 50,000 leaves", ok, 50_000, nil)
	l.many("bare array: 50,001 leaves", tooMany, 50_001, nil)
	l.many("50,001 leaves under a scopeSize of 50,000", tooMany, 50_001, nil)
	file := one().text()
	l.padded("64 MiB", ok, file, 64<<20)
	l.padded("64 MiB and a byte", invalid, file, 64<<20+1)
}

// sized is a ReimageRequest of n bytes.
func sized(n int) []byte {
	head := str(1, "ubuntu")
	for room := n - len(head); ; room-- {
		if b := append(head, str(5, rep("x", room))...); len(b) == n {
			return b
		}
	}
}

// many is a scope of count leaves that differ in their subject, with one payload, or none and so unbound.
func (l *scopeList) many(name string, want outcome, count int, value []byte) {
	var leaves []leaf
	for i := range count {
		v := unbound(fmt.Sprintf("n%06d", i), "node.reimage")
		if value != nil {
			v = bound(v.subject, v.kind, value)
		}
		leaves = append(leaves, v)
	}
	s := newScope("batch_g1", leaves...)
	if count > 50_000 {
		s.set("scopeSize", "50000")
	}
	unit := leaves[0].object()
	unit.set("subject", `"n%06d"`)
	r := repeat{Unit: unit.String(), Sep: ",\n", Count: count, Head: strings.TrimSuffix(s.head.String(), "}") + ",\"leaves\":[\n", Tail: "\n]}\n"}
	v := scopeVector{Name: name, content: content{Repeat: &r}, outcome: want}
	if strings.HasPrefix(name, "bare array") {
		v.Batch, r.Head, r.Tail = "batch_g1", "[", "]"
	}
	if want == ok {
		v.Root, v.Size, v.Unbound = hexOf(s.root), s.size, s.unbound
	}
	l.vectors = append(l.vectors, v)
}

// padded is a file with white space after it up to a number of bytes.
func (l *scopeList) padded(name string, want outcome, file string, bytes int) {
	l.repeat(name, want, repeat{Head: file, Unit: " ", Count: bytes - len(file)})
	if want == ok {
		v := &l.vectors[len(l.vectors)-1]
		v.Root, v.Size = hexOf(one().root), 1
	}
}

// indexes is what the leaves do not give: another root, size or leaf index.
func (l *scopeList) indexes() {
	mismatch := refused("SCOPE_MISMATCH")
	l.bad("the root of another scope", mismatch, pair().set("scopeRoot", `"`+hexOf(one().root)+`"`).text())
	l.bad("a bit of the root flipped", mismatch, pair().set("scopeRoot", `"`+flip(hexOf(pair().root))+`"`).text())
	l.bad("the root under another batch id", mismatch, pair().set("batchId", `"batch_g2"`).text())
	l.bad("the root of the leaves in reverse hash order", mismatch, reverseOrderRoot())
	l.bad("a leaf more than scopeSize", mismatch, pair().set("scopeSize", "1").text())
	l.bad("a leaf fewer than scopeSize", mismatch, pair().set("scopeSize", "3").text())
	l.bad("scopeSize 50,000", mismatch, pair().set("scopeSize", "50000").text())
	l.ok("a leaf index on one leaf only", pair().leaf(0, "leafIndex", strconv.Itoa(place(pair(), 0))))
	l.bad("leaf indexes exchanged", mismatch, pair().ordered().leaf(0, "leafIndex", "1").leaf(1, "leafIndex", "0").text())
	l.bad("one leaf index twice", mismatch, pair().ordered().leaf(1, "leafIndex", "0").text())
	l.bad("a leaf index at the size", mismatch, pair().ordered().leaf(1, "leafIndex", "2").text())
	l.bad("a leaf index of 2^53-1", mismatch, pair().ordered().leaf(1, "leafIndex", "9007199254740991").text())
	l.bad("a leaf index one over 32 bits", mismatch, pair().ordered().leaf(0, "leafIndex", "4294967296").text())
}

// place gives the place in hash order of a leaf as listed.
func place(s *scope, listed int) int {
	for i, at := range s.order {
		if at == listed {
			return i
		}
	}
	panic("no such leaf")
}

// reverseOrderRoot is a scope whose root was computed over descending leaf hashes.
func reverseOrderRoot() string {
	leaves := []leaf{bound("node_a", "node.reboot", reboot("x")), bound("node_b", "node.reboot", reboot("x")), bound("node_c", "node.reboot", reboot("x"))}
	s := newScope("batch_g1", leaves...)
	var hashes [][]byte
	for i := range s.order {
		v := leaves[s.order[len(s.order)-1-i]]
		hashes = append(hashes, leafHash("batch_g1", v.subject, v.kind, v.digest))
	}
	return s.set("scopeRoot", `"`+hexOf(treeHash(hashes))+`"`).text()
}
