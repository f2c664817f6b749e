package quorum

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/wire"
)

// The messages of this package in protobuf are read by hand: what is read is bounded before anything is made of it, and
// whatever is no canonical encoding (WIRE.md §7) is refused, for it does not give its bytes back.

// A protoField is one field as it stands: number, wire type and value.
type protoField struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64
	bytes  []byte // a view
}

// is tells whether the field has that number and wire type.
func (f protoField) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// protoFields calls visit with each field of a message of varints and byte strings. The error is INVALID_INPUT.
func protoFields(what string, b []byte, visit func(protoField) error) error {
	for len(b) > 0 {
		var f protoField
		var n, m int
		f.number, f.kind, n = protowire.ConsumeTag(b)
		if n < 0 {
			return notCanonical(what)
		}
		switch f.kind {
		case protowire.VarintType:
			f.varint, m = protowire.ConsumeVarint(b[n:])
		case protowire.BytesType:
			f.bytes, m = protowire.ConsumeBytes(b[n:])
		default:
			return unknownField(what, f)
		}
		if m < 0 {
			return notCanonical(what)
		}
		if err := visit(f); err != nil {
			return err
		}
		b = b[n+m:]
	}
	return nil
}

// checkCanonical refuses bytes that are not what the message read from them is written as.
func checkCanonical(what string, given, again []byte) error {
	if !bytes.Equal(given, again) {
		return notCanonical(what)
	}
	return nil
}

func notCanonical(what string) error {
	return wire.Errorf(wire.InvalidInput, "", "%s: the bytes are not the one encoding of a message", what)
}

func unknownField(what string, f protoField) error {
	return wire.Errorf(wire.InvalidInput, "", "%s: field %d of wire type %d is none of the message", what, f.number, f.kind)
}

func appendVarintField(b []byte, number protowire.Number, v uint64) []byte {
	if v == 0 { // a field without presence is not written at its default
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

// appendBytesField appends a singular string or byte string; messages and elements of lists are written when empty too.
func appendBytesField[T ~string | ~[]byte](b []byte, number protowire.Number, v T) []byte {
	if len(v) == 0 {
		return b
	}
	return appendElement(b, number, v)
}

func appendElement[T ~string | ~[]byte](b []byte, number protowire.Number, v T) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), string(v))
}
