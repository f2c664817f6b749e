package kinds

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/better-compute/approver/core/wire"
)

// MaxDescriptorSetBytes bounds the FileDescriptorSet beside a table.
const MaxDescriptorSetBytes = 8 << 20

const (
	maxOwnKinds = 1000 // of one table
	tableName   = "the kinds table"
)

// A TableFile is the table of an installation's own kinds as its TOML file has it, before its messages are looked for
// (WIRE.md §7). It is immutable.
type TableFile struct {
	descriptorSet string
	kinds         []declared
}

// A declared kind is one [[kind]] of a table file.
type declared struct {
	name        string
	message     protoreflect.FullName
	destructive bool
	at          string // the key of its table, such as "kind[0]"
	line        int
}

type tableTOML struct {
	DescriptorSet *string `toml:"descriptor_set"`
	Kind          []struct {
		Name        *string `toml:"name"`
		Message     *string `toml:"message"`
		Destructive *bool   `toml:"destructive"`
	} `toml:"kind"`
}

// ParseTableFile reads the TOML of a table of kinds, at most 1 MiB, strictly: descriptor_set, the name of a file in the
// same folder, and 1 to 1,000 tables [[kind]] of name, message and destructive, all of them required. A name has the form
// of WIRE.md §2, is no name of a built-in kind and under neither bmc. nor site., and differs from each other name in more
// than letter case. The error is INVALID_CONFIG and names the line and the key.
func ParseTableFile(toml []byte) (*TableFile, error) {
	var v tableTOML
	lines, err := wire.DecodeTOML(tableName, toml, &v)
	if err != nil {
		return nil, err
	}
	if v.DescriptorSet == nil {
		return nil, missing("", 0, "descriptor_set")
	}
	f := &TableFile{descriptorSet: *v.DescriptorSet}
	if !isFileName(f.descriptorSet) {
		return nil, refuseKey("descriptor_set", lines["descriptor_set"],
			"descriptor_set is %q; wanted: the name of a file in the folder of the table", f.descriptorSet)
	}
	if len(v.Kind) == 0 || len(v.Kind) > maxOwnKinds {
		return nil, refuseKey("kind", lines["kind"], "%d tables [[kind]] are there; wanted: 1 to %d", len(v.Kind), maxOwnKinds)
	}
	for i, k := range v.Kind {
		d := declared{at: "kind[" + strconv.Itoa(i) + "]"}
		d.line = lines[d.at]
		switch {
		case k.Name == nil:
			return nil, missing(d.at+".", d.line, "name")
		case k.Message == nil:
			return nil, missing(d.at+".", d.line, "message")
		case k.Destructive == nil:
			return nil, missing(d.at+".", d.line, "destructive")
		}
		d.name, d.message, d.destructive = *k.Name, protoreflect.FullName(*k.Message), *k.Destructive
		f.kinds = append(f.kinds, d)
	}
	if err := f.checkNames(lines); err != nil {
		return nil, err
	}
	return f, nil
}

// DescriptorSet gives the name of the file with the FileDescriptorSet, in the folder of the table.
func (f *TableFile) DescriptorSet() string { return f.descriptorSet }

// isFileName tells whether s names a file in a folder, and nothing above, below or beside it.
func isFileName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 255 && !strings.ContainsAny(s, "/\\\x00")
}

func (f *TableFile) checkNames(lines wire.TOMLLines) error {
	taken := make(map[string]string) // by the name in lower case, whose it is
	for _, k := range Builtin().Kinds() {
		taken[strings.ToLower(k.name)] = "the built-in kind " + k.name
	}
	for _, d := range f.kinds {
		line := lines[d.at+".name"]
		fail := func(format string, args ...any) error { return refuseKey(d.at+".name", line, format, args...) }
		folded := strings.ToLower(d.name)
		switch owner, ok := taken[folded]; {
		case !wire.IsKind(d.name):
			return fail("the name of a kind is %q; wanted: parts of a-z A-Z 0-9 _ - that begin with a-z, joined by a full stop, at least two, at most 64 bytes", d.name)
		case ok:
			return fail("the name %s is that of %s; names differ in more than letter case", d.name, owner)
		case strings.HasPrefix(folded, "bmc.") || strings.HasPrefix(folded, "site."):
			return fail("the name %s is reserved; bmc. and site. are the system's own", d.name)
		case !d.message.IsValid():
			return refuseKey(d.at+".message", lines[d.at+".message"], "the message of %s is %q; wanted: its full name, such as acme.fleet.v1.FlashNicRequest", d.name, d.message)
		}
		taken[folded] = "the kind on line " + strconv.Itoa(line)
	}
	return nil
}

func missing(prefix string, line int, key string) error {
	where := ""
	if line > 0 {
		where = " of the [[kind]]"
	}
	return refuseKey(prefix+key, line, "the key %s%s is missing", key, where)
}

func refuseKey(key string, line int, format string, args ...any) error {
	place := tableName
	if line > 0 {
		place += " line " + strconv.Itoa(line)
	}
	return wire.Errorf(wire.InvalidConfig, "", place+": "+format, args...).With("key", key).With("line", line)
}
