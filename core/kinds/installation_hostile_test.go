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

// deep is messages declared inside each other, so many levels of them.
func deep(levels int) *descriptorpb.FileDescriptorSet {
	return one(func(_ file, m message) {
		for at := m.DescriptorProto; levels > 1; levels-- {
			at.NestedType = []*descriptorpb.DescriptorProto{{Name: proto.String("N")}}
			at = at.NestedType[0]
		}
	})
}

// longName is a message with a full name of so many bytes, its leading full stop included.
func longName(bytes int) *descriptorpb.FileDescriptorSet {
	return one(func(_ file, m message) {
		m.NestedType = []*descriptorpb.DescriptorProto{{Name: proto.String(strings.Repeat("N", bytes-len(".acme.v1.One.")))}}
	})
}

// publicImports is files with 2^40 paths of public imports.
func publicImports() *descriptorpb.FileDescriptorSet {
	public := new(descriptorpb.FileDescriptorSet)
	for i := range 40 {
		for _, side := range []string{"l", "r"} {
			f := &descriptorpb.FileDescriptorProto{Name: proto.String(side + string(rune('A'+i))), Syntax: proto.String("proto3")}
			if i > 0 {
				below := string(rune('A' + i - 1))
				f.Dependency, f.PublicDependency = []string{"l" + below, "r" + below}, []int32{0, 1}
			}
			public.File = append(public.File, f)
		}
	}
	slices.Reverse(public.File)
	return public
}

// chain is 5,000 messages, each with a field of the next.
func chain() *descriptorpb.FileDescriptorSet {
	set := one(nil)
	for i := range 5000 {
		m := newMessage(fmt.Sprintf("M%d", i))
		message{set.File[0].MessageType[i]}.add("next", 9, ".acme.v1."+m.GetName())
		set.File[0].MessageType = append(set.File[0].MessageType, m.DescriptorProto)
	}
	return set
}

// wide is 400,000 messages under a long name.
func wide() *descriptorpb.FileDescriptorSet {
	return one(func(_ file, m message) {
		outer := m.DescriptorProto
		for range 30 {
			outer.NestedType = []*descriptorpb.DescriptorProto{{Name: proto.String(strings.Repeat("n", 30))}}
			outer = outer.NestedType[0]
		}
		for range 400_000 {
			outer.NestedType = append(outer.NestedType, &descriptorpb.DescriptorProto{Name: proto.String("a")})
		}
	})
}

// fields is a message of n fields.
func fields(n int) *descriptorpb.FileDescriptorSet {
	return one(func(_ file, m message) {
		for i := range n - 2 {
			m.add(fmt.Sprintf("f%d", i), i+3, "bool")
		}
	})
}

// What would cost the linker much is refused in moments.
func TestHostileDescriptorSets(t *testing.T) {
	tooLong := proto.String(strings.Repeat("n", 2000))
	many := &descriptorpb.FileDescriptorSet{File: slices.Repeat([]file{{}}, 5000)}
	for name, c := range map[string]struct {
		set  *descriptorpb.FileDescriptorSet
		want string
	}{
		"public imports": {publicImports(), "has public imports by more than 4096 paths"},
		"public circle": {one(func(f file, _ message) { f.Dependency, f.PublicDependency = []string{"one.proto"}, []int32{0} }),
			"has public imports by more than"},
		"a long name":           {one(func(_ file, m message) { m.Name = tooLong }), "names are too long"},
		"a name too long":       {longName(1025), "names are too long"},
		"a long package":        {one(func(f file, _ message) { f.Package = tooLong }), "names are too long"},
		"a long JSON name":      {one(func(_ file, m message) { m.Field[0].JsonName = tooLong }), "names are too long"},
		"many under a long one": {wide(), "names are too long"},
		"deep":                  {deep(33), "deeper than 32 levels"},
		"deeper":                {deep(9000), "is not a FileDescriptorSet"},
		"many messages":         {chain(), "the kinds reach more than 4096 messages"},
		"many fields":           {fields(257), "has 257 fields; at most 256 can be shown"},
		"many files":            {many, "it has 5000 files; wanted: 1 to 4096"},
	} {
		begun := time.Now()
		_, err := tableOf(t, c.set)
		require.Less(t, time.Since(begun), time.Minute, name) // without the bound it would take hours
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, c.want, name)
		require.Less(t, len(err.Error()), 600, name)
	}
}

// The bounds themselves are taken, and what is no set at all is not.
func TestBoundsOfDescriptorSets(t *testing.T) {
	for _, set := range []*descriptorpb.FileDescriptorSet{deep(32), fields(256), longName(1024)} {
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
