package kinds

import (
	"bytes"
	"iter"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A scanner goes through the fields of a message that was found canonical. On anything else it stops early.
type scanner struct {
	plan  *plan
	b     []byte
	at    int // of plan.fields, the one found last
	field *field
	tag   int // the field found is b[tag:end], its value b[start:end]
	start int
	end   int
}

func (p *plan) scan(b []byte) scanner { return scanner{plan: p, b: b} }

// next finds the next field, each element of an unpacked one and each entry of a map by itself.
func (s *scanner) next() bool {
	if s.end >= len(s.b) {
		return false
	}
	tag, start := uvarint(s.b, s.end)
	if start < 0 {
		return false
	}
	at := s.plan.seek(s.at, tag)
	if at == len(s.plan.fields) || s.plan.fields[at].tag != tag {
		return false
	}
	end := valueEnd(s.b, start, protowire.Type(tag&7))
	if end < 0 {
		return false
	}
	s.at, s.field, s.tag, s.start, s.end = at, &s.plan.fields[at], s.end, start, end
	return true
}

func valueEnd(b []byte, i int, t protowire.Type) int {
	end := -1
	switch t {
	case protowire.VarintType:
		_, end = uvarint(b, i)
	case protowire.Fixed32Type:
		end = i + 4
	case protowire.Fixed64Type:
		end = i + 8
	case protowire.BytesType:
		if _, stop, bad := span(b, i); bad == nil {
			end = stop
		}
	}
	if end > len(b) {
		return -1
	}
	return end
}

// content gives what stands behind the length of a length-delimited field.
func (s *scanner) content() []byte {
	_, start := uvarint(s.b, s.start)
	return s.b[start:s.end:s.end]
}

// isZeroEnum tells whether the field found is an enum of value zero.
func (s *scanner) isZeroEnum() bool {
	return s.field.op == opEnum && s.field.shape == single && s.b[s.start] == 0
}

// Texts yields every string value and every map key that is a string, at any depth of a canonical payload, as views of
// it, until yield gives false. It does not allocate.
func (k *Kind) Texts(payload []byte, yield func(text []byte) bool) { k.plan.texts(payload, yield) }

func (p *plan) texts(b []byte, yield func([]byte) bool) bool {
	for s := p.scan(b); s.next(); {
		switch {
		case s.field.message != nil: // map entries too
			if !s.field.message.texts(s.content(), yield) {
				return false
			}
		case s.field.op == opString:
			if !yield(s.content()) {
				return false
			}
		}
	}
	return true
}

// TopFields gives the fields of the outermost message of a canonical payload as they stand: the number, and what follows
// the tag, the length of a length-delimited value included. The elements of a repeated field that is not packed, and the
// entries of a map, come one by one.
func (k *Kind) TopFields(payload []byte) iter.Seq2[protowire.Number, []byte] {
	return func(yield func(protowire.Number, []byte) bool) {
		for s := k.plan.scan(payload); s.next(); {
			if !yield(s.field.number, s.b[s.start:s.end:s.end]) {
				return
			}
		}
	}
}

// SortMaps gives a canonical payload with the entries of each map, at any depth, in the order of the bytes of their
// keys: equal for payloads that differ in the order of map entries only. Where the message has no map it is the payload
// itself, else a copy.
func (k *Kind) SortMaps(payload []byte) []byte {
	if !k.hasMap {
		return payload
	}
	sorted := slices.Clone(payload)
	k.plan.sortMaps(sorted)
	return sorted
}

// sortMaps sorts in place: a permutation of entries changes no length.
func (p *plan) sortMaps(b []byte) {
	var run []entry
	start := 0
	for s := p.scan(b); s.next(); {
		if s.field.message != nil {
			s.field.message.sortMaps(s.content())
		}
		if s.field.shape != mapped {
			continue
		}
		if len(run) == 0 {
			start = s.tag
		}
		run = append(run, entry{s.field.key(s.content()), b[s.tag:s.end]})
		if !bytes.HasPrefix(b[s.end:], b[s.tag:s.start]) { // the last of its map
			sortEntries(b[start:s.end], run)
			run = run[:0]
		}
	}
}

// An entry is one map entry: its key, and all of it, tag included.
type entry struct{ key, whole []byte }

func sortEntries(dst []byte, run []entry) {
	byKey := func(a, b entry) int { return bytes.Compare(a.key, b.key) }
	if slices.IsSortedFunc(run, byKey) {
		return
	}
	slices.SortFunc(run, byKey)
	sorted := make([]byte, 0, len(dst)) // the entries are views of dst
	for _, e := range run {
		sorted = append(sorted, e.whole...)
	}
	copy(dst, sorted)
}

// key gives the key of a canonical map entry as it stands, without the length of a string.
func (f *field) key(entry []byte) []byte {
	s := f.message.scan(entry)
	if !s.next() {
		return nil
	}
	if s.field.op == opString {
		return s.content()
	}
	return entry[s.start:s.end]
}
