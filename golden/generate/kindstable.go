package main

// A tableVector is a table of an installation's kinds and the descriptor set beside it.
type tableVector struct {
	Name          string   `json:"name"`
	Table         string   `json:"table"`         // TOML
	DescriptorSet string   `json:"descriptorSet"` // base64
	Kinds         []string `json:"kinds"`         // those it adds
	outcome
}

const goodTable = `descriptor_set = "acme.binpb"

[[kind]]
name = "acme.one"
message = "acme.v1.One"
destructive = true
`

// oneFile is a FileDescriptorProto of package acme.v1 with the message One of a string and more.
func oneFile(syntax string, more ...[]byte) []byte {
	one := msg(str(1, "One"), sub(2, field(1, "text", "text", single, typeString, "", noOneof)), msg(more...))
	f := msg(str(1, "one.proto"), str(2, "acme.v1"), sub(4, one))
	if syntax != "" {
		f = append(f, str(12, syntax)...)
	}
	return f
}

func setOf(files ...[]byte) (set []byte) {
	for _, f := range files {
		set = append(set, sub(1, f)...)
	}
	return set
}

// kindsTables is tables of kinds, good or refused by one rule of WIRE.md §7 or of the pages on the format.
func kindsTables() any {
	var v []tableVector
	good := setOf(oneFile("proto3"))
	add := func(want outcome, name, table string, set []byte, kinds ...string) {
		if kinds == nil {
			kinds = []string{}
		}
		v = append(v, tableVector{name, table, b64(set), kinds, want})
	}
	bad := func(name, old, replacement string) {
		add(refused("INVALID_CONFIG"), name, edit(goodTable, old, replacement), good)
	}
	add(ok, "one kind", goodTable, good, "acme.one")
	add(ok, "two kinds of one message", goodTable+edit(edit(goodTable, "descriptor_set = \"acme.binpb\"\n", ""), "acme.one", "acme.two"), good, "acme.one", "acme.two")
	add(ok, "a name under node.", edit(goodTable, "acme.one", "node.flash"), good, "node.flash")
	bad("unknown key", "destructive = true", "destructive = true\nroles = []")
	bad("another letter case", "name =", "Name =")
	bad("key twice", "destructive = true", "destructive = true\ndestructive = true")
	bad("[kind]", "[[kind]]", "[kind]")
	bad("name missing", "name = \"acme.one\"\n", "")
	bad("message missing", "message = \"acme.v1.One\"\n", "")
	bad("destructive missing", "destructive = true\n", "")
	bad("descriptor_set missing", "descriptor_set = \"acme.binpb\"\n", "")
	bad("destructive as a string", "= true", "= \"true\"")
	bad("name of one part", "acme.one", "acme")
	bad("name in upper case", "acme.one", "Acme.one")
	bad("reserved bmc.", "acme.one", "bmc.flash")
	bad("reserved site.", "acme.one", "site.flash")
	bad("a built-in kind", "acme.one", "node.wipe")
	bad("a built-in kind in another letter case", "acme.one", "gpu.Reset")
	bad("name twice", "destructive = true\n", "destructive = true\n[[kind]]\nname = \"acme.one\"\nmessage = \"acme.v1.One\"\ndestructive = true\n")
	bad("descriptor_set in another folder", "acme.binpb", "../acme.binpb")
	bad("message not in the set", "acme.v1.One", "acme.v1.Two")
	bad("message as a type URL", "acme.v1.One", "type.googleapis.com/acme.v1.One")
	kindsSets(func(want outcome, name string, set []byte) {
		if want == ok {
			add(ok, name, goodTable, set, "acme.one")
		} else {
			add(want, name, goodTable, set)
		}
	})
	return v
}

// kindsSets is descriptor sets for goodTable.
func kindsSets(add func(want outcome, name string, set []byte)) {
	config := refused("INVALID_CONFIG")
	anyFile := msg(str(1, "google/protobuf/any.proto"), str(2, "google.protobuf"), sub(4, str(1, "Any"),
		sub(2, field(1, "type_url", "typeUrl", single, typeString, "", noOneof)), sub(2, field(2, "value", "value", single, typeBytes, "", noOneof))), str(12, "proto3"))
	imports := str(3, "google/protobuf/any.proto")
	reachesAny := sub(2, field(2, "any", "any", single, typeMessage, ".google.protobuf.Any", noOneof))
	reachesMode := sub(2, field(2, "mode", "mode", single, typeEnum, ".acme.v1.Mode", noOneof))
	mode := func(pairs ...any) []byte {
		e := str(1, "Mode")
		for name, n := range named[int](pairs...) {
			e = append(e, sub(2, str(1, name), vint(2, int64(n)))...)
		}
		return sub(5, append(e, sub(3, vint(2, 1))...)) // allow_alias
	}
	add(ok, "a message inside itself", setOf(oneFile("proto3", sub(2, field(2, "more", "more", repeated, typeMessage, ".acme.v1.One", noOneof)))))
	add(ok, "Any out of reach", setOf(anyFile, msg(oneFile("proto3"), imports)))
	add(config, "nothing", nil)
	add(config, "no descriptor set", []byte("descriptor_set"))
	add(config, "proto2", setOf(oneFile("")))
	add(config, "import missing", setOf(msg(oneFile("proto3", reachesAny), imports)))
	add(config, "Any within reach", setOf(anyFile, msg(oneFile("proto3", reachesAny), imports)))
	add(config, "type missing", setOf(oneFile("proto3", reachesMode)))
	add(config, "enum without zero", setOf(msg(oneFile("proto3", reachesMode), mode("A", 1, "B", 1))))
	add(config, "enum with two names for a value", setOf(msg(oneFile("proto3", reachesMode), mode("NONE", 0, "KEEP", 1, "WIPE", 1))))
	add(config, "a message of bettercompute.v1 otherwise", setOf(oneFile("proto3"), msg(str(1, "own.proto"), str(2, "bettercompute.v1"),
		sub(4, str(1, "RebootRequest"), sub(2, field(1, "force", "force", single, typeString, "", noOneof))), str(12, "proto3"))))
}
