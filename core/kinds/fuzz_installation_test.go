package kinds

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// bytesOf gives bytes of a seed.
func bytesOf(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 6))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// A tree is every message of a descriptor set, the set itself first.
func tree(m protoreflect.Message) (all []protoreflect.Message) {
	all = append(all, m)
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil || fd.IsMap():
		case fd.IsList():
			for i := range v.List().Len() {
				all = append(all, tree(v.List().Get(i).Message())...)
			}
		default:
			all = append(all, tree(v.Message())...)
		}
		return true
	})
	return all
}

// mutateSet changes one thing of a descriptor set: a field of a descriptor is set to another value, cleared, or an element
// of a list doubled or left out.
func (s *source) mutateSet(set *descriptorpb.FileDescriptorSet) {
	all := tree(set.ProtoReflect())
	m := all[s.below(len(all))]
	fds := m.Descriptor().Fields()
	fd := fds.Get(s.below(fds.Len()))
	switch {
	case s.byte()%8 == 0:
		m.Clear(fd)
	case fd.IsList():
		list := m.Mutable(fd).List()
		if n := list.Len(); n > 0 && s.byte()%2 == 0 {
			list.Append(list.Get(s.below(n)))
		} else if fd.Message() == nil {
			list.Append(s.value(fd, list.NewElement(), 1))
		}
	case fd.Message() != nil:
		s.fill(m.Mutable(fd).Message(), 2)
	case fd.Kind() == protoreflect.StringKind && s.byte()%2 == 0:
		// A name that stands somewhere in the set, so that references and conflicts occur.
		names := []string{"acme.fleet.v1", ".acme.fleet.v1.FlashNicRequest", ".google.protobuf.Duration", "version", "proto2", "editions", "Port", "x_y"}
		m.Set(fd, protoreflect.ValueOfString(names[s.below(len(names))]))
	case fd.Kind() == protoreflect.Int32Kind:
		m.Set(fd, protoreflect.ValueOfInt32(int32(s.below(20))))
	default:
		m.Set(fd, s.value(fd, m.NewField(fd), 1))
	}
}

// FuzzTable links descriptor sets made of the example by a few changes, and arbitrary bytes. Whatever is taken encodes and
// walks as the oracle does.
func FuzzTable(f *testing.F) {
	toml, binpb := readExample(f, "kinds.toml"), readExample(f, "acme.binpb")
	for seed := range uint64(64) {
		f.Add(bytesOf(seed, 200), toml)
	}
	var files, sets, payloads golden.Balance
	f.Fuzz(func(t *testing.T, choices, text []byte) {
		// Each input chooses anew: the fuzzer changes one of the two at a time, and makes its bytes short and alike.
		sum := sha256.Sum256(append(text[:len(text):len(text)], choices...))
		s := &source{bytesOf(binary.BigEndian.Uint64(sum[:]), 400)}
		for _, text := range [][]byte{toml, s.mutateText(toml), s.mutateText(s.mutateText(toml)), text} {
			_, err := ParseTableFile(text)
			require.NoError(t, files.Count(err == nil))
		}
		if s.byte()%4 != 0 {
			text = toml
		}
		file, err := ParseTableFile(text)
		if err != nil {
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
			return
		}
		var set descriptorpb.FileDescriptorSet
		require.NoError(t, proto.Unmarshal(binpb, &set))
		for range s.below(4) {
			s.mutateSet(&set)
		}
		b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(&set)
		if err != nil { // a text that is not UTF-8 in proto2
			return
		}
		if s.byte()%8 == 0 {
			b = s.mutate(b)
		}
		table, err := file.Table(b)
		require.NoError(t, sets.Count(err == nil))
		if err != nil {
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
			require.Less(t, len(err.Error()), 2000)
			return
		}
		for _, k := range table.Kinds()[len(Builtin().Kinds()):] {
			k.Declarations()
			payload := sorted.message(s.message(k.Message()))
			require.NoError(t, payloads.Count(checkWalk(t, k, payload)))
			require.NoError(t, payloads.Count(checkWalk(t, k, s.mutate(s.mutate(payload)))))
			_, _ = k.Encode([]byte(`{"version":"1","ports":[{"index":7}],"rebootAfter":"1s"}`))
		}
	})
}
