package kinds

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// text writes the bits of a scalar as a person is shown them. Different bits give different texts.
func (f *field) text(bits uint64) string {
	switch f.kind {
	case protoreflect.BoolKind:
		return strconv.FormatBool(bits != 0)
	case protoreflect.EnumKind:
		return fmt.Sprintf("%s (%d)", f.enum.names[int32(bits)], int32(bits))
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Sfixed64Kind:
		return strconv.FormatInt(int64(bits), 10)
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return strconv.FormatInt(protowire.DecodeZigZag(bits), 10)
	case protoreflect.Sfixed32Kind:
		return strconv.FormatInt(int64(int32(bits)), 10)
	case protoreflect.FloatKind:
		return floatText(float64(math.Float32frombits(uint32(bits))), 32, bits)
	case protoreflect.DoubleKind:
		return floatText(math.Float64frombits(bits), 64, bits)
	}
	return strconv.FormatUint(bits, 10)
}

// floatText tells the many NaNs apart by their bits.
func floatText(v float64, size int, bits uint64) string {
	if math.IsNaN(v) {
		return fmt.Sprintf("NaN (0x%0*x)", size/4, bits)
	}
	return strconv.FormatFloat(v, 'g', -1, size)
}

// elementType gives the wire type of one element of a packed field.
func (f *field) elementType() protowire.Type {
	switch f.op {
	case opFixed32:
		return protowire.Fixed32Type
	case opFixed64:
		return protowire.Fixed64Type
	}
	return protowire.VarintType
}

// typeOf gives the type of a field, or of one element of it, as Field.Type.
func typeOf(fd protoreflect.FieldDescriptor) string {
	switch {
	case fd.IsMap():
		return fmt.Sprintf("map<%s, %s>", typeOf(fd.MapKey()), typeOf(fd.MapValue()))
	case fd.Enum() != nil:
		return "enum " + shortName(fd.Enum())
	case fd.Message() != nil:
		return "message " + shortName(fd.Message())
	}
	return fd.Kind().String()
}

// shortName gives the name of a message or enum as a person is shown it: without the package where that is
// bettercompute.v1, else in full, so that no two types share one.
func shortName(d protoreflect.Descriptor) string {
	return strings.TrimPrefix(string(d.FullName()), "bettercompute.v1.")
}
