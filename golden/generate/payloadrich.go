package main

import (
	"math"
	"slices"
)

func richList() *payloadList { return &payloadList{kind: richKind, subject: "node_a"} }

func richScalars() *payloadList {
	l := richList()
	l.ok("nothing")
	l.ok("every number at its largest", vint(1, math.MaxInt32), vint(2, math.MaxInt64), vint(3, math.MaxUint32), vint(4, -1),
		zigzag(5, math.MaxInt32), zigzag(6, math.MaxInt64), fixed32(7, math.MaxUint32), fixed64(8, math.MaxUint64),
		fixed32(9, math.MaxInt32), fixed64(10, math.MaxInt64), float(11, math.MaxFloat32), double(12, math.MaxFloat64), vint(13, 1))
	l.ok("every number at its smallest", vint(1, math.MinInt32), vint(2, math.MinInt64), zigzag(5, math.MinInt32),
		zigzag(6, math.MinInt64), fixed32(9, 1<<31), fixed64(10, 1<<63), float(11, -math.MaxFloat32), double(12, -math.MaxFloat64))
	l.ok("int32 -1 in ten bytes", vint(1, -1))
	l.bad("int32 -1 in five bytes", tag(1, wireVarint), varint(math.MaxUint32))
	l.bad("int32 over its range", vint(1, 1<<31))
	l.bad("int32 under its range", vint(1, -1<<31-1))
	l.bad("int32 with bits over 32", vint(1, 1<<32+1))
	l.bad("int64 overlong", tag(2, wireVarint), overlong(1))
	l.bad("uint32 over its range", vint(3, 1<<32))
	l.bad("sint32 over its range", zigzag(5, 1<<31))
	l.bad("sint32 under its range", zigzag(5, -1<<31-1))
	for i, name := range []string{"int32", "int64", "uint32", "uint64", "sint32", "sint64"} {
		l.bad("default "+name+" written", vint(i+1, 0))
	}
	for _, number := range []int{7, 9} {
		l.bad("default fixed32 written, field "+string(rune('0'+number)), fixed32(number, 0))
	}
	l.bad("default fixed64 written", fixed64(8, 0))
	l.bad("default sfixed64 written", fixed64(10, 0))
	l.ok("float -0, which is no default", float(11, float32(math.Copysign(0, -1))))
	l.ok("double -0, which is no default", double(12, math.Copysign(0, -1)))
	l.ok("NaN with a payload", fixed32(11, 0x7fc00001), fixed64(12, 0xfff8000000000001))
	l.ok("infinities", float(11, float32(math.Inf(1))), double(12, math.Inf(-1)))
	l.bad("default float written", float(11, 0))
	l.bad("default double written", double(12, 0))
	l.bad("fixed32 cut off", tag(7, wire32), []byte{1, 0, 0})
	l.bad("fixed64 cut off", tag(8, wire64), []byte{1, 0, 0, 0, 0, 0, 0})
	l.bad("varint for fixed32", vint(7, 1))
	l.bad("fixed64 for fixed32", fixed64(7, 1))
	l.bad("float twice", float(11, 1), float(11, 1))
	l.ok("negative enum with a name, in ten bytes", vint(14, -1))
	l.bad("negative enum in five bytes", tag(14, wireVarint), varint(math.MaxUint32))
	l.bad("enum without a name", vint(14, 2))
	l.bad("default enum written", vint(14, 0))
	l.ok("optional at its default", vint(17, 0))
	l.bad("optional twice", vint(17, 0), vint(17, 1))
	return l
}

func richTexts() *payloadList {
	l := richList()
	l.ok("string and bytes", str(15, "é"), sub(16, []byte{0xff}))
	l.bad("string not UTF-8", str(15, "\xe9"))
	l.bad("default string written", str(15, ""))
	l.bad("default bytes written", sub(16))
	l.bad("Any", sub(31, str(1, typePrefix+"acme.v1.Rich")))
	l.bad("empty Any", sub(31))
	l.bad("unknown field after all", sub(31+1))
	return l
}

func richRepeated() *payloadList {
	l := richList()
	chunk := func(number int, values ...int64) []byte {
		var b []byte
		for _, v := range values {
			b = append(b, varint(uint64(v))...)
		}
		return sub(number, b)
	}
	l.ok("packed, zero and negative elements", chunk(18, 0, 1, -1, math.MinInt32))
	l.ok("one packed element", chunk(18, 7))
	l.bad("packed field not packed", vint(18, 1), vint(18, 2))
	l.bad("one element not packed", vint(18, 1))
	l.bad("two chunks", chunk(18, 1), chunk(18, 2))
	l.bad("empty chunk", chunk(18))
	l.bad("chunk and element", chunk(18, 1), vint(18, 2))
	l.bad("element overlong", sub(18, overlong(1)))
	l.bad("element over its range", chunk(18, 1<<31))
	l.bad("negative element in five bytes", sub(18, varint(math.MaxUint32)))
	l.bad("element cut off", sub(18, []byte{1, 0x80}))
	l.ok("packed=false, not packed", vint(19, 0), vint(19, -1))
	l.bad("packed=false, packed", chunk(19, 1, 2))
	l.bad("packed=false, torn apart", vint(19, 1), chunk(20+2, 1), vint(19, 1))
	l.ok("packed fixed32", sub(20, []byte{1, 0, 0, 0, 0, 0, 0, 0}))
	l.bad("packed fixed32 cut off", sub(20, []byte{1, 0, 0, 0, 2}))
	l.ok("packed enums", chunk(21, 0, 1, -1))
	l.bad("packed enum without a name", chunk(21, 0, 2))
	l.ok("packed bools", chunk(22, 0, 1))
	l.bad("packed bool 2", chunk(22, 1, 2))
	l.bad("packed bool overlong", sub(22, overlong(1)))
	return l
}

func richNested() *payloadList {
	l := richList()
	// levels gives a payload of n levels, itself the first.
	levels := func(n int) []byte {
		var b []byte
		for range n - 1 {
			b = sub(23, b)
		}
		return b
	}
	l.ok("an empty message", sub(23))
	l.ok("empty messages in a list", sub(24), sub(24))
	l.ok("32 levels", levels(32))
	l.bad("33 levels", levels(33))
	l.bad("500 levels", levels(500))
	l.bad("33 levels in a list", sub(24, levels(32)))
	l.bad("33 levels in a map", sub(26, str(1, "k"), sub(2, levels(32))))
	l.bad("default written two levels down", sub(23, sub(23, vint(1, 0))))
	l.bad("unknown field in a list's message", sub(24), sub(24, vint(99, 1)))
	l.bad("message in two pieces", sub(23, vint(1, 1)), sub(23, vint(2, 1)))
	l.bad("length of an inner message past the outer", sub(23, tag(23, wireBytes), varint(5)))
	return l
}

func richMaps() *payloadList {
	l := richList()
	pair := func(number int, key, value []byte) []byte { return sub(number, key, value) }
	l.ok("numbers, default key and value written", pair(25, vint(1, 0), str(2, "")), pair(25, vint(1, -1), str(2, "x")))
	l.ok("messages, an empty one written", pair(26, str(1, "b"), sub(2)), pair(26, str(1, "a"), sub(2, vint(1, 1))))
	l.ok("both bools, enums", pair(30, vint(1, 1), vint(2, -1)), pair(30, vint(1, 0), vint(2, 0)))
	l.bad("default key left out", sub(25, str(2, "x")))
	l.bad("default message left out", sub(26, str(1, "a")))
	l.bad("a number twice", pair(25, vint(1, 5), str(2, "x")), pair(25, vint(1, 5), str(2, "y")))
	l.bad("a number twice, once in five bytes", pair(25, vint(1, -1), str(2, "x")),
		sub(25, tag(1, wireVarint), varint(math.MaxUint32), str(2, "y")))
	l.bad("bool key 2", pair(30, vint(1, 2), vint(2, 0)))
	l.bad("enum value without a name", pair(30, vint(1, 1), vint(2, 2)))
	l.bad("default written inside a map's message", pair(26, str(1, "a"), sub(2, vint(1, 0))))
	l.bad("key overlong", sub(25, tag(1, wireVarint), overlong(5), str(2, "x")))
	var many, again [][]byte
	for i := range int64(300) {
		many = append(many, pair(25, vint(1, i*7919%300), str(2, "v")))
	}
	again = append(slices.Clone(many), pair(25, vint(1, 150), str(2, "v")))
	l.ok("300 keys in no order", many...)
	l.bad("300 keys and one again", again...)
	return l
}

func richOneofs() *payloadList {
	l := richList()
	l.ok("oneof member at its default: string", str(27, ""))
	l.ok("oneof member at its default: number", vint(28, 0))
	l.ok("oneof member at its default: message", sub(29))
	l.bad("two members", str(27, "x"), vint(28, 1))
	l.bad("two members, both at their defaults", vint(28, 0), sub(29))
	l.bad("a member twice", str(27, "x"), str(27, "x"))
	l.bad("oneof order: a member before a lower field", str(27, "x"), sub(26, str(1, "a"), sub(2)))
	l.bad("oneof order: a member after a higher field, as Go writes it", sub(30, vint(1, 1), vint(2, 1)), str(27, "x"))
	return l
}
