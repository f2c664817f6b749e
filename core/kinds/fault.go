package kinds

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/wire"
)

// reasonForm is that of every payload that is not the canonical form of its message.
const reasonForm = "payload-unknown-fields"

// A fault is why a message is not canonical. Its path grows from the field it was found in up to the payload.
type fault struct {
	path   string // names of fields, or a number where unknown, joined by "."; empty for the message itself
	offset int    // byte of the message
	why    string // what the field does
}

func newFault(offset int, format string, args ...any) *fault {
	return &fault{offset: offset, why: fmt.Sprintf(format, args...)}
}

// under puts the fault into a field of that name, whose content begins at start.
func (f *fault) under(name string, start int) *fault {
	if f.path != "" {
		name += "." + f.path
	}
	f.path = name
	f.offset += start
	return f
}

func (f *fault) err(k *Kind) error {
	what := "the message"
	if f.path != "" {
		what = "field " + f.path
	}
	return wire.Errorf(wire.InvalidInput, reasonForm, "the payload of a %s is not a canonical %s: %s %s (byte %d)",
		k.name, k.plan.name, what, f.why, f.offset).
		With("kind", k.name).With("field", f.path).With("offset", f.offset)
}

var wireTypes = [8]string{"varint", "fixed64", "length-delimited", "start of a group", "end of a group", "fixed32", "6", "7"}

// misplaced explains a tag at byte i that cannot stand there. next is the index of the first field that may.
func (p *plan) misplaced(i int, tag uint64, next int) *fault {
	number, wireType := tag>>3, protowire.Type(tag&7)
	if number == 0 || number > uint64(protowire.MaxValidNumber) {
		return newFault(i, "has the field number %d", number)
	}
	f := p.byNumber(protowire.Number(number))
	switch {
	case wireType == protowire.StartGroupType || wireType == protowire.EndGroupType:
		return newFault(i, "is a group").under(fmt.Sprint(number), 0)
	case f == nil:
		return newFault(i, "is unknown to %s", p.name).under(fmt.Sprint(number), 0)
	}
	bad := newFault(i, "")
	switch last := &p.fields[max(next-1, 0)]; {
	case f.tag != tag && f.shape == packed:
		bad.why = fmt.Sprintf("has wire type %s; all its elements stand in one packed chunk", wireTypes[wireType])
	case f.tag != tag:
		bad.why = fmt.Sprintf("has wire type %s; wanted: %s", wireTypes[wireType], wireTypes[f.tag&7])
	case f == last && f.shape == packed:
		bad.why = "stands in two packed chunks; wanted: one"
	case f == last:
		bad.why = "stands twice"
	case f.oneof >= 0:
		bad.why = fmt.Sprintf("stands after %s: oneof order, for members of a oneof stand in number order too", last.name)
	default:
		bad.why = fmt.Sprintf("stands after %s; fields ascend by number", last.name)
	}
	return bad.under(f.name, 0)
}

// varintTrouble says why uvarint refuses what b begins with.
func varintTrouble(b []byte) string {
	switch _, n := protowire.ConsumeVarint(b); {
	case n > 0:
		return "is a varint that is not minimal"
	case len(b) < 10 && allContinue(b):
		return "is cut off"
	}
	return "is a varint over 64 bits"
}

func allContinue(b []byte) bool {
	for _, c := range b {
		if c < 0x80 {
			return false
		}
	}
	return true
}
