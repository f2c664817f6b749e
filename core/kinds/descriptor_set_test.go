package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/wire"
)

type file = *descriptorpb.FileDescriptorProto

// A refusedSet is a descriptor set that no table may come of, and what the refusal says.
type refusedSet struct {
	name string
	set  *descriptorpb.FileDescriptorSet
	want string
}

func requireRefused(t *testing.T, sets []refusedSet) {
	t.Helper()
	for _, c := range sets {
		table, err := tableOf(t, c.set)
		require.Nil(t, table, c.name)
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), c.name)
		require.ErrorContains(t, err, c.want, c.name)
		require.NotContains(t, err.Error(), "\u00a0")
		require.NotContains(t, err.Error(), "proto:")
	}
}

// more is a change that gives One a further field.
func more(typ string, options ...func(*descriptorpb.FieldDescriptorProto)) func(file, message) {
	return func(_ file, m message) { m.add("more", 3, typ, options...) }
}

// withMode is the set of One with a field of the enum Mode.
func withMode(e *descriptorpb.EnumDescriptorProto) *descriptorpb.FileDescriptorSet {
	return one(func(f file, m message) {
		m.add("mode", 3, "enum .acme.v1.Mode")
		f.EnumType = append(f.EnumType, e)
	})
}

func features(fs *descriptorpb.FeatureSet) func(*descriptorpb.FieldDescriptorProto) {
	return func(f *descriptorpb.FieldDescriptorProto) { f.Options = &descriptorpb.FieldOptions{Features: fs} }
}

// What the set lacks, or the linker refuses.
func TestDescriptorSetsThatDoNotLink(t *testing.T) {
	requireRefused(t, []refusedSet{
		{"no file", &descriptorpb.FileDescriptorSet{}, "it has 0 files"},
		{"another package", one(func(f file, _ message) { f.Package = proto.String("acme.v2") }), "the message acme.v1.One of acme.one is not in the descriptor set"},
		{"an enum of that name", one(func(f file, m message) {
			m.Name = proto.String("Two")
			e := enumOf("A", 0)
			e.Name = proto.String("One")
			f.EnumType = append(f.EnumType, e)
		}), "is not in the descriptor set"},
		{"import missing", one(func(f file, _ message) { f.Dependency = []string{"gone.proto"} }), `"one.proto" imports "gone.proto", which is not in it; give protoc --include_imports`},
		{"import of itself", one(func(f file, _ message) { f.Dependency = []string{"one.proto"} }), "import cycle"},
		{"type missing", one(more(".acme.v1.Gone")), "does not link"},
		{"type not imported", &descriptorpb.FileDescriptorSet{File: append(one(more(".google.protobuf.Duration")).File, protodesc.ToFileDescriptorProto(durationpb.File_google_protobuf_duration_proto))}, "does not link"},
		{"file twice", &descriptorpb.FileDescriptorSet{File: append(one(nil).File, one(nil).File...)}, "appears multiple times"},
		{"message twice", one(func(f file, m message) { f.MessageType = append(f.MessageType, m.DescriptorProto) }), "does not link"},
		{"edition unknown", one(func(f file, _ message) {
			f.Name, f.Syntax, f.Edition = proto.String("cmd/protoc-gen-go/testdata/one.proto"), proto.String("editions"), descriptorpb.Edition_EDITION_99999_TEST_ONLY.Enum()
		}), "of an edition that is not known"},
		{"syntax unknown", one(func(f file, _ message) { f.Syntax = proto.String("proto4") }), `does not link: invalid syntax: "proto4"`},
	})
}

// What a kind reaches is proto3, and no Any.
func TestDescriptorSetsBeyondProto3(t *testing.T) {
	requireRefused(t, []refusedSet{
		{"no syntax", one(func(f file, _ message) { f.Syntax = nil }), `acme.v1.One is defined in "one.proto", which is not proto3`},
		{"proto2", one(func(f file, _ message) { f.Syntax = proto.String("proto2") }), "which is not proto3"},
		{"edition 2023", one(func(f file, _ message) {
			f.Syntax, f.Edition = proto.String("editions"), descriptorpb.Edition_EDITION_2023.Enum()
		}), "which is not proto3"},
		{"reaches proto2", imports(one(more(".google.protobuf.FileOptions")), descriptorpb.File_google_protobuf_descriptor_proto, nil), "google.protobuf.FileOptions is defined in"},
		{"reaches Any", imports(one(more(".google.protobuf.Any")), anypb.File_google_protobuf_any_proto, nil), "kind acme.one: it reaches google.protobuf.Any"},
		{"Any in a map", imports(one(func(_ file, m message) {
			m.addMap("m", 3, "string", ".google.protobuf.Any")
			m.Field[2].TypeName = proto.String(".acme.v1.One.MEntry")
		}), anypb.File_google_protobuf_any_proto, nil), "it reaches google.protobuf.Any"},
		{"required", one(func(_ file, m message) { m.Field[1].Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum() }), "cannot be required"},
		{"default", one(func(_ file, m message) { m.Field[1].DefaultValue = proto.String("5") }), "invalid default"},
		{"group", one(func(_ file, m message) {
			m.add("more", 3, ".acme.v1.One").Field[2].Type = descriptorpb.FieldDescriptorProto_TYPE_GROUP.Enum()
		}), "invalid group"},
		{"extension range", one(func(_ file, m message) {
			m.ExtensionRange = []*descriptorpb.DescriptorProto_ExtensionRange{{Start: proto.Int32(100), End: proto.Int32(200)}}
		}), "cannot have extension ranges"},
	})
}

// Features change what a proto3 file says.
func TestDescriptorSetsWithFeatures(t *testing.T) {
	closed := enumOf("A", 0)
	closed.Options = &descriptorpb.EnumOptions{Features: &descriptorpb.FeatureSet{EnumType: descriptorpb.FeatureSet_CLOSED.Enum()}}
	requireRefused(t, []refusedSet{
		{"required by features", one(more("int32", features(&descriptorpb.FeatureSet{FieldPresence: descriptorpb.FeatureSet_LEGACY_REQUIRED.Enum()}))), "required"},
		{"presence by features", one(more("int32", features(&descriptorpb.FeatureSet{FieldPresence: descriptorpb.FeatureSet_EXPLICIT.Enum()}))), "the field acme.v1.One.more has features of its own"},
		{"unpacked by features", one(more("int32", repeated, features(&descriptorpb.FeatureSet{RepeatedFieldEncoding: descriptorpb.FeatureSet_EXPANDED.Enum()}))), "the field acme.v1.One.more has features of its own"},
		{"features of the file", one(func(f file, _ message) {
			f.Options = &descriptorpb.FileOptions{Features: &descriptorpb.FeatureSet{RepeatedFieldEncoding: descriptorpb.FeatureSet_EXPANDED.Enum()}}
		}), "features of its own"},
		{"group by features", one(more(".acme.v1.One", features(&descriptorpb.FeatureSet{MessageEncoding: descriptorpb.FeatureSet_DELIMITED.Enum()}))), "group"},
		{"enum closed by features", withMode(closed), "enum"},
	})
}

// Each field has a number and names of its own, and is absent or empty.
func TestDescriptorSetsWithBadFields(t *testing.T) {
	requireRefused(t, []refusedSet{
		{"field number twice", one(func(_ file, m message) { m.Field[1].Number = proto.Int32(1) }), "conflicting fields"},
		{"field number 0", one(func(_ file, m message) { m.Field[1].Number = proto.Int32(0) }), "invalid number"},
		{"no name", one(func(_ file, m message) { m.Field[1].Name = nil }), "does not link"},
		{"a name that is none", one(func(_ file, m message) { m.Field[1].Name = proto.String("a b") }), "does not link"},
		{"optional in no oneof", one(more("string", optional)), "the field acme.v1.One.more is optional and in no oneof of its own"},
		{"JSON name of another", one(func(_ file, m message) { m.Field[1].JsonName = proto.String("text") }), `the field acme.v1.One.number has the JSON name "text", by which text goes`},
		{"JSON names swapped", one(func(_ file, m message) {
			m.Field[0].JsonName, m.Field[1].JsonName = proto.String("number"), proto.String("text")
		}), `the field acme.v1.One.text has the JSON name "number", by which number goes`},
		{"JSON name twice", one(func(_ file, m message) {
			m.Field[0].JsonName, m.Field[1].JsonName = proto.String("x"), proto.String("x")
		}), `the field acme.v1.One.number has the JSON name "x", by which text goes`},
		{"oneof of nothing", one(func(_ file, m message) {
			m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("o")})
		}), "at least one field"},
		{"oneof index out of range", one(func(_ file, m message) { m.Field[1].OneofIndex = proto.Int32(7) }), "it "},
	})
}

// Each value of an enum has one name, and 0 is the first.
func TestDescriptorSetsWithBadEnums(t *testing.T) {
	alias := enumOf("A", 0, "KEEP", 1, "WIPE", 1)
	alias.Options = &descriptorpb.EnumOptions{AllowAlias: proto.Bool(true)}
	requireRefused(t, []refusedSet{
		{"enum without zero", withMode(enumOf("A", 1)), "zero number for the first value"},
		{"enum whose zero is not first", withMode(enumOf("A", 1, "B", 0)), "zero number for the first value"},
		{"enum without values", withMode(enumOf()), "at least one value"},
		{"enum alias", withMode(alias), "the enum acme.v1.Mode has two names for 1, KEEP and WIPE"},
		{"enum alias not allowed", withMode(enumOf("A", 0, "B", 1, "C", 1)), "conflicting non-aliased values"},
	})
}

// What is defined in this program is not defined otherwise.
func TestDescriptorSetsThatRedefine(t *testing.T) {
	duration := durationpb.File_google_protobuf_duration_proto
	own := bettercomputev1.File_bettercomputev1_kinds_proto
	requireRefused(t, []refusedSet{
		{"google.protobuf.Duration otherwise", imports(one(more(".google.protobuf.Duration")), duration, func(f file) {
			f.MessageType[0].Field[0].Type = descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()
		}), "it defines google.protobuf.Duration otherwise than it is"},
		{"google.protobuf of its own", one(func(f file, m message) {
			m.add("x", 3, ".google.protobuf.Mine")
			f.Package, m.Name = proto.String("google"), proto.String("protobuf")
			m.Field[2].TypeName = proto.String(".google.protobuf")
		}), "is not in the descriptor set"},
		{"bettercompute.v1 otherwise", imports(one(nil), own, func(f file) { f.MessageType[0].Field[0].Number = proto.Int32(99) }), "it defines bettercompute.v1.RebootRequest otherwise than it is"},
		{"bettercompute.v1 nested otherwise", imports(one(nil), own, func(f file) { f.MessageType[2].EnumType[0].Value[1].Name = proto.String("NOTHING") }), "it defines bettercompute.v1.WipeRequest.Method otherwise"},
		{"bettercompute.v1 and more", imports(one(nil), own, func(f file) { f.MessageType = append(f.MessageType, newMessage("Mine").DescriptorProto) }), "it defines bettercompute.v1.Mine, and that package is not an installation's"},
	})
}
