package kinds

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/wire"
)

// caseKind has one field for each rule of the canonical form.
func caseKind(t testing.TB) *Kind {
	m := newMessage("Case")
	m.add("b", 1, "bool").add("i", 2, "int32").add("u", 3, "uint32").add("s", 4, "sint32").add("l", 5, "int64")
	m.add("f", 6, "float").add("x", 7, "fixed64").add("text", 8, "string").add("raw", 9, "bytes")
	m.add("list", 10, "int32", repeated).add("singly", 11, "int32", loose).add("names", 12, "string", repeated)
	m.addMap("m", 13, "string", "int32").add("flag", 14, "bool", optional)
	m.add("left", 15, "string", m.in("side")).add("middle", 16, "bool").add("right", 17, ".test.Case", m.in("side"))
	m.add("color", 18, "enum .test.Color").add("any", 19, ".google.protobuf.Any").add("child", 20, ".test.Case")
	m.addMap("cases", 21, "int32", ".test.Case").add("colors", 22, "enum .test.Color", repeated)
	return testKind(t, build(t, m))
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// nested gives a payload of that many levels of Case.child.
func nested(levels int) string {
	b := []byte{}
	for range levels - 1 {
		b = append(protowire.AppendVarint([]byte{0xa2, 0x01}, uint64(len(b))), b...)
	}
	return hex.EncodeToString(b)
}

// The refusals of the canonical form (WIRE.md §7), one a case: the bytes, the field and the cause the message names.
var refusals = []struct{ name, payload, field, why string }{
	{"unknown field", "0801 f80701", "127", "unknown to test.Case"},
	{"unknown field between known", "0801 ca01 00 e001 01", "25", "unknown"},
	{"unknown field at depth", "a20106 a20103 f80701", "child.child.127", "unknown to test.Case"},
	{"unknown field inside a oneof", "8a0103 f80701", "right.127", "unknown to test.Case"},
	{"unknown field inside a map value", "aa0107 0801 1203 f80701", "cases.value.127", "unknown to test.Case"},
	{"field number zero", "00 01", "", "field number 0"},
	{"field number over 2^29-1", "8080808010 01", "", "field number 536870912"},
	{"wire type fixed32 for a bool", "0d01000000", "b", "wire type fixed32; wanted: varint"},
	{"wire type length-delimited for a bool", "0a0101", "b", "wire type length-delimited; wanted: varint"},
	{"wire type varint for a string", "4001", "text", "wire type varint; wanted: length-delimited"},
	{"wire type fixed32 for a fixed64", "3d01000000", "x", "wire type fixed32; wanted: fixed64"},
	{"wire type 6", "0e", "b", "wire type 6"},
	{"wire type 7", "0f", "b", "wire type 7"},
	{"group", "a301 a401", "20", "is a group"},
	{"end of a group", "a401", "20", "is a group"},
	{"unknown group", "fb07 fc07", "127", "is a group"},
	{"any", "9a0100", "any", "google.protobuf.Any"},
	{"enum without a name", "900102", "color", "2, which has no name in test.Color"},
	{"enum without a name over 63", "900141", "color", "65, which has no name"},
	{"enum without a name below zero", "9001 feffffffffffffffff01", "color", "-2, which has no name"},
	{"enum without a name in a list", "b20102 0102", "colors", "2, which has no name"},
	{"enum -1 in five bytes", "9001 ffffffff0f", "color", "ten bytes"},
	{"order", "1001 0801", "b", "stands after i; fields ascend by number"},
	{"order of a oneof", "800101 7a0178", "left", "stands after middle: oneof order"},
	{"singular field twice", "0801 0801", "b", "stands twice"},
	{"singular field twice, not adjacent", "0801 1001 0801", "b", "stands after i"},
	{"singular message twice", "a20100 a20100", "child", "stands twice"},
	{"string twice", "420161 420161", "text", "stands twice"},
	{"optional field twice", "7000 7000", "flag", "stands twice"},
	{"two members of a oneof", "7a0178 8a0100", "right", "a second member of the oneof side"},
	{"the same member of a oneof twice", "7a0178 7a0178", "left", "stands twice"},
	{"varint not minimal", "10 8100", "i", "not minimal"},
	{"varint zero in two bytes", "7a0178 800180 00", "middle", "not minimal"},
	{"tag not minimal", "8800 01", "", "has a tag that is a varint that is not minimal"},
	{"length not minimal", "42 8100 61", "text", "a length that is a varint that is not minimal"},
	{"varint over 64 bits", "28 ffffffffffffffffff02", "l", "over 64 bits"},
	{"varint of eleven bytes", "28 ffffffffffffffffffff01", "l", "over 64 bits"},
	{"bool of 2", "0802", "b", "2, out of the range of bool"},
	{"uint32 of 2^32", "18 8080808010", "u", "out of the range of uint32"},
	{"sint32 of 2^32", "20 8080808010", "s", "out of the range of sint32"},
	{"int32 of 2^31", "10 8080808008", "i", "out of the range of int32"},
	{"int32 -1 in five bytes", "10 ffffffff0f", "i", "out of the range of int32"},
	{"default bool", "0800", "b", "at its default"},
	{"default int32", "1000", "i", "at its default"},
	{"default float", "35 00000000", "f", "at its default"},
	{"default fixed64", "39 0000000000000000", "x", "at its default"},
	{"default string", "4200", "text", "at its default"},
	{"default bytes", "4a00", "raw", "at its default"},
	{"default enum", "900100", "color", "at its default"},
	{"empty packed chunk", "5200", "list", "empty packed chunk"},
	{"two packed chunks", "520101 520102", "list", "two packed chunks"},
	{"packable not packed", "5001", "list", "one packed chunk"},
	{"packed against packed=false", "5a0101", "singly", "wire type length-delimited; wanted: varint"},
	{"repeated string, then again", "620161 7001 620162", "names", "stands after flag"},
	{"packed element cut off", "52020181", "list", "cut off"},
	{"packed element beyond its chunk", "520181 01", "list", "cut off"},
	{"packed element not minimal", "5202 8000", "list", "not minimal"},
	{"map entry without key", "6a02 1001", "m", "its key is wanted"},
	{"map entry without value", "6a03 0a0161", "m", "its value is wanted"},
	{"map entry, value first", "6a05 1001 0a0161", "m", "its key is wanted"},
	{"map entry, key twice", "6a08 0a0161 0a0161 1001", "m", "its value is wanted"},
	{"map entry, value twice", "6a07 0a0161 1001 1001", "m", "more than its key and its value"},
	{"map entry, unknown field", "6a07 0a0161 1001 1801", "m", "more than its key and its value"},
	{"map entry, empty", "6a00", "m", "its key is wanted"},
	{"map key twice", "6a05 0a01611001 6a05 0a01611002", "m", "a map key twice"},
	{"map key twice, not adjacent", "6a05 0a01611001 6a05 0a01621001 6a05 0a01611001", "m", "a map key twice"},
	{"map key not UTF-8", "6a05 0a01ff1001", "m.key", "not UTF-8"},
	{"map value out of range", "6a09 0a0161 10 8080808008", "m.value", "out of the range of int32"},
	{"string not UTF-8", "4201ff", "text", "not UTF-8"},
	{"string with a surrogate", "4203 eda080", "text", "not UTF-8"},
	{"repeated string not UTF-8", "620161 6201c0", "names", "not UTF-8"},
	{"length beyond the end", "420261", "text", "2 bytes by its length, but 1 are left"},
	{"length of 2^63", "42 80808080808080808001 61", "text", "by its length"},
	{"length beyond its message", "a20103 420261 61", "child.text", "2 bytes by its length, but 1 are left"},
	{"fixed32 cut off", "35 000000", "f", "cut off"},
	{"fixed64 cut off", "39 00000000000000", "x", "cut off"},
	{"tag cut off", "0801 80", "", "a tag that is cut off"},
	{"varint cut off", "08", "b", "cut off"},
	{"33 levels", nested(33), strings.TrimSuffix(strings.Repeat("child.", 32), "."), "deeper than 32 levels"},
}

func TestRefusalsOfTheCanonicalForm(t *testing.T) {
	k := caseKind(t)
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			payload := unhex(t, c.payload)
			err := k.Walk(payload, new(Walked))
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
			require.Equal(t, "payload-unknown-fields", wire.ReasonOf(err))
			require.Regexp(t, `test\.kind.*\(byte \d+\)$`, err.Error())
			require.Contains(t, err.Error(), c.why)
			details := err.(*wire.Error).Details
			require.Equal(t, c.field, details["field"])
			require.LessOrEqual(t, details["offset"], len(payload))
			_, err = k.Decode(payload)
			require.Error(t, err)
		})
	}
}

func TestAcceptedForms(t *testing.T) {
	k := caseKind(t)
	for name, payload := range map[string]string{
		"empty":                               "",
		"int32 -1 in ten bytes":               "10 ffffffffffffffffff01",
		"enum -1 in ten bytes":                "9001 ffffffffffffffffff01",
		"enum over 63":                        "9001 e807",
		"float -0":                            "35 00000080",
		"optional at its default":             "7000",
		"oneof string at its default":         "7a00",
		"oneof message, empty":                "8a0100",
		"oneof members in number order":       "7a0178 800101",
		"oneof after a field of lower number": "800101 8a0100",
		"list with a default":                 "520100",
		"list of packed=false":                "5801 5800 5801",
		"list of empty strings":               "6200 6200",
		"map with defaults":                   "6a04 0a00 1000",
		"map out of order":                    "6a05 0a01621001 6a05 0a01611001",
		"map of empty messages":               "aa0104 0800 1200",
		"empty child":                         "a20100",
		"32 levels":                           nested(32),
		"uint32 at its most":                  "18 ffffffff0f",
		"int64 -1":                            "28 ffffffffffffffffff01",
	} {
		require.NoError(t, k.Walk(unhex(t, payload), new(Walked)), name)
	}
}

func TestOffsetsPointAtTheByte(t *testing.T) {
	k := caseKind(t)
	for payload, offset := range map[string]int{
		"0801 f80701":                     2,
		"0801 a20105 1001 a2010108":       9,
		"0801 aa0107 0801 1203 f80701 00": 9,
	} {
		err := k.Walk(unhex(t, payload), new(Walked))
		require.Error(t, err)
		require.Equal(t, offset, err.(*wire.Error).Details["offset"], "%s: %v", payload, err)
	}
}

func TestManyOneofs(t *testing.T) {
	m := newMessage("Wide")
	for i := range 130 {
		m.add(fmt.Sprintf("a%d", i), i+1, "bool", m.in(fmt.Sprintf("o%d", i)))
		m.add(fmt.Sprintf("b%d", i), i+1001, "bool", m.in(fmt.Sprintf("o%d", i)))
	}
	k := testKind(t, build(t, m))
	var all []byte
	for i := range 130 {
		all = protowire.AppendVarint(protowire.AppendTag(all, protowire.Number(i+1), protowire.VarintType), 1)
	}
	require.NoError(t, k.Walk(all, new(Walked)))
	for i := range 130 {
		second := protowire.AppendVarint(protowire.AppendTag(all[:len(all):len(all)], protowire.Number(i+1001), protowire.VarintType), 1)
		require.ErrorContains(t, k.Walk(second, new(Walked)), fmt.Sprintf("second member of the oneof o%d ", i))
	}
}

func TestManyMapKeys(t *testing.T) {
	k := caseKind(t)
	var payload []byte
	for i := range 5000 {
		entry := append([]byte{0x0a, 4}, fmt.Sprintf("%04d", (i*7)%5000)...)
		payload = protowire.AppendBytes(append(payload, 0x6a), append(entry, 0x10, 1))
	}
	var w Walked
	require.NoError(t, k.Walk(payload, &w))
	require.Zero(t, testing.AllocsPerRun(5, func() { _ = k.Walk(payload, &w) }))
	payload = append(payload, payload[:10]...)
	require.ErrorContains(t, k.Walk(payload, &w), "map key twice")
}
