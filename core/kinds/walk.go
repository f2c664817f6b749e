package kinds

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/wire"
)

// Walked is what a walk notes of a payload for the stages after it. The zero value is ready; one used again for the next
// payload keeps its scratch space. It is not safe for concurrent use.
type Walked struct {
	Relayed      []byte // the relayed address or target, a view of the payload; nil where it has none
	RelayedStart int    // the bytes of the whole relayed field, tag included: payload[RelayedStart:RelayedEnd];
	RelayedEnd   int    // equal where there is none

	// Operation is the number of the member of BmcOperationRequest.operation that is set. It is 0 where none is, and
	// where power is POWER_ACTION_UNSPECIFIED.
	Operation protowire.Number

	keys   [][]byte
	fields int // of all messages met, the absent ones included
}

// maxShownFields bounds what one payload is shown as. Every field of every message within is, also one that is absent, and two
// bytes make a message.
const maxShownFields = 1 << 18

// Walk checks that payload has the canonical form of WIRE.md §7 and notes in w what later stages need. It allocates
// nothing where the payload is canonical, but for messages of over 64 oneofs and for maps whose keys do not ascend, whose
// space w keeps. The error is INVALID_INPUT with the reason payload-unknown-fields, and names the field, the byte of the
// payload and the cause.
func (k *Kind) Walk(payload []byte, w *Walked) error {
	w.Relayed, w.RelayedStart, w.RelayedEnd, w.Operation = nil, 0, 0, 0
	bad := k.plan.walk(payload, 1, w)
	w.fields = 0
	if bad != nil {
		return bad.err(k)
	}
	if k.relayed != nil || k.operation != nil {
		k.note(payload, w)
	}
	return nil
}

// note finds the relayed field and the operation of a canonical payload.
func (k *Kind) note(payload []byte, w *Walked) {
	for s := k.plan.scan(payload); s.next(); {
		if s.field == k.relayed {
			w.Relayed, w.RelayedStart, w.RelayedEnd = s.content(), s.tag, s.end
		}
		if k.operation != nil && s.field.oneof == k.operation.oneof && !s.isZeroEnum() {
			w.Operation = s.field.number
		}
	}
}

// walk checks one message. level is 1 for the payload itself.
func (p *plan) walk(b []byte, level int, w *Walked) *fault {
	if level > wire.MaxPayloadLevels {
		return newFault(0, "is nested deeper than %d levels", wire.MaxPayloadLevels)
	}
	if w.fields += len(p.fields); w.fields > maxShownFields {
		return newFault(0, "makes over %d fields to show to a person", maxShownFields)
	}
	var few [1]uint64
	oneofs := few[:]
	if len(p.oneofs) > 64 {
		oneofs = make([]uint64, (len(p.oneofs)+63)/64)
	}
	next := 0 // of p.fields, the first that may still come
	for i := 0; i < len(b); {
		tag, value := uvarint(b, i)
		if value < 0 {
			return newFault(i, "has a tag that %s", varintTrouble(b[i:]))
		}
		at := next
		if at == len(p.fields) || p.fields[at].tag != tag {
			if at = p.seek(next, tag); at == len(p.fields) || p.fields[at].tag != tag {
				return p.misplaced(i, tag, next)
			}
		}
		f := &p.fields[at]
		if f.oneof >= 0 {
			if oneofs[f.oneof/64]>>(f.oneof%64)&1 == 1 {
				return newFault(i, "is a second member of the oneof %s", p.oneofs[f.oneof]).under(f.name, 0)
			}
			oneofs[f.oneof/64] |= 1 << (f.oneof % 64)
		}
		end, bad := f.walk(b, i, value, level, w)
		if bad != nil {
			return bad.under(f.name, 0)
		}
		i, next = end, at+1
	}
	return nil
}

// walk checks all that stands of a field whose tag is b[tag:i] and gives where it ends.
func (f *field) walk(b []byte, tag, i, level int, w *Walked) (int, *fault) {
	switch f.shape {
	case packed:
		return f.walkPacked(b, i, level, w)
	case unpacked:
		for {
			end, _, bad := f.value(b, i, level, w)
			if bad != nil || !bytes.HasPrefix(b[end:], b[tag:i]) {
				return end, bad
			}
			tag, i = end, end+i-tag
		}
	case mapped:
		return f.walkMap(b, tag, i, level, w)
	}
	end, bits, bad := f.value(b, i, level, w)
	if bad == nil && bits == 0 && !f.presence {
		bad = newFault(tag, "is written at its default, which is left out")
	}
	return end, bad
}

// walkPacked checks a chunk of elements whose length stands at b[i].
func (f *field) walkPacked(b []byte, i, level int, w *Walked) (int, *fault) {
	i, end, bad := span(b, i)
	if bad == nil && i == end {
		bad = newFault(i, "is an empty packed chunk")
	}
	for bad == nil && i < end {
		i, _, bad = f.value(b[:end], i, level, w)
	}
	return end, bad
}

// walkMap checks a run of map entries, the tag of the first being b[tag:i].
func (f *field) walkMap(b []byte, tag, i, level int, w *Walked) (int, *fault) {
	first, tagLen := tag, i-tag
	ascending := true
	var last []byte
	for {
		key, end, bad := f.walkEntry(b, i, level, w)
		if bad != nil {
			return end, bad
		}
		ascending = ascending && (last == nil || bytes.Compare(last, key) < 0)
		last = key
		if !bytes.HasPrefix(b[end:], b[tag:i]) {
			if ascending { // so no key stands twice
				return end, nil
			}
			return end, f.checkKeys(b[:end], first, tagLen, w)
		}
		tag, i = end, end+tagLen
	}
}

// walkEntry checks one map entry, whose length stands at b[i]. key is not nil where it succeeds.
func (f *field) walkEntry(b []byte, i, level int, w *Walked) (key []byte, end int, bad *fault) {
	i, end, bad = span(b, i)
	if bad != nil {
		return nil, end, bad
	}
	entry := b[:end]
	for n := range f.message.fields {
		part := &f.message.fields[n]
		if i == end || uint64(entry[i]) != part.tag {
			return nil, end, newFault(i, "has a map entry that is not its key, then its value; its %s is wanted here", part.name)
		}
		start := i + 1
		after, bits, bad := part.value(entry, start, level, w)
		if bad != nil {
			return nil, end, bad.under(part.name, 0)
		}
		if n == 0 {
			if part.op == opString {
				start = after - int(bits)
			}
			key = entry[start:after:after]
		}
		i = after
	}
	if i != end {
		return nil, end, newFault(i, "has a map entry with more than its key and its value")
	}
	return key, end, nil
}

// checkKeys checks that no key stands twice in a run of canonical entries from b[i] to the end of b.
func (f *field) checkKeys(b []byte, i, tagLen int, w *Walked) *fault {
	keys := w.keys[:0]
	for at := i; at < len(b); {
		start, end, _ := span(b, at+tagLen)
		keys = append(keys, f.key(b[start:end]))
		at = end
	}
	w.keys = keys
	slices.SortFunc(keys, bytes.Compare)
	for n := 1; n < len(keys); n++ {
		if bytes.Equal(keys[n-1], keys[n]) {
			return newFault(i, "has a map key twice")
		}
	}
	return nil
}

// value checks one value of f that begins at b[i]. It gives where it ends, and its bits or, where it is
// length-delimited, its length.
func (f *field) value(b []byte, i, level int, w *Walked) (end int, bits uint64, bad *fault) {
	switch f.op {
	case opUnsigned, opSigned, opEnum:
		bits, end = uvarint(b, i)
		if end < 0 {
			return i, 0, newFault(i, "%s", varintTrouble(b[i:]))
		}
		return end, bits, f.checkRange(i, bits)
	case opFixed32:
		if len(b)-i < 4 {
			return i, 0, newFault(i, "is cut off")
		}
		return i + 4, fixed32(b, i), nil
	case opFixed64:
		if len(b)-i < 8 {
			return i, 0, newFault(i, "is cut off")
		}
		return i + 8, fixed64(b, i), nil
	}
	start, end, bad := span(b, i)
	if bad == nil {
		bad = f.checkContent(b[start:end], start, level, w)
	}
	return end, uint64(end - start), bad
}

// checkRange checks the bits of a varint at byte i against the type of f.
func (f *field) checkRange(i int, bits uint64) *fault {
	switch f.op {
	case opUnsigned:
		if bits > f.max {
			return newFault(i, "is %d, out of the range of %s", bits, f.kind)
		}
	default:
		if int64(bits) != int64(int32(bits)) {
			return newFault(i, "is %d, out of the range of %s (a negative value takes ten bytes)", bits, f.kind)
		}
		if f.op == opEnum && !f.enum.has(bits) {
			return newFault(i, "is %d, which has no name in %s", int32(bits), f.enum.name)
		}
	}
	return nil
}

// checkContent checks what stands behind a length, from byte i on.
func (f *field) checkContent(content []byte, i, level int, w *Walked) *fault {
	switch f.op {
	case opString:
		if !utf8.Valid(content) {
			return newFault(i, "is not UTF-8")
		}
	case opMessage:
		if bad := f.message.walk(content, level+1, w); bad != nil {
			bad.offset += i
			return bad
		}
	case opRefused:
		return newFault(i, "is a google.protobuf.Any, which has no canonical form")
	}
	return nil
}
