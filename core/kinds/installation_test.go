package kinds

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/wire"
)

const examples = "../../examples/kinds/"

func readExample(t testing.TB, name string) []byte {
	b, err := os.ReadFile(examples + name)
	require.NoError(t, err)
	return b
}

// acmeTable gives the table of the example.
func acmeTable(t testing.TB) *Table {
	f, err := ParseTableFile(readExample(t, "kinds.toml"))
	require.NoError(t, err)
	table, err := f.Table(readExample(t, f.DescriptorSet()))
	require.NoError(t, err)
	return table
}

func TestInstallationKinds(t *testing.T) {
	table := acmeTable(t)
	own := table.Kinds()[len(Builtin().Kinds()):]
	require.Equal(t, Builtin().Kinds(), table.Kinds()[:len(Builtin().Kinds())])
	require.Len(t, own, 2)
	flash, drain := own[0], own[1]
	require.Same(t, flash, table.Lookup([]byte("acme.flashNic")))
	require.Same(t, Builtin().Lookup([]byte("node.wipe")), table.Lookup([]byte("node.wipe")))
	require.Equal(t, "type.googleapis.com/acme.fleet.v1.FlashNicRequest", flash.TypeURL())
	require.True(t, flash.Destructive())
	require.False(t, drain.Destructive())
	require.Equal(t, []Role{RoleNode, RoleRamdisk}, flash.Roles())
	require.Equal(t, wire.SubjectNode, flash.SubjectForm())
	require.False(t, flash.Builtin())
	require.True(t, table.Lookup([]byte("node.wipe")).Builtin())
	require.Nil(t, Builtin().Lookup([]byte("acme.flashNic")))

	payload, err := flash.Encode([]byte(`{"image":"AQI=","settings":{"b":"2","a":"1"},"rebootAfter":"90s","ports":[{"leaveDown":true}],"version":"22.41"}`))
	require.NoError(t, err)
	require.Equal(t, unhex(t, "0a05 32322e3431 2a02 1001 3206 0a0161120131 3206 0a0162120132 4202 085a 4a02 0102"), payload)
	fields, err := flash.Decode(payload)
	require.NoError(t, err)
	require.Len(t, fields, 8) // of the oneof, the member that is set
	subject, _ := wire.ParseSubject([]byte("node_a"))
	require.NoError(t, flash.CheckSubject(subject, new(Walked)))
	relayed, _ := wire.ParseSubject([]byte("node:node_a"))
	require.Equal(t, "payload-subject", wire.ReasonOf(flash.CheckSubject(relayed, new(Walked))))
}

func TestDeclarations(t *testing.T) {
	messages, enums := acmeTable(t).Lookup([]byte("acme.flashNic")).Declarations()
	var names []string
	for _, m := range messages {
		names = append(names, m.Name)
	}
	require.Equal(t, []string{"acme.fleet.v1.FlashNicRequest", "acme.fleet.v1.FlashNicRequest.Port", "google.protobuf.Duration"}, names)
	require.Equal(t, []EnumDeclaration{{"acme.fleet.v1.FlashNicRequest.Force", []EnumValue{{"FORCE_UNSPECIFIED", 0}, {"SAME_VERSION", 1}, {"DOWNGRADE", 2}}}}, enums)
	require.Equal(t, []FieldDeclaration{
		{1, "version", "version", "", "string", "", false},
		{2, "sha256", "sha256", "", "bytes", "", false},
		{3, "url", "url", "", "string", "source", false},
		{4, "pci_addresses", "pciAddresses", "repeated", "string", "", false},
		{5, "ports", "ports", "repeated", "acme.fleet.v1.FlashNicRequest.Port", "", false},
		{6, "settings", "settings", "", "map<string, string>", "", false},
		{7, "force", "force", "", "acme.fleet.v1.FlashNicRequest.Force", "", false},
		{8, "reboot_after", "rebootAfter", "optional", "google.protobuf.Duration", "", false},
		{9, "image", "image", "", "bytes", "source", false},
	}, messages[0].Fields)

	messages, enums = caseKind(t).Declarations()
	require.Len(t, messages, 2) // itself, once, and Any
	require.Len(t, enums, 1)
	require.True(t, messages[0].Fields[10].Unpacked)
}

func TestOwnJSONNames(t *testing.T) {
	for name, json := range map[string]string{"a": "a", "pci_addresses": "pciAddresses", "a__b": "aB", "_a": "A", "a_": "a", "a_1b": "a1b", "a_B": "aB"} {
		require.False(t, FieldDeclaration{Name: name, JSONName: json}.HasOwnJSONName(), name)
		require.True(t, FieldDeclaration{Name: name, JSONName: json + "x"}.HasOwnJSONName(), name)
	}
	for _, k := range append(Builtin().Kinds(), rich(t)) { // what the library derives
		messages, _ := k.Declarations()
		for _, m := range messages {
			for _, f := range m.Fields {
				require.False(t, f.HasOwnJSONName(), "%s.%s", m.Name, f.Name)
			}
		}
	}
}

const goodTable = "descriptor_set = \"a.binpb\"\n[[kind]]\nname = \"acme.one\"\nmessage = \"acme.v1.One\"\ndestructive = true\n"

func TestTableFilesAreRefused(t *testing.T) {
	_, err := ParseTableFile([]byte(goodTable))
	require.NoError(t, err)
	replaced := func(old, new string) string {
		require.Contains(t, goodTable, old)
		return strings.Replace(goodTable, old, new, 1)
	}
	_, err = ParseTableFile([]byte(replaced("a.binpb", strings.Repeat("a", 255))))
	require.NoError(t, err)
	second := func(name string) string {
		return goodTable + "[[kind]]\nname = \"" + name + "\"\nmessage = \"acme.v1.One\"\ndestructive = false\n"
	}
	for text, want := range map[string]string{
		"":                                                              "the key descriptor_set is missing",
		`descriptor_set = "a"`:                                          "0 tables [[kind]] are there; wanted: 1 to 1000",
		replaced("\"a.binpb\"", "5"):                                    "line 1: the key \"descriptor_set\" is a whole number; wanted: a string",
		replaced("a.binpb", ""):                                         "descriptor_set is \"\"",
		replaced("a.binpb", "../a.binpb"):                               "line 1: descriptor_set is \"../a.binpb\"; wanted: the name of a file in the folder of the table",
		replaced("a.binpb", "/a"):                                       "wanted: the name of a file",
		replaced("a.binpb", ".."):                                       "wanted: the name of a file",
		replaced("a.binpb", `a\\b`):                                     "wanted: the name of a file",
		replaced("a.binpb", `a\u0000`):                                  "wanted: the name of a file",
		replaced("descriptor_set", "Descriptor_set"):                    "line 1: the key \"Descriptor_set\" is not known",
		replaced("name =", "Name ="):                                    "line 3: the key \"kind[0].Name\" is not known",
		replaced("[[kind]]", "[kind]"):                                  "line 2: the key \"kind\" is opened as [kind]",
		replaced("[[kind]]", "[[kinds]]"):                               "line 2: the key \"kinds\" is not known",
		replaced("name = \"acme.one\"\n", ""):                           "line 2: the key name of the [[kind]] is missing",
		replaced("message = \"acme.v1.One\"\n", ""):                     "line 2: the key message of the [[kind]] is missing",
		replaced("destructive = true\n", ""):                            "line 2: the key destructive of the [[kind]] is missing",
		replaced("= true", "= \"true\""):                                "line 5: the key \"kind[0].destructive\" is a string; wanted: true or false",
		replaced("= true", "= 1"):                                       "wanted: true or false",
		replaced("acme.one", "acme"):                                    "line 3: the name of a kind is \"acme\"; wanted: parts of",
		replaced("acme.one", "Acme.one"):                                "the name of a kind is",
		replaced("acme.one", "acme.\u043ene"):                           "the name of a kind is",
		replaced("acme.one", "a."+strings.Repeat("b", 63)):              "at most 64 bytes",
		replaced("acme.one", "bmc.flash"):                               "line 3: the name bmc.flash is reserved",
		replaced("acme.one", "bMC.flash"):                               "line 3: the name bMC.flash is reserved",
		replaced("a.binpb", strings.Repeat("a", 256)):                   "wanted: the name of a file",
		replaced("acme.one", "site.flash"):                              "line 3: the name site.flash is reserved",
		replaced("acme.one", "node.wipe"):                               "line 3: the name node.wipe is that of the built-in kind node.wipe",
		replaced("acme.one", "site.httpProxy"):                          "the built-in kind site.httpProxy",
		replaced("acme.one", "node.reImage"):                            "is that of the built-in kind node.reimage; names differ in more than letter case",
		second("acme.one"):                                              "line 7: the name acme.one is that of the kind on line 3",
		second("acme.oNe"):                                              "line 7: the name acme.oNe is that of the kind on line 3",
		replaced("acme.v1.One", ""):                                     "line 4: the message of acme.one is \"\"; wanted: its full name",
		replaced("acme.v1.One", ".acme.v1.One"):                         "wanted: its full name",
		replaced("acme.v1.One", "type.googleapis.com/acme.v1.One"):      "wanted: its full name",
		goodTable + "[[kind]]\n":                                        "line 6: the key name of the [[kind]] is missing",
		"descriptor_set = \"a\"\n" + strings.Repeat("[[kind]]\n", 1001): "1001 tables [[kind]] are there",
		strings.Repeat("#", 1<<20+1):                                    "has 1048577 bytes",
	} {
		f, err := ParseTableFile([]byte(text))
		require.Nil(t, f, "%.200s", text)
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%.200s: %v", text, err)
		require.ErrorContains(t, err, want, "%.200s", text)
		require.Contains(t, err.Error(), "the kinds table")
	}
}

// one gives the descriptor set of a file of package acme.v1 with the message One, and changes it.
func one(change func(f *descriptorpb.FileDescriptorProto, m message)) *descriptorpb.FileDescriptorSet {
	m := newMessage("One").add("text", 1, "string").add("number", 2, "int32")
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("one.proto"), Package: proto.String("acme.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{m.DescriptorProto}}
	if change != nil {
		change(f, m)
	}
	return &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{f}}
}

// imports adds a compiled-in file to the set and to the imports of the first.
func imports(set *descriptorpb.FileDescriptorSet, fd protoreflect.FileDescriptor, change func(*descriptorpb.FileDescriptorProto)) *descriptorpb.FileDescriptorSet {
	f := protodesc.ToFileDescriptorProto(fd)
	if change != nil {
		change(f)
	}
	set.File[0].Dependency = append(set.File[0].Dependency, fd.Path())
	set.File = append(set.File, f)
	return set
}

func enumOf(values ...any) *descriptorpb.EnumDescriptorProto {
	e := &descriptorpb.EnumDescriptorProto{Name: proto.String("Mode")}
	for i := 0; i < len(values); i += 2 {
		e.Value = append(e.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String(values[i].(string)), Number: proto.Int32(int32(values[i+1].(int)))})
	}
	return e
}

func tableOf(t testing.TB, set *descriptorpb.FileDescriptorSet) (*Table, error) {
	f, err := ParseTableFile([]byte(goodTable))
	require.NoError(t, err)
	b, err := proto.Marshal(set)
	require.NoError(t, err)
	return f.Table(b)
}

func TestDescriptorSetsAreTaken(t *testing.T) {
	duration, own := durationpb.File_google_protobuf_duration_proto, bettercomputev1.File_bettercomputev1_kinds_proto
	for name, set := range map[string]*descriptorpb.FileDescriptorSet{
		"plain":                    one(nil),
		"itself inside itself":     one(func(_ *descriptorpb.FileDescriptorProto, m message) { m.add("more", 3, ".acme.v1.One", repeated) }),
		"google.protobuf.Duration": imports(one(func(_ *descriptorpb.FileDescriptorProto, m message) { m.add("wait", 3, ".google.protobuf.Duration") }), duration, nil),
		"google.protobuf.Struct":   imports(one(func(_ *descriptorpb.FileDescriptorProto, m message) { m.add("more", 3, ".google.protobuf.Struct") }), structpb.File_google_protobuf_struct_proto, nil),
		"a message of ours": imports(one(func(_ *descriptorpb.FileDescriptorProto, m message) {
			m.add("wipe", 3, ".bettercompute.v1.WipeRequest")
		}), own, nil),
		"proto2 out of reach": imports(one(nil), descriptorpb.File_google_protobuf_descriptor_proto, nil),
		"Any out of reach":    imports(one(nil), anypb.File_google_protobuf_any_proto, nil),
		"source code info": one(func(f *descriptorpb.FileDescriptorProto, _ message) {
			f.SourceCodeInfo = &descriptorpb.SourceCodeInfo{Location: []*descriptorpb.SourceCodeInfo_Location{{Span: []int32{1}}}}
		}),
	} {
		table, err := tableOf(t, set)
		require.NoError(t, err, name)
		k := table.Lookup([]byte("acme.one"))
		payload, err := k.Encode([]byte(`{"text":"x"}`))
		require.NoError(t, err)
		requireBytes(t, []byte("\x0a\x01x"), payload)
	}
}
