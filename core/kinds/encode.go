package kinds

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/better-compute/approver/core/wire"
)

// reasonTooLarge is that of a payload over its limit wherever it is met.
const reasonTooLarge = "payload-too-large"

// Encode gives the canonical bytes (WIRE.md §7) of the kind's message from its protobuf JSON, as the protobuf JSON mapping
// has it: members by their JSON name or the name in the .proto file, 64-bit integers also as strings, bytes as base64,
// enums by name or number. Unknown members, members that stand twice and anything behind the message are refused, and
// what Walk refuses never leaves Encode. The bytes are not nil, be there none. Entries of maps come in the order of the bytes of their keys. The error is
// INVALID_INPUT, names the field, and has the reason payload-unknown-fields, or payload-too-large over 65,536 bytes of
// payload or 1 MiB of JSON.
func (k *Kind) Encode(protobufJSON []byte) ([]byte, error) {
	if len(protobufJSON) > wire.MaxPayloadJSON {
		return nil, wire.Errorf(wire.InvalidInput, reasonTooLarge, "the JSON of the payload of a %s has %d bytes; at most %d are taken",
			k.name, len(protobufJSON), wire.MaxPayloadJSON).With("kind", k.name)
	}
	m := dynamicpb.NewMessage(k.message)
	read := protojson.UnmarshalOptions{Resolver: new(protoregistry.Types), RecursionLimit: wire.MaxPayloadLevels}
	err := checkJSON(protobufJSON)
	if err == nil {
		err = read.Unmarshal(protobufJSON, m)
	}
	if err != nil {
		return nil, wire.Errorf(wire.InvalidInput, reasonForm, "the payload of a %s is not the protobuf JSON of a %s: %s",
			k.name, k.plan.name, plainProtoError(err)).With("kind", k.name)
	}
	payload := k.plan.encode([]byte{}, m)
	if len(payload) > wire.MaxPayloadBytes {
		return nil, wire.Errorf(wire.InvalidInput, reasonTooLarge, "the payload of a %s has %d bytes; at most %d are taken",
			k.name, len(payload), wire.MaxPayloadBytes).With("kind", k.name)
	}
	if err := k.Walk(payload, new(Walked)); err != nil {
		return nil, err
	}
	return payload, nil
}

// checkJSON checks that b is one JSON value of UTF-8 without a member twice. protojson calls a lone surrogate the end of the
// file.
func checkJSON(b []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	if err := d.SkipValue(); err != nil {
		return err
	}
	if rest := bytes.TrimLeft(b[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return fmt.Errorf("something follows the JSON value at byte %d", len(b)-len(rest))
	}
	return nil
}

// plainProtoError gives what a library says without its prefix. The protobuf library puts a non-breaking space or a plain
// one behind it by chance, so that nobody compares its texts, and repeats values at any length.
func plainProtoError(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "proto: "), "jsontext: ")
	const shown = 300 // bytes
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return text
}

// encode appends the canonical form of a message. It takes tags and shapes from the plan, whatever the library's own
// encoder would do with oneofs, maps and defaults.
func (p *plan) encode(b []byte, m protoreflect.Message) []byte {
	fds := m.Descriptor().Fields()
	for i := range p.fields {
		f := &p.fields[i]
		fd := fds.ByNumber(f.number)
		switch f.shape {
		case packed:
			b = f.encodePacked(b, m.Get(fd).List())
		case unpacked:
			for list, n := m.Get(fd).List(), 0; n < list.Len(); n++ {
				b = f.encode(protowire.AppendVarint(b, f.tag), list.Get(n))
			}
		case mapped:
			b = f.encodeMap(b, fd, m.Get(fd).Map())
		default:
			if f.oneof >= 0 || f.presence {
				if m.Has(fd) {
					b = f.encode(protowire.AppendVarint(b, f.tag), m.Get(fd))
				}
			} else if v := m.Get(fd); !f.isZero(v) {
				b = f.encode(protowire.AppendVarint(b, f.tag), v)
			}
		}
	}
	return b
}

func (f *field) encodePacked(b []byte, list protoreflect.List) []byte {
	if list.Len() == 0 {
		return b
	}
	var chunk []byte
	for n := range list.Len() {
		chunk = f.encode(chunk, list.Get(n))
	}
	return protowire.AppendBytes(protowire.AppendVarint(b, f.tag), chunk)
}

func (f *field) encodeMap(b []byte, fd protoreflect.FieldDescriptor, m protoreflect.Map) []byte {
	key, value := &f.message.fields[0], &f.message.fields[1]
	start := len(b)
	var run []entry
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		e := key.encode(protowire.AppendVarint(nil, key.tag), k.Value())
		e = value.encode(protowire.AppendVarint(e, value.tag), v)
		b = protowire.AppendBytes(protowire.AppendVarint(b, f.tag), e)
		run = append(run, entry{f.key(e), protowire.AppendBytes(protowire.AppendVarint(nil, f.tag), e)})
		return true
	})
	sortEntries(b[start:], run)
	return b
}

// encode appends a value without its tag.
func (f *field) encode(b []byte, v protoreflect.Value) []byte {
	switch f.op {
	case opFixed32:
		return protowire.AppendFixed32(b, uint32(f.bits(v)))
	case opFixed64:
		return protowire.AppendFixed64(b, f.bits(v))
	case opString:
		return protowire.AppendString(b, v.String())
	case opBytes:
		return protowire.AppendBytes(b, v.Bytes())
	case opMessage:
		return protowire.AppendBytes(b, f.message.encode(nil, v.Message()))
	case opRefused:
		return protowire.AppendBytes(b, nil) // for Walk to name
	}
	return protowire.AppendVarint(b, f.bits(v))
}

// quietNaN is the NaN of a double as protoc and JavaScript write it.
const quietNaN = 0x7ff8 << 48

// bits gives a number as it stands on the wire.
func (f *field) bits(v protoreflect.Value) uint64 {
	switch f.kind {
	case protoreflect.BoolKind:
		return protowire.EncodeBool(v.Bool())
	case protoreflect.EnumKind:
		return uint64(v.Enum())
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Sfixed32Kind, protoreflect.Sfixed64Kind:
		return uint64(v.Int())
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return protowire.EncodeZigZag(v.Int())
	case protoreflect.FloatKind:
		return uint64(math.Float32bits(float32(v.Float())))
	case protoreflect.DoubleKind:
		if math.IsNaN(v.Float()) { // JSON has one; Go's own has a bit more than everybody else's
			return quietNaN
		}
		return math.Float64bits(v.Float())
	}
	return v.Uint()
}

// isZero tells whether a value is the default of its type, by its bits: -0 is none.
func (f *field) isZero(v protoreflect.Value) bool {
	switch f.op {
	case opString:
		return v.String() == ""
	case opBytes:
		return len(v.Bytes()) == 0
	}
	return f.bits(v) == 0
}
