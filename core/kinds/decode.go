package kinds

// A Field is one field of a message as a person is shown it.
type Field struct {
	Name     string
	Number   int    // 0 for a oneof of which no member is set
	Type     string // "string", "bytes", "bool", "uint32" …, "enum WipeRequest.Method", "message BmcOperationRequest.Boot", "map<string, string>", "oneof"
	Present  bool   // it stands in the payload
	Repeated bool   // Values holds its elements; Type is that of one
	Map      bool   // Values holds its entries, in the order of the payload
	Oneof    string // the oneof it is a member of, or empty

	// Values holds one value for a singular field, its default where it is absent. It is empty for a repeated field or a
	// map without elements, and for an absent field that has presence (optional, or a message), which has no value at
	// all.
	Values []Value
}

// A Value is one value of a Field: a bytes, a message, or Text.
type Value struct {
	Key     *Value // of a map entry
	Text    string // a string as it came; numbers in decimal; true or false; "NAME (number)" of an enum; "empty message"
	Bytes   []byte // a view of the payload
	IsBytes bool
	Fields  []Field // of a message, every one of them; not nil
}

// Decode gives every field of the kind's message in number order, the absent ones included. Of a oneof it gives the
// member that is set, and where none is, one Field named after the oneof whose only value is the text "none", in the
// place of its first member. Two payloads that differ in any field differ in what Decode gives. The error is that of Walk.
func (k *Kind) Decode(payload []byte) ([]Field, error) {
	if err := k.Walk(payload, new(Walked)); err != nil {
		return nil, err
	}
	return k.plan.decode(payload), nil
}

func (p *plan) decode(b []byte) []Field {
	fields := make([]Field, 0, len(p.fields))
	settled := p.oneofsSet(b) // set, or told to be none
	s := p.scan(b)
	more := s.next()
	for i := range p.fields {
		f := &p.fields[i]
		out := Field{Name: f.name, Number: int(f.number), Type: f.typ, Repeated: f.shape == packed || f.shape == unpacked, Map: f.shape == mapped}
		for ; more && s.field == f; more = s.next() {
			out.Present = true
			out.Values = f.appendValues(out.Values, b[s.start:s.end:s.end])
		}
		switch {
		case f.oneof >= 0 && out.Present:
			out.Oneof = p.oneofs[f.oneof]
		case f.oneof >= 0 && settled[f.oneof]:
			continue
		case f.oneof >= 0:
			settled[f.oneof] = true
			out = Field{Name: p.oneofs[f.oneof], Type: "oneof", Values: []Value{{Text: "none"}}}
		case !out.Present && f.shape == single && !f.presence:
			out.Values = []Value{f.zero()}
		}
		fields = append(fields, out)
	}
	return fields
}

// oneofsSet tells of each oneof whether a member stands in a canonical message.
func (p *plan) oneofsSet(b []byte) []bool {
	set := make([]bool, len(p.oneofs))
	if len(set) == 0 {
		return set
	}
	for s := p.scan(b); s.next(); {
		if s.field.oneof >= 0 {
			set[s.field.oneof] = true
		}
	}
	return set
}

// appendValues appends what stands behind one tag of f: an element or entry, or all elements of a packed chunk.
func (f *field) appendValues(values []Value, b []byte) []Value {
	switch f.shape {
	case packed:
		for i, end, _ := span(b, 0); i < end; {
			stop := valueEnd(b, i, f.elementType())
			values = append(values, f.decode(b[i:stop]))
			i = stop
		}
		return values
	case mapped:
		start, end, _ := span(b, 0)
		s := f.message.scan(b[start:end])
		s.next()
		key := s.field.decode(s.b[s.start:s.end])
		s.next()
		value := s.field.decode(s.b[s.start:s.end:s.end])
		value.Key = &key
		return append(values, value)
	}
	return append(values, f.decode(b))
}

// decode gives the value whose bytes, without a tag, are b.
func (f *field) decode(b []byte) Value {
	switch f.op {
	case opFixed32:
		return Value{Text: f.text(fixed32(b, 0))}
	case opFixed64:
		return Value{Text: f.text(fixed64(b, 0))}
	case opUnsigned, opSigned, opEnum:
		bits, _ := uvarint(b, 0)
		return Value{Text: f.text(bits)}
	}
	start, end, _ := span(b, 0)
	content := b[start:end:end]
	switch f.op {
	case opString:
		return Value{Text: string(content)}
	case opBytes:
		return Value{Bytes: content, IsBytes: true}
	}
	v := Value{Fields: f.message.decode(content)}
	if len(v.Fields) == 0 {
		v.Text = "empty message"
	}
	return v
}

// zero gives the default of a scalar.
func (f *field) zero() Value {
	switch f.op {
	case opString:
		return Value{}
	case opBytes:
		return Value{IsBytes: true}
	}
	return Value{Text: f.text(0)}
}
