package kinds

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

func TestDecodeOfAnEmptyPayloadShowsDefaults(t *testing.T) {
	fields, err := Builtin().Lookup([]byte("node.wipe")).Decode(nil)
	require.NoError(t, err)
	require.Equal(t, []Field{
		{Name: "method", Number: 1, Type: "enum WipeRequest.Method", Values: []Value{{Text: "METHOD_UNSPECIFIED (0)"}}},
		{Name: "devices", Number: 2, Type: "string", Repeated: true},
		{Name: "all_devices", Number: 3, Type: "bool", Values: []Value{{Text: "false"}}},
	}, fields)
	for _, k := range Builtin().Kinds() {
		fields, err := k.Decode(nil)
		require.NoError(t, err)
		require.NotEmpty(t, fields, k.Name())
	}
}

func TestDecodeOfAOneof(t *testing.T) {
	k := Builtin().Lookup([]byte("bmc.power"))
	at := Field{Name: "address", Number: 1, Type: "string", Present: true, Values: []Value{{Text: "10.0.7.12"}}}
	for payload, want := range map[string]Field{
		"": {Name: "operation", Type: "oneof", Values: []Value{{Text: "none"}}},
		powerNone: {Name: "power", Number: 2, Type: "enum BmcOperationRequest.PowerAction", Present: true, Oneof: "operation",
			Values: []Value{{Text: "POWER_ACTION_UNSPECIFIED (0)"}}},
		boot: {Name: "boot", Number: 3, Type: "message BmcOperationRequest.Boot", Present: true, Oneof: "operation", Values: []Value{{Fields: []Field{
			{Name: "device", Number: 1, Type: "string", Present: true, Values: []Value{{Text: "pxe"}}},
			{Name: "persistent", Number: 2, Type: "bool", Values: []Value{{Text: "false"}}}}}}},
		sensors: {Name: "sensors", Number: 5, Type: "message BmcOperationRequest.Sensors", Present: true, Oneof: "operation",
			Values: []Value{{Text: "empty message", Fields: []Field{}}}},
	} {
		fields, err := k.Decode(unhex(t, address+payload))
		require.NoError(t, err)
		require.Equal(t, []Field{at, want}, fields)
	}
}

func TestDecodeKeepsTheOrderOfMaps(t *testing.T) {
	k := Builtin().Lookup([]byte("site.httpProxy"))
	fields, err := k.Decode(unhex(t, "2206 0a0162 120132 2206 0a0161 120131 2a02 00ff"))
	require.NoError(t, err)
	require.Equal(t, Field{Name: "headers", Number: 4, Type: "map<string, string>", Present: true, Map: true,
		Values: []Value{{Key: &Value{Text: "b"}, Text: "2"}, {Key: &Value{Text: "a"}, Text: "1"}}}, fields[3])
	require.Equal(t, Field{Name: "body", Number: 5, Type: "bytes", Present: true, Values: []Value{{IsBytes: true, Bytes: []byte{0, 0xff}}}}, fields[4])
}

func TestDecodeTellsFloatsApart(t *testing.T) {
	k := caseKind(t)
	seen := make(map[string]bool)
	for _, bits := range []string{"00000080", "0000c07f", "0100c07f", "0000c0ff", "0000807f", "01000000", "0100807f"} {
		fields, err := k.Decode(unhex(t, "35"+bits))
		require.NoError(t, err)
		text := fields[5].Values[0].Text
		require.False(t, seen[text], text)
		seen[text] = true
	}
	require.Contains(t, seen, "NaN (0x7fc00001)")
	require.Contains(t, seen, "-0")
}

// changes yields a message and then every message that differs from it in one field, at any depth.
func changes(md protoreflect.MessageDescriptor, depth int) []*dynamicpb.Message {
	all := []*dynamicpb.Message{dynamicpb.NewMessage(md)}
	set := func(change func(m *dynamicpb.Message)) {
		m := dynamicpb.NewMessage(md)
		change(m)
		all = append(all, m)
	}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		for _, v := range otherValues(fd, depth) {
			switch {
			case fd.IsMap():
				for _, key := range otherValues(fd.MapKey(), depth) {
					set(func(m *dynamicpb.Message) { m.Mutable(fd).Map().Set(key.MapKey(), v) })
				}
			case fd.IsList():
				set(func(m *dynamicpb.Message) { m.Mutable(fd).List().Append(v) })
				set(func(m *dynamicpb.Message) { m.Mutable(fd).List().Append(v); m.Mutable(fd).List().Append(v) })
			default:
				set(func(m *dynamicpb.Message) { m.Set(fd, v) })
			}
		}
	}
	return all
}

func otherValues(fd protoreflect.FieldDescriptor, depth int) (values []protoreflect.Value) {
	if fd.IsMap() {
		return otherValues(fd.MapValue(), depth)
	}
	switch fd.Kind() {
	case protoreflect.MessageKind:
		if depth > 0 && fd.Message().FullName() != anyName {
			for _, m := range changes(fd.Message(), depth-1) {
				values = append(values, protoreflect.ValueOfMessage(m))
			}
		}
		return values
	case protoreflect.EnumKind:
		seen := make(map[protoreflect.EnumNumber]bool)
		for i := range fd.Enum().Values().Len() {
			if n := fd.Enum().Values().Get(i).Number(); !seen[n] && (n != 0 || fd.HasPresence() || fd.IsList()) {
				seen[n] = true
				values = append(values, protoreflect.ValueOfEnum(n))
			}
		}
		return values
	case protoreflect.BoolKind:
		return []protoreflect.Value{protoreflect.ValueOfBool(true)}
	case protoreflect.StringKind:
		for _, s := range []string{"a", "b", "a ", "A", " a", "a\n", "a\u200b", "true", "none"} {
			values = append(values, protoreflect.ValueOfString(s))
		}
		return values
	case protoreflect.BytesKind:
		for _, s := range []string{"a", "\x00", "\x00\x00", "61"} {
			values = append(values, protoreflect.ValueOfBytes([]byte(s)))
		}
		return values
	}
	for _, seed := range [][]byte{{5, 1}, {5, 2}, {1}, {2 + 8*3}, {2 + 8*20}} {
		s := &source{seed}
		if v := s.value(fd, protoreflect.Value{}, 1); !v.Equal(fd.Default()) {
			values = append(values, v)
		}
	}
	return values
}

// Change every field of every payload once: the display changes, and no two changes look alike.
func TestEveryChangeOfAFieldIsShown(t *testing.T) {
	for _, k := range append(Builtin().Kinds(), rich(t)) {
		shown := make(map[string][]byte)
		fields := make(map[string]bool)
		for _, m := range changes(k.Message(), 1) {
			m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
				fields[string(fd.Name())] = true
				return true
			})
			payload := sorted.message(m)
			display := show(t, k, payload)
			if other, twice := shown[display]; twice {
				require.Equal(t, other, payload, "%s: two payloads are shown alike: %s", k.Name(), display)
			}
			shown[display] = payload
		}
		for i := range k.Message().Fields().Len() {
			if fd := k.Message().Fields().Get(i); fd.Message() == nil || fd.Message().FullName() != anyName {
				require.True(t, fields[string(fd.Name())], "%s.%s was never changed", k.Name(), fd.Name())
			}
		}
	}
}

// show gives all that Decode gives as one text.
func show(t testing.TB, k *Kind, payload []byte) string {
	fields, err := k.Decode(payload)
	require.NoError(t, err)
	var write func(fields []Field) string
	value := func(v Value) string {
		return fmt.Sprintf("%q %q %t %s", v.Text, v.Bytes, v.IsBytes, write(v.Fields))
	}
	write = func(fields []Field) (out string) {
		for _, f := range fields {
			out += fmt.Sprintf("{%s %d %s %t:", f.Name, f.Number, f.Type, f.Present)
			for _, v := range f.Values {
				if v.Key != nil {
					out += value(*v.Key) + "="
				}
				out += value(v) + ";"
			}
			out += "}"
		}
		return out
	}
	return write(fields)
}
