package golden

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

func richMessage(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	var set descriptorpb.FileDescriptorSet
	require.NoError(t, proto.Unmarshal(Base64(Payloads().Rich.DescriptorSet), &set))
	files, err := protodesc.NewFiles(&set)
	require.NoError(t, err)
	d, err := files.FindDescriptorByName("acme.v1.Rich")
	require.NoError(t, err)
	return d.(protoreflect.MessageDescriptor)
}

// TestRichPayloads wants of the vectors of the rich message that a protobuf library reads the good ones, knows every field
// of them and writes as many bytes again, and that it takes no refused one and gives its bytes back: re-encoding differs,
// or a field is unknown, or it does not read at all, but for the few rules that are ours alone.
func TestRichPayloads(t *testing.T) {
	// What Go reads and writes back as it stands, and WIRE.md §7 refuses nonetheless.
	ours := map[string]bool{
		"acme.rich: enum without a name": true, "acme.rich: packed enum without a name": true, "acme.rich: enum value without a name": true,
		"acme.rich: Any": true, "acme.rich: empty Any": true, "acme.rich: 33 levels": true, "acme.rich: 500 levels": true,
		"acme.rich: 33 levels in a list": true, "acme.rich: 33 levels in a map": true,
		"acme.rich: oneof order: a member after a higher field, as Go writes it": true,
	}
	rich := richMessage(t)
	seen := 0
	for _, v := range Payloads().Vectors {
		if v.Kind != Payloads().Rich.Kind {
			continue
		}
		seen++
		value, m := Base64(v.Value), dynamicpb.NewMessage(rich)
		err := proto.Unmarshal(value, m)
		again, encodeErr := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		require.NoError(t, encodeErr, v.Name)
		switch {
		case v.OK():
			require.NoError(t, err, v.Name)
			require.Len(t, again, len(value), v.Name)
			require.False(t, hasUnknown(m), v.Name)
		case ours[v.Name]:
			require.NoError(t, err, v.Name)
			require.Equal(t, value, again, v.Name)
			delete(ours, v.Name)
		default:
			require.True(t, err != nil || string(again) != string(value) || hasUnknown(m), v.Name)
		}
	}
	require.Empty(t, ours)
	require.Greater(t, seen, 80)
}

func hasUnknown(m protoreflect.Message) bool {
	if len(m.GetUnknown()) > 0 {
		return true
	}
	found := false
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				found = found || hasUnknown(v.Message())
				return !found
			})
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				found = found || hasUnknown(v.List().Get(i).Message())
			}
		case !f.IsMap() && !f.IsList() && f.Message() != nil:
			found = hasUnknown(v.Message())
		}
		return !found
	})
	return found
}

// TestIndependentPayloads wants the naive writer's payloads and protoc's to be of one form: read field by field, in order.
func TestIndependentPayloads(t *testing.T) {
	var payloads map[string]struct{ TypeURL, Value, SHA, Text, Message string }
	require.NoError(t, json.Unmarshal(Independent("payloads.json"), &payloads))
	require.NotEmpty(t, payloads)
	ours := map[string]bool{}
	for _, v := range Payloads().Vectors {
		ours[v.Value] = true
	}
	for name, p := range payloads {
		last := protowire.Number(0)
		for b := Base64(p.Value); len(b) > 0; {
			number, _, n := protowire.ConsumeField(b)
			require.Positive(t, n, name)
			require.GreaterOrEqual(t, number, last, name)
			b, last = b[n:], number
		}
	}
	for _, name := range []string{"wipe", "power", "reboot"} { // the same message stands in payload.json, written by hand
		require.True(t, ours[payloads[name].Value], name)
	}
}
