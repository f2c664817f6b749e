// Package kinds holds the table of command kinds, the canonical form of their payloads, and the rule that ties a payload
// to its subject (WIRE.md §7; subjects §2).
//
// # Canonical form
//
// A payload is the protobuf encoding (proto3) of its kind's message. It is canonical when
//
//   - every field is known, at every depth, with its declared wire type; no group, no extension, no
//     google.protobuf.Any, no field number 0; every enum value has a name;
//   - fields ascend by number, members of a oneof in their own place; a singular field stands once; at most one member
//     of a oneof stands;
//   - varints are minimal and in the range of their type; a negative int32 or enum value takes ten bytes;
//   - a singular field without presence is not written at its default; floats compare as bits, so -0 is no default;
//   - a repeated packable field is one packed chunk that is not empty, or one element a tag where it is declared
//     packed=false;
//   - a map entry is its key, then its value, both written; each key stands once; entries come in any order;
//   - strings are UTF-8; lengths are exact; messages nest at most 32 levels, the payload being the first (the entry of a
//     map is no level of its own).
//
// Encoding the decoded message again is not the test: Go writes a oneof after the other fields where JavaScript and
// protoc write it in number order, and Go sorts map keys where JavaScript keeps their order. The form admits one
// encoding of a message, but for the order of map entries.
//
// # Worked example
//
// A bmc.power payload for the subject bmc:node_site1/10.0.7.12, a BmcOperationRequest of 13 bytes:
//
//	0a 09 31302e302e372e3132   field 1 (address), 9 bytes, "10.0.7.12"
//	10 03                      field 2 (power), CYCLE
//
// Walk accepts it and notes the relayed address "10.0.7.12" at bytes 0 to 11 and the operation 2. CheckSubject accepts
// it, for the address is the subject's and power is the operation of bmc.power. Without bytes 0 to 11 it is what 412
// such machines have in common. These are refused:
//
//	10 03 0a 09 …      address stands after power
//	0a 09 … 10 83 00   3 in two bytes is not minimal
//	0a 09 … 10 06      6 has no name in PowerAction
//	0a 09 … 10 03 2a 00   power and sensors are members of one oneof
//
// Its protobuf JSON is {"address":"10.0.7.12","power":"CYCLE"}, of which Encode gives these bytes.
//
// # Kinds of an installation
//
// A table file (TOML) names a FileDescriptorSet beside it, as protoc --include_imports --descriptor_set_out writes one, and
// for each kind its message:
//
//	descriptor_set = "acme.binpb"
//	[[kind]]
//	name = "acme.flashNic"
//	message = "acme.fleet.v1.FlashNicRequest"
//	destructive = true
//
// ParseTableFile reads it, and TableFile.Table links the messages and checks what each kind reaches: only what Walk can
// accept and a person can be shown without a doubt. The names bmc.*, site.* and those above are reserved; subjects are
// node ids.
package kinds
