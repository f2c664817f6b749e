package main

import "slices"

type payloadVector struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Value   string `json:"value"` // base64
	outcome
}

// unclear is how a payload that is not canonical is refused.
var unclear, foreign = refused("INVALID_INPUT payload-unknown-fields"), refused("INVALID_INPUT payload-subject")

// A payloadList collects vectors of one kind and subject.
type payloadList struct {
	kind, subject string
	vectors       []payloadVector
}

func (l *payloadList) add(want outcome, name string, fields ...[]byte) {
	l.vectors = append(l.vectors, payloadVector{l.kind + ": " + name, l.kind, l.subject, b64(msg(fields...)), want})
}

func (l *payloadList) ok(name string, fields ...[]byte)  { l.add(ok, name, fields...) }
func (l *payloadList) bad(name string, fields ...[]byte) { l.add(unclear, name, fields...) }

// payloads is payloads of every kind, canonical or not by one rule of WIRE.md §7, and the descriptor of a message with
// every type of field.
func payloads() any {
	var v []payloadVector
	for _, list := range []*payloadList{
		rebootPayloads(), reimagePayloads(), wipePayloads(), otherNodePayloads("node.firmware"), otherNodePayloads("gpu.reset"),
		otherNodePayloads("node.inspect"), powerPayloads(), bootPayloads(), rotatePayloads(), sensorsPayloads(), proxyPayloads(),
		richScalars(), richTexts(), richRepeated(), richNested(), richMaps(), richOneofs(),
	} {
		v = append(v, list.vectors...)
	}
	type richMessage struct {
		Kind          string `json:"kind"`
		TypeURL       string `json:"typeUrl"`
		Proto         string `json:"proto"`
		DescriptorSet string `json:"descriptorSet"` // base64
	}
	return struct {
		Kinds   []platformKind  `json:"kinds"`
		Rich    richMessage     `json:"rich"`
		Vectors []payloadVector `json:"vectors"`
	}{kindTable(), richMessage{richKind, richType, richProto, b64(richDescriptors())}, v}
}

func rebootPayloads() *payloadList {
	l := &payloadList{kind: "node.reboot", subject: "node_a"}
	l.ok("every field", reboot("kernel CVE"))
	l.ok("nothing, all at their defaults")
	l.ok("largest uint32", vint(2, 1<<32-1))
	l.ok("a string with a NUL", str(3, "a\x00b"))
	l.bad("unknown field", vint(1, 1), vint(127, 1))
	l.bad("the largest field number", vint(1<<29-1, 1))
	l.bad("field number over the largest", vint(1<<29, 1))
	l.bad("field number 0", vint(0, 1))
	l.bad("bool twice", vint(1, 1), vint(1, 1))
	l.bad("string twice", str(3, "a"), str(3, "b"))
	l.bad("order", vint(2, 30), vint(1, 1))
	l.bad("default bool written", vint(1, 0))
	l.bad("default number written", vint(2, 0))
	l.bad("default string written", str(3, ""))
	l.bad("bool 2", vint(1, 2))
	l.bad("bool -1", vint(1, -1))
	l.bad("uint32 over its range", vint(2, 1<<32))
	l.bad("overlong varint", tag(2, wireVarint), overlong(30))
	l.bad("overlong bool", tag(1, wireVarint), overlong(1))
	l.bad("overlong tag", overlong(2<<3), varint(30))
	l.bad("overlong length", tag(3, wireBytes), overlong(1), []byte("a"))
	l.bad("varint of eleven bytes", tag(2, wireVarint), slices.Repeat([]byte{0x80}, 10), []byte{1})
	l.bad("varint over 64 bits", tag(2, wireVarint), slices.Repeat([]byte{0xff}, 9), []byte{2})
	l.bad("varint cut off", tag(2, wireVarint), []byte{0x80})
	l.bad("tag alone", tag(2, wireVarint))
	l.bad("tag cut off", vint(1, 1), []byte{0x80})
	l.bad("length past the end", tag(3, wireBytes), varint(2), []byte("a"))
	l.bad("length of 2^63", tag(3, wireBytes), varint(1<<63))
	l.bad("fixed32 for a bool", fixed32(1, 1))
	l.bad("fixed64 for a number", fixed64(2, 1))
	l.bad("bytes for a number", str(2, "\x1e"))
	l.bad("varint for a string", vint(3, 1))
	l.bad("wire type 6", tag(2, 6), []byte{1})
	l.bad("wire type 7", tag(2, 7), []byte{1})
	l.bad("group of a known number", tag(2, wireGroup), tag(2, wireEnd))
	l.bad("group of an unknown number", tag(9, wireGroup), tag(9, wireEnd))
	l.bad("end of a group", tag(2, wireEnd))
	l.bad("string not UTF-8", str(3, "\xff"))
	l.bad("string with a surrogate", str(3, "\xed\xa0\x80"))
	l.bad("string with an overlong NUL", str(3, "\xc0\x80"))
	l.bad("string cut inside a rune", str(3, "\xe2\x82"))
	l.bad("string over U+10FFFF", str(3, "\xf4\x90\x80\x80"))
	return l
}

func reimagePayloads() *payloadList {
	l := &payloadList{kind: "node.reimage", subject: "node_a"}
	l.ok("most fields", reimage("ubuntu-24.04-gpu"))
	l.ok("user data", str(1, "i"), str(5, "#!/bin/sh\nreboot\n"))
	l.ok("empty elements of a repeated string", str(4, ""), str(4, ""))
	l.ok("bytes need not be UTF-8", sub(2, []byte{0xff, 0x00}))
	l.bad("repeated field torn apart", str(4, "/a"), str(5, "x"), str(4, "/b"))
	l.bad("default bytes written", sub(2))
	l.bad("bytes twice", sub(2, []byte{1}), sub(2, []byte{1}))
	l.bad("element not UTF-8", str(4, "/a"), str(4, "\xff"))
	l.bad("varint for an element", str(4, "/a"), vint(4, 1))
	return l
}

func wipePayloads() *payloadList {
	l := &payloadList{kind: "node.wipe", subject: "node_a"}
	l.ok("crypto erase of two", wipe())
	l.ok("all devices", vint(1, 1), vint(3, 1))
	l.bad("default enum written", vint(1, 0), vint(3, 1))
	l.bad("enum without a name", vint(1, 4))
	l.bad("negative enum without a name", vint(1, -1))
	l.bad("enum 2^32 + 1", vint(1, 1<<32+1))
	l.bad("enum overlong", tag(1, wireVarint), overlong(3))
	l.bad("enum twice", vint(1, 3), vint(1, 3))
	l.bad("enum as a packed chunk", str(1, "\x03"))
	return l
}

func otherNodePayloads(kind string) *payloadList {
	l := &payloadList{kind: kind, subject: "node_a"}
	switch kind {
	case "node.firmware":
		l.ok("bios", firmware("bios", "2.19.1"))
		l.ok("downgrade", firmware("bmc", "7.00"), vint(5, 1))
	case "gpu.reset":
		l.ok("two addresses", gpuReset("0000:17:00.0", "0000:65:00.0"))
		l.ok("all", vint(2, 1))
	case "node.inspect":
		l.ok("two collectors", str(1, "smart"), str(1, "dmidecode"))
	}
	l.ok("nothing")
	l.bad("unknown field", str(9, "x"))
	return l
}
