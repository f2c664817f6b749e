package kinds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/better-compute/approver/core/wire"
)

// An op says how one value stands on the wire, and what its bytes must fulfil.
type op uint8

const (
	opUnsigned op = iota // a varint up to field.max
	opSigned             // a varint, an int32 with its sign extended to 64 bits
	opEnum               // opSigned, and named
	opFixed32
	opFixed64
	opBytes
	opString
	opMessage
	opRefused // google.protobuf.Any
)

// A shape says how the values of a field stand together.
type shape uint8

const (
	single   shape = iota
	packed         // all elements in one length-delimited chunk
	unpacked       // each element behind its own tag
	mapped         // each entry, a message of key and value, behind its own tag
)

// A plan is a message descriptor compiled for walking. Plans of messages that contain themselves are cyclic.
type plan struct {
	name   string // as a person is shown it
	fields []field
	oneofs []string // names of the oneofs, synthetic ones left out
}

// A field is one field of a plan. Its value, or that of an element, is described by op and what stands below it.
type field struct {
	tag      uint64 // number and wire type
	number   protowire.Number
	oneof    int // index in plan.oneofs, or -1
	op       op
	shape    shape
	presence bool   // may be written at its default
	max      uint64 // of opUnsigned
	message  *plan  // of opMessage; of a map, its entries: fields[0] the key, fields[1] the value
	enum     *enum  // of opEnum
	kind     protoreflect.Kind
	name     string
	typ      string // as Field.Type
}

// An enum is the set of named values of an enum type.
type enum struct {
	name  string
	low   uint64 // bit n is set where n is named
	names map[int32]string
}

// has tells whether the varint of an enum value, in the range of int32, is named.
func (e *enum) has(bits uint64) bool {
	if bits < 64 {
		return e.low>>bits&1 == 1
	}
	_, ok := e.names[int32(bits)]
	return ok
}

const anyName protoreflect.FullName = "google.protobuf.Any"

// checkNotAny refuses the message that has no canonical form, for a message of any type may stand in it.
func checkNotAny(d protoreflect.Descriptor) error {
	if d.FullName() == anyName {
		return fmt.Errorf("it reaches %s, which has no canonical form", anyName)
	}
	return nil
}

// checkProto3 wants a message or enum of a proto3 file, where there are no groups and no extension ranges, and every enum
// is open.
func checkProto3(d protoreflect.Descriptor) error {
	if f := d.ParentFile(); f.Syntax() != protoreflect.Proto3 {
		return fmt.Errorf("%s is defined in %.200q, which is not proto3", d.FullName(), f.Path())
	}
	return nil
}

// A compiler makes plans, one for each message, and enums, one for each of them however many fields have it.
type compiler struct {
	plans map[protoreflect.FullName]*plan
	enums map[protoreflect.FullName]*enum
}

func newCompiler() compiler {
	return compiler{make(map[protoreflect.FullName]*plan), make(map[protoreflect.FullName]*enum)}
}

// plan compiles a message and all it reaches, which must be proto3 (checkProto3). The error is INVALID_CONFIG.
func (c compiler) plan(md protoreflect.MessageDescriptor) (*plan, error) {
	if p, ok := c.plans[md.FullName()]; ok {
		return p, nil
	}
	if md.IsPlaceholder() {
		return nil, wire.Errorf(wire.InvalidConfig, "", "message %s is named, but no file defines it", md.FullName())
	}
	if err := checkProto3(md); err != nil {
		return nil, wire.Errorf(wire.InvalidConfig, "", "%w", err)
	}
	p := &plan{name: shortName(md)}
	c.plans[md.FullName()] = p
	oneofs := make(map[protoreflect.Name]int)
	for i := range md.Oneofs().Len() {
		if o := md.Oneofs().Get(i); !o.IsSynthetic() {
			oneofs[o.Name()] = len(p.oneofs)
			p.oneofs = append(p.oneofs, string(o.Name()))
		}
	}
	for i := range md.Fields().Len() {
		f, err := c.field(md.Fields().Get(i))
		if err != nil {
			return nil, err
		}
		if o := md.Fields().Get(i).ContainingOneof(); o != nil && !o.IsSynthetic() {
			f.oneof = oneofs[o.Name()]
		}
		p.fields = append(p.fields, f)
	}
	slices.SortFunc(p.fields, func(a, b field) int { return cmp.Compare(a.number, b.number) })
	return p, nil
}

func (c compiler) field(fd protoreflect.FieldDescriptor) (field, error) {
	f := field{number: fd.Number(), oneof: -1, kind: fd.Kind(), name: string(fd.Name()), typ: typeOf(fd),
		presence: fd.HasPresence() || fd.ContainingMessage().IsMapEntry()}
	wireType := f.setOp()
	switch {
	case fd.IsMap():
		f.shape = mapped
	case fd.IsList() && fd.IsPacked():
		f.shape, wireType = packed, protowire.BytesType
	case fd.IsList():
		f.shape = unpacked
	}
	f.tag = protowire.EncodeTag(f.number, wireType)
	if ed := fd.Enum(); ed != nil {
		if ed.IsPlaceholder() {
			return f, wire.Errorf(wire.InvalidConfig, "", "enum %s is named, but no file defines it", ed.FullName())
		}
		f.enum = c.enum(ed)
	}
	var err error
	switch md := fd.Message(); {
	case md == nil:
	case checkNotAny(md) != nil:
		f.op = opRefused
	default:
		f.message, err = c.plan(md)
	}
	return f, err
}

// setOp sets op and max from kind, and gives the wire type of one value.
func (f *field) setOp() protowire.Type {
	switch f.kind {
	case protoreflect.BoolKind:
		f.op, f.max = opUnsigned, 1
	case protoreflect.Uint32Kind, protoreflect.Sint32Kind:
		f.op, f.max = opUnsigned, math.MaxUint32
	case protoreflect.Uint64Kind, protoreflect.Sint64Kind, protoreflect.Int64Kind:
		f.op, f.max = opUnsigned, math.MaxUint64
	case protoreflect.Int32Kind:
		f.op = opSigned
	case protoreflect.EnumKind:
		f.op = opEnum
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		f.op = opFixed32
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		f.op = opFixed64
		return protowire.Fixed64Type
	case protoreflect.StringKind:
		f.op = opString
		return protowire.BytesType
	case protoreflect.BytesKind:
		f.op = opBytes
		return protowire.BytesType
	case protoreflect.MessageKind, protoreflect.GroupKind: // proto3 has no group, and one on the wire fits no tag
		f.op = opMessage
		return protowire.BytesType
	}
	return protowire.VarintType
}

func (c compiler) enum(ed protoreflect.EnumDescriptor) *enum {
	e, ok := c.enums[ed.FullName()]
	if !ok {
		e = newEnum(ed)
		c.enums[ed.FullName()] = e
	}
	return e
}

func newEnum(ed protoreflect.EnumDescriptor) *enum {
	e := &enum{name: shortName(ed), names: make(map[int32]string)}
	for i := range ed.Values().Len() {
		v := ed.Values().Get(i)
		n := int32(v.Number())
		if _, alias := e.names[n]; alias {
			continue
		}
		e.names[n] = string(v.Name())
		if n >= 0 && n < 64 {
			e.low |= 1 << n
		}
	}
	return e
}

// seek gives the index of the first field, from next on, whose number is not below that of tag.
func (p *plan) seek(next int, tag uint64) int {
	tag &^= 7
	for range 8 { // most messages leave out few fields
		if next == len(p.fields) || p.fields[next].tag >= tag {
			return next
		}
		next++
	}
	return next + sort.Search(len(p.fields)-next, func(i int) bool { return p.fields[next+i].tag >= tag })
}

// byNumber gives a field, or nil.
func (p *plan) byNumber(n protowire.Number) *field {
	i, ok := slices.BinarySearchFunc(p.fields, n, func(f field, n protowire.Number) int { return cmp.Compare(f.number, n) })
	if !ok {
		return nil
	}
	return &p.fields[i]
}

// byName gives a field, or nil.
func (p *plan) byName(name protoreflect.Name) *field {
	for i := range p.fields {
		if p.fields[i].name == string(name) {
			return &p.fields[i]
		}
	}
	return nil
}

// reachesMap tells whether a message of the plan may hold a map at any depth.
func (p *plan) reachesMap(visited map[*plan]bool) bool {
	visited[p] = true
	for i := range p.fields {
		f := &p.fields[i]
		if f.shape == mapped || f.message != nil && !visited[f.message] && f.message.reachesMap(visited) {
			return true
		}
	}
	return false
}
