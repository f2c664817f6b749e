package main

// richProto is the text of the messages that richDescriptors describes: an installation's own kind, with a field of every
// type that the built-in messages lack.
const richProto = `syntax = "proto3";
package acme.v1;

import "google/protobuf/any.proto";

enum Mode { MODE_UNSPECIFIED = 0; SAFE = 1; BROKEN = -1; }

message Rich {
  int32 i32 = 1;
  int64 i64 = 2;
  uint32 u32 = 3;
  uint64 u64 = 4;
  sint32 s32 = 5;
  sint64 s64 = 6;
  fixed32 f32 = 7;
  fixed64 f64 = 8;
  sfixed32 sf32 = 9;
  sfixed64 sf64 = 10;
  float fl = 11;
  double db = 12;
  bool ok = 13;
  Mode mode = 14;
  string name = 15;
  bytes blob = 16;
  optional int32 opt = 17;
  repeated int32 packed = 18;
  repeated int32 loose = 19 [packed = false];
  repeated fixed32 packed_fixed = 20;
  repeated Mode packed_modes = 21;
  repeated bool flags = 22;
  Rich child = 23;
  repeated Rich children = 24;
  map<int32, string> by_number = 25;
  map<string, Rich> by_name = 26;
  oneof choice {
    string a = 27;
    int32 b = 28;
    Rich c = 29;
  }
  map<bool, Mode> by_flag = 30;
  google.protobuf.Any any = 31;
}
`

const richKind, richType = "acme.rich", typePrefix + "acme.v1.Rich"

// Field types and labels of google.protobuf.FieldDescriptorProto.
const (
	typeDouble, typeFloat, typeInt64, typeUint64, typeInt32 = 1, 2, 3, 4, 5
	typeFixed64, typeFixed32, typeBool, typeString          = 6, 7, 8, 9
	typeMessage, typeBytes, typeUint32, typeEnum            = 11, 12, 13, 14
	typeSfixed32, typeSfixed64, typeSint32, typeSint64      = 15, 16, 17, 18
	single, repeated                                        = 1, 3
	noOneof                                                 = -1
)

// field is a FieldDescriptorProto.
func field(number int, name, jsonName string, label, kind int, typeName string, oneof int, extra ...[]byte) []byte {
	b := msg(str(1, name), vint(3, int64(number)), vint(4, int64(label)), vint(5, int64(kind)))
	if typeName != "" {
		b = append(b, str(6, typeName)...)
	}
	for _, e := range extra {
		if e[0] == 0x42 { // options, field 8, stand before oneof_index
			b = append(b, e...)
		}
	}
	if oneof != noOneof {
		b = append(b, vint(9, int64(oneof))...)
	}
	b = append(b, str(10, jsonName)...)
	for _, e := range extra {
		if e[0] != 0x42 {
			b = append(b, e...)
		}
	}
	return b
}

// mapEntry is the nested message that a map field has.
func mapEntry(name string, keyType, valueType int, valueName string) []byte {
	return msg(str(1, name),
		sub(2, field(1, "key", "key", single, keyType, "", noOneof)),
		sub(2, field(2, "value", "value", single, valueType, valueName, noOneof)),
		sub(7, vint(7, 1)))
}

// richDescriptors is the FileDescriptorSet of richProto, with what it imports, as protoc writes it.
func richDescriptors() []byte {
	anyMessage := msg(str(1, "Any"),
		sub(2, field(1, "type_url", "typeUrl", single, typeString, "", noOneof)),
		sub(2, field(2, "value", "value", single, typeBytes, "", noOneof)))
	anyFile := msg(str(1, "google/protobuf/any.proto"), str(2, "google.protobuf"), sub(4, anyMessage), str(12, "proto3"))
	mode := msg(str(1, "Mode"),
		sub(2, str(1, "MODE_UNSPECIFIED"), vint(2, 0)), sub(2, str(1, "SAFE"), vint(2, 1)), sub(2, str(1, "BROKEN"), vint(2, -1)))
	richFile := msg(str(1, "acme/v1/rich.proto"), str(2, "acme.v1"), str(3, "google/protobuf/any.proto"),
		sub(4, richMessage()), sub(5, mode), str(12, "proto3"))
	return msg(sub(1, anyFile), sub(1, richFile))
}

func richMessage() []byte {
	const rich, mode = ".acme.v1.Rich", ".acme.v1.Mode"
	m := str(1, "Rich")
	scalars := []struct {
		name string
		kind int
	}{{"i32", typeInt32}, {"i64", typeInt64}, {"u32", typeUint32}, {"u64", typeUint64}, {"s32", typeSint32}, {"s64", typeSint64},
		{"f32", typeFixed32}, {"f64", typeFixed64}, {"sf32", typeSfixed32}, {"sf64", typeSfixed64}, {"fl", typeFloat},
		{"db", typeDouble}, {"ok", typeBool}}
	for i, s := range scalars {
		m = append(m, sub(2, field(i+1, s.name, s.name, single, s.kind, "", noOneof))...)
	}
	for _, f := range [][]byte{
		field(14, "mode", "mode", single, typeEnum, mode, noOneof),
		field(15, "name", "name", single, typeString, "", noOneof),
		field(16, "blob", "blob", single, typeBytes, "", noOneof),
		field(17, "opt", "opt", single, typeInt32, "", 1, vint(17, 1)),
		field(18, "packed", "packed", repeated, typeInt32, "", noOneof),
		field(19, "loose", "loose", repeated, typeInt32, "", noOneof, sub(8, vint(2, 0))),
		field(20, "packed_fixed", "packedFixed", repeated, typeFixed32, "", noOneof),
		field(21, "packed_modes", "packedModes", repeated, typeEnum, mode, noOneof),
		field(22, "flags", "flags", repeated, typeBool, "", noOneof),
		field(23, "child", "child", single, typeMessage, rich, noOneof),
		field(24, "children", "children", repeated, typeMessage, rich, noOneof),
		field(25, "by_number", "byNumber", repeated, typeMessage, rich+".ByNumberEntry", noOneof),
		field(26, "by_name", "byName", repeated, typeMessage, rich+".ByNameEntry", noOneof),
		field(27, "a", "a", single, typeString, "", 0),
		field(28, "b", "b", single, typeInt32, "", 0),
		field(29, "c", "c", single, typeMessage, rich, 0),
		field(30, "by_flag", "byFlag", repeated, typeMessage, rich+".ByFlagEntry", noOneof),
		field(31, "any", "any", single, typeMessage, ".google.protobuf.Any", noOneof),
	} {
		m = append(m, sub(2, f)...)
	}
	return msg(m,
		sub(3, mapEntry("ByNumberEntry", typeInt32, typeString, "")),
		sub(3, mapEntry("ByNameEntry", typeString, typeMessage, rich)),
		sub(3, mapEntry("ByFlagEntry", typeBool, typeEnum, mode)),
		sub(8, str(1, "choice")), sub(8, str(1, "_opt")))
}
