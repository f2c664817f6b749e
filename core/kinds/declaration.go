package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// A MessageDeclaration is a message as its .proto file declares it. Names are full.
type MessageDeclaration struct {
	Name   string
	Fields []FieldDeclaration // in number order
}

// A FieldDeclaration is a field of a message.
type FieldDeclaration struct {
	Number   int
	Name     string
	JSONName string
	Label    string // "optional", "repeated" or empty
	Type     string // of one element: "string", "uint32" …, the full name of a message or enum, "map<string, acme.v1.Slot>"
	Oneof    string // the oneof it is a member of, or empty
	Unpacked bool   // a repeated number whose elements stand behind a tag each
}

// HasOwnJSONName tells whether JSONName is another than the one that protoc gives a field where its declaration has none:
// the name without "_", the letter after each in upper case.
func (f FieldDeclaration) HasOwnJSONName() bool {
	var b strings.Builder
	upper := false
	for i := range len(f.Name) {
		c := f.Name[i]
		switch {
		case c == '_':
			upper = true
			continue
		case upper && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		upper = false
		b.WriteByte(c)
	}
	return f.JSONName != b.String()
}

// An EnumDeclaration is an enum, its values as declared.
type EnumDeclaration struct {
	Name   string
	Values []EnumValue
}

// An EnumValue is a named value of an enum.
type EnumValue struct {
	Name   string
	Number int32
}

// Declarations gives all that the kind's payload may hold: its message, then the messages within, and the enums, each
// once and in the order in which they are met.
func (k *Kind) Declarations() (messages []MessageDeclaration, enums []EnumDeclaration) {
	reach(k.message, func(md protoreflect.MessageDescriptor) error {
		messages = append(messages, declareMessage(md))
		return nil
	}, func(ed protoreflect.EnumDescriptor) error {
		enums = append(enums, declareEnum(ed))
		return nil
	})
	return messages, enums
}

// reach visits a message and all messages and enums within, breadth first and each once, until a visit fails. Entries of
// maps are no messages of their own.
func reach(md protoreflect.MessageDescriptor, message func(protoreflect.MessageDescriptor) error, enum func(protoreflect.EnumDescriptor) error) error {
	seen := map[protoreflect.FullName]bool{md.FullName(): true}
	for queue := []protoreflect.MessageDescriptor{md}; len(queue) > 0; queue = queue[1:] {
		if err := message(queue[0]); err != nil {
			return err
		}
		for _, fd := range fieldsOf(queue[0]) {
			if fd.IsMap() {
				fd = fd.MapValue()
			}
			if next := fd.Message(); next != nil && !seen[next.FullName()] {
				seen[next.FullName()] = true
				queue = append(queue, next)
			}
			if ed := fd.Enum(); ed != nil && !seen[ed.FullName()] {
				seen[ed.FullName()] = true
				if err := enum(ed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fieldsOf gives the fields of a message in number order.
func fieldsOf(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	fds := make([]protoreflect.FieldDescriptor, md.Fields().Len())
	for i := range fds {
		fds[i] = md.Fields().Get(i)
	}
	slices.SortFunc(fds, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.Number(), b.Number()) })
	return fds
}

func declareMessage(md protoreflect.MessageDescriptor) MessageDeclaration {
	out := MessageDeclaration{Name: string(md.FullName())}
	for _, fd := range fieldsOf(md) {
		f := FieldDeclaration{Number: int(fd.Number()), Name: string(fd.Name()), JSONName: fd.JSONName(), Type: declaredType(fd)}
		switch {
		case fd.IsList():
			f.Label = "repeated"
			f.Unpacked = isPackable(fd.Kind()) && !fd.IsPacked()
		case fd.HasOptionalKeyword():
			f.Label = "optional"
		case fd.ContainingOneof() != nil:
			f.Oneof = string(fd.ContainingOneof().Name())
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}

func declareEnum(ed protoreflect.EnumDescriptor) EnumDeclaration {
	out := EnumDeclaration{Name: string(ed.FullName())}
	for i := range ed.Values().Len() {
		v := ed.Values().Get(i)
		out.Values = append(out.Values, EnumValue{string(v.Name()), int32(v.Number())})
	}
	return out
}

func declaredType(fd protoreflect.FieldDescriptor) string {
	switch {
	case fd.IsMap():
		return fmt.Sprintf("map<%s, %s>", declaredType(fd.MapKey()), declaredType(fd.MapValue()))
	case fd.Enum() != nil:
		return string(fd.Enum().FullName())
	case fd.Message() != nil:
		return string(fd.Message().FullName())
	}
	return fd.Kind().String()
}

// isPackable tells whether elements of a type can stand in one chunk: numbers, bools and enums.
func isPackable(k protoreflect.Kind) bool {
	switch k {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return false
	}
	return true
}
