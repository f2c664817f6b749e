package kinds

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// A name under an own package that a message of another stands for, and a message of no package, could be taken for ours.
func TestMessagesThatLookLikeOurs(t *testing.T) {
	set := one(func(f *descriptorpb.FileDescriptorProto, m message) {
		f.Package = proto.String("bettercompute")
		outer := newMessage("v1")
		outer.NestedType = append(outer.NestedType, m.DescriptorProto)
		f.MessageType[0] = outer.DescriptorProto
	})
	b, err := proto.Marshal(set)
	require.NoError(t, err)
	f, err := ParseTableFile([]byte(strings.Replace(goodTable, "acme.v1.One", "bettercompute.v1.One", 1)))
	require.NoError(t, err)
	_, err = f.Table(b)
	require.ErrorContains(t, err, "it defines bettercompute.v1.One, and that package is not an installation's")

	b, err = proto.Marshal(one(func(f *descriptorpb.FileDescriptorProto, m message) { f.Package = nil }))
	require.NoError(t, err)
	f, err = ParseTableFile([]byte(strings.Replace(goodTable, "acme.v1.One", "One", 1)))
	require.NoError(t, err)
	_, err = f.Table(b)
	require.ErrorContains(t, err, "One is in no package")

	b, err = proto.Marshal(one(func(_ *descriptorpb.FileDescriptorProto, m message) {
		m.addMap("m", 3, "string", "string").Field[2].TypeName = proto.String(".acme.v1.One.MEntry")
	}))
	require.NoError(t, err)
	f, err = ParseTableFile([]byte(strings.Replace(goodTable, "acme.v1.One", "acme.v1.One.MEntry", 1)))
	require.NoError(t, err)
	_, err = f.Table(b)
	require.ErrorContains(t, err, "the message acme.v1.One.MEntry of acme.one is not in the descriptor set")
}

// What would cost the linker much is refused in moments.
func TestHostileDescriptorSets(t *testing.T) {
	type file = descriptorpb.FileDescriptorProto
	long := strings.Repeat("n", 1000)
	deep := func(levels int) *descriptorpb.FileDescriptorSet {
		return one(func(_ *file, m message) {
			for at := m.DescriptorProto; levels > 1; levels-- {
				at.NestedType = []*descriptorpb.DescriptorProto{{Name: proto.String("N")}}
				at = at.NestedType[0]
			}
		})
	}
	named := func(bytes int) *descriptorpb.FileDescriptorSet { // ".acme.v1.One." and so many
		return one(func(_ *file, m message) {
			m.NestedType = []*descriptorpb.DescriptorProto{{Name: proto.String(strings.Repeat("N", bytes-len(".acme.v1.One.")))}}
		})
	}
	public := new(descriptorpb.FileDescriptorSet) // 2^40 paths
	for i := range 40 {
		for _, side := range []string{"l", "r"} {
			f := &file{Name: proto.String(side + string(rune('A'+i))), Syntax: proto.String("proto3")}
			if i > 0 {
				below := string(rune('A' + i - 1))
				f.Dependency, f.PublicDependency = []string{"l" + below, "r" + below}, []int32{0, 1}
			}
			public.File = append(public.File, f)
		}
	}
	slices.Reverse(public.File)
	chain := one(nil) // each message within the next
	for i := range 5000 {
		m := newMessage("M" + strings.Repeat("x", i%10) + string(rune('a'+i%26)) + "_" + time.Duration(i).String())
		m.Name = proto.String(strings.NewReplacer("µ", "u", ".", "_").Replace(m.GetName()))
		message{chain.File[0].MessageType[i]}.add("next", 9, ".acme.v1."+m.GetName())
		chain.File[0].MessageType = append(chain.File[0].MessageType, m.DescriptorProto)
	}
	wide := one(func(_ *file, m message) {
		outer := m.DescriptorProto
		for range 30 {
			outer.NestedType = []*descriptorpb.DescriptorProto{{Name: proto.String(long[:30])}}
			outer = outer.NestedType[0]
		}
		for range 400000 {
			outer.NestedType = append(outer.NestedType, &descriptorpb.DescriptorProto{Name: proto.String("a")})
		}
	})
	fields := func(n int) *descriptorpb.FileDescriptorSet {
		return one(func(_ *file, m message) {
			for i := range n - 2 {
				m.add(fmt.Sprintf("f%d", i), i+3, "bool")
			}
		})
	}
	files := new(descriptorpb.FileDescriptorSet)
	for range 5000 {
		files.File = append(files.File, &file{})
	}
	circle := one(func(f *file, _ message) { f.Dependency, f.PublicDependency = []string{"one.proto"}, []int32{0} })
	for name, c := range map[string]struct {
		set  *descriptorpb.FileDescriptorSet
		want string
	}{
		"public imports":        {public, "has public imports by more than 4096 paths"},
		"public circle":         {circle, "has public imports by more than"},
		"a long name":           {one(func(_ *file, m message) { m.Name = proto.String(long + long) }), "names are too long"},
		"a name too long":       {named(1025), "names are too long"},
		"a long package":        {one(func(f *file, _ message) { f.Package = proto.String(long + long) }), "names are too long"},
		"a long JSON name":      {one(func(_ *file, m message) { m.Field[0].JsonName = proto.String(long + long) }), "names are too long"},
		"many under a long one": {wide, "names are too long"},
		"deep":                  {deep(33), "deeper than 32 levels"},
		"deeper":                {deep(9000), "is not a FileDescriptorSet"},
		"many messages":         {chain, "the kinds reach more than 4096 messages"},
		"many fields":           {fields(257), "has 257 fields; at most 256 can be shown"},
		"many files":            {files, "it has 5000 files; wanted: 1 to 4096"},
	} {
		begun := time.Now()
		_, err := tableOf(t, c.set)
		require.Less(t, time.Since(begun), time.Minute, name) // without the bound it would take hours
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, c.want, name)
		require.Less(t, len(err.Error()), 600, name)
	}
	for _, set := range []*descriptorpb.FileDescriptorSet{deep(32), fields(256), named(1024)} {
		_, err := tableOf(t, set)
		require.NoError(t, err)
	}

	f, err := ParseTableFile([]byte(goodTable))
	require.NoError(t, err)
	for _, b := range [][]byte{nil, {0}, []byte("descriptor_set"), make([]byte, MaxDescriptorSetBytes+1)} {
		_, err := f.Table(b)
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
	}
}

func TestGoldenKindsTables(t *testing.T) {
	for _, v := range golden.KindsTables() {
		t.Run(v.Name, func(t *testing.T) {
			f, err := ParseTableFile([]byte(v.Table))
			var table *Table
			if err == nil {
				table, err = f.Table(golden.Base64(v.DescriptorSet))
			}
			require.NoError(t, v.Check(err, string(wire.CodeOf(err)), wire.ReasonOf(err)))
			if !v.OK() {
				return
			}
			added := []string{}
			for _, k := range table.Kinds()[len(Builtin().Kinds()):] {
				added = append(added, k.Name())
			}
			require.Equal(t, v.Kinds, added)
		})
	}
}

// An enum of many values is read once, not once for each field that has it.
func TestManyFieldsOfALargeEnum(t *testing.T) {
	set := one(func(f *descriptorpb.FileDescriptorProto, m message) {
		e := &descriptorpb.EnumDescriptorProto{Name: proto.String("E")}
		for i := range int32(50_000) {
			e.Value = append(e.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String(fmt.Sprintf("V%d", i)), Number: proto.Int32(i)})
		}
		f.EnumType = append(f.EnumType, e)
		for i := range 254 {
			m.add(fmt.Sprintf("f%d", i), i+3, "enum .acme.v1.E")
		}
	})
	table, err := tableOf(t, set)
	require.NoError(t, err)
	p := table.Lookup([]byte("acme.one")).plan
	require.Same(t, p.byName("f0").enum, p.byName("f253").enum)
}
