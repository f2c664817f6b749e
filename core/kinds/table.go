package kinds

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/wire"
)

// A Role is the part a machine plays, and so which kinds it runs (WIRE.md §7).
type Role string

// The roles of WIRE.md §7.
const (
	RoleNode       Role = "node"
	RoleNodeTenant Role = "node-tenant"
	RoleRamdisk    Role = "ramdisk"
	RoleSite       Role = "site"
)

const typeURLPrefix = "type.googleapis.com/"

// A Kind is one row of a Table. It is immutable and safe for concurrent use.
type Kind struct {
	name        string
	typeURL     string
	message     protoreflect.MessageDescriptor
	destructive bool
	roles       []Role
	form        wire.SubjectForm
	plan        *plan
	hasMap      bool
	relayed     *field // names the machine that the command is passed on to, or nil
	operation   *field // the member of its oneof that a payload of this kind carries, or nil
	set         []byte // SHA-256 of the descriptor set it comes from, or nil
}

// Name gives the name of the kind, such as "node.wipe".
func (k *Kind) Name() string { return k.name }

// TypeURL gives the only type URL a payload of the kind may have.
func (k *Kind) TypeURL() string { return k.typeURL }

// Message gives the descriptor of the kind's payload.
func (k *Kind) Message() protoreflect.MessageDescriptor { return k.message }

// Destructive tells whether the kind needs approvals.
func (k *Kind) Destructive() bool { return k.destructive }

// Roles gives the roles that run the kind, as a copy.
func (k *Kind) Roles() []Role { return slices.Clone(k.roles) }

// SubjectForm gives the form of the subjects of the kind (WIRE.md §2).
func (k *Kind) SubjectForm() wire.SubjectForm { return k.form }

// DescriptorSetSHA256 gives the digest of the descriptor set that the kind's message was read from: two that differ may show
// the same payload as different operations. It is nil for a built-in kind.
func (k *Kind) DescriptorSetSHA256() []byte { return slices.Clone(k.set) }

// CheckType checks the type URL beside a payload. The error is INVALID_INPUT with the reason payload-type: a payload of
// another type is never decoded as what it is labelled.
func (k *Kind) CheckType(typeURL string) error {
	if typeURL == k.typeURL {
		return nil
	}
	const shown = 80 // bytes; a file may label a payload with megabytes
	if len(typeURL) > shown {
		typeURL = typeURL[:shown] + "…"
	}
	return wire.Errorf(wire.InvalidInput, "payload-type", "kind %s takes type %q, the payload is labelled %q", k.name, k.typeURL, typeURL).
		With("kind", k.name).With("typeUrl", typeURL).With("wanted", k.typeURL)
}

// A Table is a set of kinds. It is immutable and safe for concurrent use.
type Table struct {
	kinds  []*Kind
	byName map[string]*Kind
}

// Lookup gives the kind of a name, or nil where the table does not know it. It does not allocate.
func (t *Table) Lookup(name []byte) *Kind { return t.byName[string(name)] }

// Kinds gives the kinds in the order of WIRE.md §7, as a copy.
func (t *Table) Kinds() []*Kind { return slices.Clone(t.kinds) }

// Builtin gives the table of WIRE.md §7.
func Builtin() *Table { return builtin() }

var builtin = sync.OnceValue(func() *Table {
	table, err := newTable(builtinRows())
	if err != nil {
		panic(err) // the rows and the messages are compiled in, and a test builds them
	}
	return table
})

func newTable(rows []row) (*Table, error) {
	t := &Table{byName: make(map[string]*Kind, len(rows))}
	plans := newCompiler()
	for _, r := range rows {
		k, err := newKind(r, plans)
		if err != nil {
			return nil, err
		}
		t.kinds = append(t.kinds, k)
		t.byName[k.name] = k
	}
	return t, nil
}

// A row is what a kind is made of. relayed and operation name fields of the message, or are empty.
type row struct {
	name        string
	message     protoreflect.MessageDescriptor
	destructive bool
	roles       []Role
	form        wire.SubjectForm
	relayed     protoreflect.Name
	operation   protoreflect.Name
}

func builtinRows() []row {
	message := bettercomputev1.File_bettercomputev1_kinds_proto.Messages().ByName
	onNode := func(name string, message protoreflect.MessageDescriptor, roles ...Role) row {
		return row{name: name, message: message, destructive: true, roles: roles, form: wire.SubjectNode}
	}
	onBMC := func(name string, operation protoreflect.Name) row {
		return row{name: name, message: message("BmcOperationRequest"), destructive: operation != "sensors",
			roles: []Role{RoleSite}, form: wire.SubjectBMC, relayed: "address", operation: operation}
	}
	proxy := row{name: "site.httpProxy", message: message("HttpProxyRequest"), destructive: true,
		roles: []Role{RoleSite}, form: wire.SubjectTarget, relayed: "target_node_id"}
	inspect := onNode("node.inspect", message("InspectRequest"), RoleNode, RoleNodeTenant, RoleRamdisk)
	inspect.destructive = false
	return []row{
		onNode("node.reboot", message("RebootRequest"), RoleNode, RoleRamdisk),
		onNode("node.reimage", message("ReimageRequest"), RoleNode, RoleRamdisk),
		onNode("node.wipe", message("WipeRequest"), RoleNode, RoleRamdisk),
		onNode("node.firmware", message("FirmwareRequest"), RoleNode, RoleRamdisk),
		onNode("gpu.reset", message("GpuResetRequest"), RoleNode),
		onBMC("bmc.power", "power"),
		onBMC("bmc.boot", "boot"),
		onBMC("bmc.rotate", "rotate"),
		onBMC("bmc.sensors", "sensors"),
		proxy,
		inspect,
	}
}

// newKind compiles a row. plans holds the plans of messages compiled before. The error is INVALID_CONFIG.
func newKind(r row, plans compiler) (*Kind, error) {
	if err := checkNotAny(r.message); err != nil {
		return nil, wire.Errorf(wire.InvalidConfig, "", "kind %s: %w", r.name, err)
	}
	p, err := plans.plan(r.message)
	if err != nil {
		return nil, wire.Errorf(wire.InvalidConfig, "", "kind %s: %w", r.name, err)
	}
	k := &Kind{name: r.name, typeURL: typeURLPrefix + string(r.message.FullName()), message: r.message, destructive: r.destructive,
		roles: r.roles, form: r.form, plan: p, hasMap: p.reachesMap(make(map[*plan]bool))}
	if r.relayed != "" {
		if k.relayed = p.byName(r.relayed); k.relayed == nil || k.relayed.op != opString || k.relayed.shape != single {
			return nil, wire.Errorf(wire.InvalidConfig, "", "kind %s: %s has no singular string %s", r.name, p.name, r.relayed)
		}
	}
	if r.operation != "" {
		if k.operation = p.byName(r.operation); k.operation == nil || k.operation.oneof < 0 {
			return nil, wire.Errorf(wire.InvalidConfig, "", "kind %s: %s has no oneof member %s", r.name, p.name, r.operation)
		}
	}
	return k, nil
}
