package kinds

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The oracle is google.golang.org/protobuf: dynamicpb reads, and what follows here writes, from protoreflect alone and
// knowing nothing of plans, the one canonical encoding of a message, or what Decode must give.

// A writer writes canonical encodings; order arranges the entries of a map.
type writer struct{ order func(entries [][]byte) }

func fieldsByNumber(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var fds []protoreflect.FieldDescriptor
	for i := range md.Fields().Len() {
		fds = append(fds, md.Fields().Get(i))
	}
	slices.SortFunc(fds, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	return fds
}

func (w writer) message(m protoreflect.Message) (b []byte) {
	for _, fd := range fieldsByNumber(m.Descriptor()) {
		if !m.Has(fd) {
			continue
		}
		v := m.Get(fd)
		switch {
		case fd.IsMap():
			for _, e := range w.entries(fd, v.Map()) {
				b = protowire.AppendBytes(protowire.AppendTag(b, fd.Number(), protowire.BytesType), e)
			}
		case fd.IsList() && fd.IsPacked():
			var chunk []byte
			for i := range v.List().Len() {
				chunk = w.value(chunk, fd, v.List().Get(i))
			}
			b = protowire.AppendBytes(protowire.AppendTag(b, fd.Number(), protowire.BytesType), chunk)
		case fd.IsList():
			for i := range v.List().Len() {
				b = w.value(w.tag(b, fd), fd, v.List().Get(i))
			}
		default:
			b = w.value(w.tag(b, fd), fd, v)
		}
	}
	return b
}

func (w writer) entries(fd protoreflect.FieldDescriptor, m protoreflect.Map) [][]byte {
	var all [][]byte
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		e := w.value(w.tag(nil, fd.MapKey()), fd.MapKey(), k.Value())
		all = append(all, w.value(w.tag(e, fd.MapValue()), fd.MapValue(), v))
		return true
	})
	sortByKey(all)
	w.order(all)
	return all
}

// sortByKey sorts map entries by the bytes of their keys, lengths left out.
func sortByKey(entries [][]byte) {
	key := func(e []byte) []byte {
		_, t, n := protowire.ConsumeTag(e)
		e = e[n:]
		if t == protowire.BytesType {
			s, _ := protowire.ConsumeBytes(e)
			return s
		}
		return e[:protowire.ConsumeFieldValue(1, t, e)]
	}
	slices.SortFunc(entries, func(a, b []byte) int { return bytes.Compare(key(a), key(b)) })
}

func (writer) tag(b []byte, fd protoreflect.FieldDescriptor) []byte {
	t := protowire.VarintType
	switch fd.Kind() {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		t = protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		t = protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		t = protowire.BytesType
	}
	return protowire.AppendTag(b, fd.Number(), t)
}

func (w writer) value(b []byte, fd protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protowire.AppendVarint(b, protowire.EncodeBool(v.Bool()))
	case protoreflect.EnumKind:
		return protowire.AppendVarint(b, uint64(v.Enum()))
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return protowire.AppendVarint(b, uint64(v.Int()))
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return protowire.AppendVarint(b, protowire.EncodeZigZag(v.Int()))
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return protowire.AppendVarint(b, v.Uint())
	case protoreflect.Fixed32Kind:
		return protowire.AppendFixed32(b, uint32(v.Uint()))
	case protoreflect.Sfixed32Kind:
		return protowire.AppendFixed32(b, uint32(v.Int()))
	case protoreflect.FloatKind:
		return protowire.AppendFixed32(b, math.Float32bits(float32(v.Float())))
	case protoreflect.Fixed64Kind:
		return protowire.AppendFixed64(b, v.Uint())
	case protoreflect.Sfixed64Kind:
		return protowire.AppendFixed64(b, uint64(v.Int()))
	case protoreflect.DoubleKind:
		return protowire.AppendFixed64(b, math.Float64bits(v.Float()))
	case protoreflect.StringKind:
		return protowire.AppendString(b, v.String())
	case protoreflect.BytesKind:
		return protowire.AppendBytes(b, v.Bytes())
	}
	return protowire.AppendBytes(b, w.message(v.Message()))
}

// sorted writes the entries of maps in the order of SortMaps.
var sorted = writer{order: func([][]byte) {}}

// A look is what the oracle sees of a decoded message at all depths.
type look struct {
	levels  int
	unknown bool // bytes the message does not know, or an enum value without a name
	any     bool
	nan     bool // protoreflect does not keep the bits of a float32 NaN
	texts   []string
}

func (l *look) message(m protoreflect.Message, level int) {
	l.levels = max(l.levels, level)
	l.unknown = l.unknown || len(m.GetUnknown()) > 0
	l.any = l.any || m.Descriptor().FullName() == "google.protobuf.Any"
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				l.value(fd.MapKey(), k.Value(), level)
				l.value(fd.MapValue(), v, level)
				return true
			})
		case fd.IsList():
			for i := range v.List().Len() {
				l.value(fd, v.List().Get(i), level)
			}
		default:
			l.value(fd, v, level)
		}
		return true
	})
}

func (l *look) value(fd protoreflect.FieldDescriptor, v protoreflect.Value, level int) {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		l.message(v.Message(), level+1)
	case protoreflect.EnumKind:
		l.unknown = l.unknown || fd.Enum().Values().ByNumber(v.Enum()) == nil
	case protoreflect.StringKind:
		l.texts = append(l.texts, v.String())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		l.nan = l.nan || math.IsNaN(v.Float())
	}
}

// decoded gives what Decode must give of a message without NaN, its maps in the order of SortMaps.
func decoded(m protoreflect.Message) []Field {
	fields := []Field{}
	none := make(map[protoreflect.FullName]bool)
	for _, fd := range fieldsByNumber(m.Descriptor()) {
		f := Field{Name: string(fd.Name()), Number: int(fd.Number()), Type: typeName(fd), Present: m.Has(fd), Repeated: fd.IsList(), Map: fd.IsMap()}
		if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
			if f.Oneof = string(o.Name()); m.WhichOneof(o) == nil && !none[o.FullName()] {
				none[o.FullName()] = true
				fields = append(fields, Field{Name: f.Oneof, Type: "oneof", Values: []Value{{Text: "none"}}})
			}
			if !f.Present {
				continue
			}
		}
		v := m.Get(fd)
		switch {
		case fd.IsMap():
			for _, e := range sorted.entries(fd, v.Map()) {
				f.Values = append(f.Values, decodedEntry(fd, v.Map(), e))
			}
		case fd.IsList():
			for i := range v.List().Len() {
				f.Values = append(f.Values, decodedValue(fd, v.List().Get(i)))
			}
		case f.Present || !fd.HasPresence():
			f.Values = []Value{decodedValue(fd, v)}
		}
		fields = append(fields, f)
	}
	return fields
}

// decodedEntry finds the entry of m that is written as e.
func decodedEntry(fd protoreflect.FieldDescriptor, m protoreflect.Map, e []byte) (out Value) {
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		if !bytes.HasPrefix(e, sorted.value(sorted.tag(nil, fd.MapKey()), fd.MapKey(), k.Value())) {
			return true
		}
		key := decodedValue(fd.MapKey(), k.Value())
		out = decodedValue(fd.MapValue(), v)
		out.Key = &key
		return false
	})
	return out
}

func decodedValue(fd protoreflect.FieldDescriptor, v protoreflect.Value) Value {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		out := Value{Fields: decoded(v.Message())}
		if len(out.Fields) == 0 {
			out.Text = "empty message"
		}
		return out
	case protoreflect.BytesKind:
		return Value{IsBytes: true, Bytes: v.Bytes()}
	case protoreflect.EnumKind:
		return Value{Text: fmt.Sprintf("%s (%d)", fd.Enum().Values().ByNumber(v.Enum()).Name(), v.Enum())}
	case protoreflect.FloatKind:
		return Value{Text: strconv.FormatFloat(v.Float(), 'g', -1, 32)}
	case protoreflect.DoubleKind:
		return Value{Text: strconv.FormatFloat(v.Float(), 'g', -1, 64)}
	}
	return Value{Text: v.String()}
}

func typeName(fd protoreflect.FieldDescriptor) string {
	switch {
	case fd.IsMap():
		return "map<" + typeName(fd.MapKey()) + ", " + typeName(fd.MapValue()) + ">"
	case fd.Kind() == protoreflect.MessageKind:
		return "message " + strings.TrimPrefix(string(fd.Message().FullName()), "bettercompute.v1.")
	case fd.Kind() == protoreflect.EnumKind:
		return "enum " + strings.TrimPrefix(string(fd.Enum().FullName()), "bettercompute.v1.")
	}
	return fd.Kind().String()
}

// A source of choices, driven by bytes; when they are used up it gives zeros.
type source struct{ b []byte }

func (s *source) byte() byte {
	if len(s.b) == 0 {
		return 0
	}
	c := s.b[0]
	s.b = s.b[1:]
	return c
}

func (s *source) below(n int) int { return (int(s.byte())<<8 | int(s.byte())) % n }

// bits gives 64 bits, often few of them and often the extremes.
func (s *source) bits() (v uint64) {
	switch c := s.byte(); c % 8 {
	case 0:
		return uint64(c >> 3)
	case 1:
		return math.MaxUint64 - uint64(c>>3)
	case 2:
		return 1 << (c >> 3)
	case 3:
		return math.MaxUint64 << (c >> 2)
	default:
		for range 1 + c>>5 {
			v = v<<8 | uint64(s.byte())
		}
		return v
	}
}

func (s *source) text() string {
	return []string{"", "a", "node_b", "äö€", "\U0001f4a5", "\x1b[31m", "\u202e", "z"}[s.byte()%8] + string(rune('a' + s.byte()%26))[:s.byte()%2]
}

// fill sets some fields of a message, at most levels deep, never a google.protobuf.Any.
func (s *source) fill(m protoreflect.Message, levels int) {
	fds := m.Descriptor().Fields()
	if fds.Len() == 0 {
		return
	}
	for range s.below(8) {
		fd := fds.Get(s.below(fds.Len()))
		if md := fd.Message(); md != nil && (md.FullName() == "google.protobuf.Any" || levels == 1) {
			continue
		}
		switch {
		case fd.IsMap():
			for range 1 + s.byte()%5 {
				v := m.Mutable(fd).Map().NewValue()
				m.Mutable(fd).Map().Set(s.value(fd.MapKey(), protoreflect.Value{}, levels).MapKey(), s.value(fd.MapValue(), v, levels))
			}
		case fd.IsList():
			for range 1 + s.byte()%4 {
				m.Mutable(fd).List().Append(s.value(fd, m.Mutable(fd).List().NewElement(), levels))
			}
		default:
			m.Set(fd, s.value(fd, m.NewField(fd), levels))
		}
	}
}

// value gives a value for a field; into is a new one, used for messages.
func (s *source) value(fd protoreflect.FieldDescriptor, into protoreflect.Value, levels int) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		s.fill(into.Message(), levels-1)
		return into
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(fd.Enum().Values().Get(s.below(fd.Enum().Values().Len())).Number())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(s.text())
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(s.text()))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(s.byte()%2 == 1)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(s.bits()))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(s.bits()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(s.bits()))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(s.bits())
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32([]float32{0, float32(math.Copysign(0, -1)), 1.5, math.MaxFloat32, float32(math.Inf(-1))}[s.byte()%5])
	}
	return protoreflect.ValueOfFloat64([]float64{0, math.Copysign(0, -1), 1.5, math.SmallestNonzeroFloat64, math.Inf(1)}[s.byte()%5])
}

func (s *source) message(md protoreflect.MessageDescriptor) protoreflect.Message {
	m := dynamicpb.NewMessage(md)
	s.fill(m, 5)
	return m
}
