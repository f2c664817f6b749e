package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb"

	"github.com/better-compute/approver/core/wire"
)

var scalars = []string{"bool", "int32", "sint32", "uint32", "int64", "sint64", "uint64",
	"fixed32", "sfixed32", "float", "fixed64", "sfixed64", "double", "string", "bytes"}

// A message is a descriptor under construction: fields are declared as in a .proto file.
type message struct{ *descriptorpb.DescriptorProto }

func newMessage(name string) message {
	return message{&descriptorpb.DescriptorProto{Name: proto.String(name)}}
}

// add declares a field of a scalar type, or of a message (".pkg.M") or enum ("enum .pkg.E").
func (m message) add(name string, number int, typ string, options ...func(*descriptorpb.FieldDescriptorProto)) message {
	f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: proto.Int32(int32(number)), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	switch enumName, isEnum := strings.CutPrefix(typ, "enum "); {
	case isEnum:
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), &enumName
	case typ[0] == '.':
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), &typ
	default:
		f.Type = descriptorpb.FieldDescriptorProto_Type(descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(typ)]).Enum()
	}
	for _, option := range options {
		option(f)
	}
	m.Field = append(m.Field, f)
	return m
}

func optional(f *descriptorpb.FieldDescriptorProto) { f.Proto3Optional = proto.Bool(true) }
func repeated(f *descriptorpb.FieldDescriptorProto) {
	f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
}
func loose(f *descriptorpb.FieldDescriptorProto) {
	repeated(f)
	f.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(false)}
}

// in makes a field a member of a oneof of m.
func (m message) in(oneof string) func(*descriptorpb.FieldDescriptorProto) {
	return func(f *descriptorpb.FieldDescriptorProto) {
		for i, o := range m.OneofDecl {
			if o.GetName() == oneof {
				f.OneofIndex = proto.Int32(int32(i))
				return
			}
		}
		f.OneofIndex = proto.Int32(int32(len(m.OneofDecl)))
		m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: &oneof})
	}
}

// addMap declares a map field.
func (m message) addMap(name string, number int, key, value string) message {
	entryName := "Entry" // of by_bool it is ByBoolEntry
	for _, word := range slices.Backward(strings.Split(name, "_")) {
		entryName = strings.ToUpper(word[:1]) + word[1:] + entryName
	}
	entry := newMessage(entryName).add("key", 1, key).add("value", 2, value)
	entry.Options = &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}
	m.NestedType = append(m.NestedType, entry.DescriptorProto)
	return m.add(name, number, ".test."+m.GetName()+"."+entry.GetName(), repeated)
}

// build gives the descriptor of the first message, in a proto3 file with the others and the enum Color.
func build(t testing.TB, messages ...message) protoreflect.MessageDescriptor {
	color := &descriptorpb.EnumDescriptorProto{Name: proto.String("Color"), Options: &descriptorpb.EnumOptions{AllowAlias: proto.Bool(true)}}
	for _, v := range []struct {
		name   string
		number int32
	}{{"NONE", 0}, {"RED", 1}, {"ROUGE", 1}, {"FAR", 1000}, {"LAST", 63}, {"NEXT", 64}, {"BELOW", -1}} {
		color.Value = append(color.Value, &descriptorpb.EnumValueDescriptorProto{Name: &v.name, Number: &v.number})
	}
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("test.proto"), Package: proto.String("test"), Syntax: proto.String("proto3"),
		Dependency: []string{"google/protobuf/any.proto", "google/protobuf/duration.proto", "google/protobuf/descriptor.proto"}, EnumType: []*descriptorpb.EnumDescriptorProto{color}}
	for _, m := range messages {
		for _, f := range m.Field {
			if f.GetProto3Optional() {
				f.OneofIndex = proto.Int32(int32(len(m.OneofDecl)))
				m.OneofDecl = append(m.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("_" + f.GetName())})
			}
		}
		// Members of a oneof are declared together, and so not in number order.
		slices.SortStableFunc(m.Field, func(a, b *descriptorpb.FieldDescriptorProto) int { return cmp.Compare(place(a), place(b)) })
		file.MessageType = append(file.MessageType, m.DescriptorProto)
	}
	fd, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	require.NoError(t, err)
	return fd.Messages().Get(0)
}

func place(f *descriptorpb.FieldDescriptorProto) int32 {
	if f.OneofIndex == nil {
		return -1
	}
	return f.GetOneofIndex()
}

// rich is a message with every type in every shape, its oneofs between other fields, and itself inside itself.
func rich(t testing.TB) *Kind {
	m := newMessage("Rich")
	for i, s := range append(scalars, "enum .test.Color") {
		name, _, _ := strings.Cut(s, " ")
		m.add("one_"+name, 10*i+1, s)
		m.add("opt_"+name, 10*i+2, s, optional)
		m.add("in_"+name, 10*i+3, s, m.in(fmt.Sprintf("choice%d", i%3)))
		m.add("all_"+name, 10*i+4, s, repeated)
		if name != "string" && name != "bytes" {
			m.add("loose_"+name, 10*i+5, s, loose)
		}
		if name != "float" && name != "double" && name != "bytes" && name != "enum" {
			m.addMap("by_"+name, 10*i+6, s, scalars[(i+7)%len(scalars)])
		}
	}
	m.add("child", 200, ".test.Rich")
	m.add("in_child", 201, ".test.Rich", m.in("choice0"))
	m.add("children", 202, ".test.Rich", repeated)
	m.addMap("named", 203, "string", ".test.Rich")
	m.addMap("colors", 204, "int32", "enum .test.Color")
	m.add("any", 205, ".google.protobuf.Any")
	m.add("wait", 206, ".google.protobuf.Duration")
	m.add("far", 536870911, "string")
	return testKind(t, build(t, m))
}

func testKind(t testing.TB, md protoreflect.MessageDescriptor) *Kind {
	k, err := newKind(row{name: "test.kind", message: md, form: wire.SubjectNode}, newCompiler())
	require.NoError(t, err)
	return k
}
