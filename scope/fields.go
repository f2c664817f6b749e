package scope

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
)

// documentOperations makes the operations of the document; their fields are decoded when they are drawn.
func (d *Decoded) documentOperations() []review.Operation {
	// All subjects share one slice: 50,000 operations of one subject each are not 50,000 slices.
	subjects := d.allSubjects()
	out := make([]review.Operation, len(d.ordered))
	for i, o := range d.ordered {
		out[i] = review.Operation{
			Title: review.Escape(o.kindName), Type: review.Escape(o.typeURL), Digest: d.sharedDigest(o), Marks: o.marks(),
			Destructive: o.destructive(), Outlier: o.rare, Opaque: o.class != shown, Subjects: subjects[o.first:o.last:o.last],
		}
		if o.class != unbound {
			out[i].SetFields(func() []review.Field { return d.fields(o) })
		}
	}
	return out
}

// allSubjects gives the subjects of the leaves in the order of positions, all of them views of one string.
func (d *Decoded) allSubjects() []review.Text {
	var all strings.Builder
	for _, leaf := range d.positions {
		all.Write(d.verified.leaves[leaf].subject)
	}
	rest := all.String()
	subjects := make([]review.Text, len(d.positions))
	for i, leaf := range d.positions {
		n := len(d.verified.leaves[leaf].subject)
		subjects[i] = review.Escape(rest[:n])
		rest = rest[n:]
	}
	return subjects
}

// sharedDigest gives the digest of the payload where all subjects share it.
func (d *Decoded) sharedDigest(o *operation) []byte {
	switch {
	case o.class == unbound:
		return nil
	case o.size() == 1:
		return d.verified.leaves[d.positions[o.first]].digest[:]
	}
	return o.digest
}

// The marks of an operation; 50,000 operations share them.
var (
	marksUnbound        = []string{"any payload"}
	marksUnboundUnknown = []string{"any payload", "the kind is not known"}
	marksDigestOnly     = []string{"opaque: the payload is not in the file"}
	marksUnknown        = []string{"opaque: the kind is not known"}
	marksRoot           = []string{"runs as root"}
)

func (o *operation) marks() []string {
	switch {
	case o.class == unbound && o.kind == nil:
		return marksUnboundUnknown
	case o.class == unbound:
		return marksUnbound
	case o.class == digestOnly:
		return marksDigestOnly
	case o.class == unknown:
		return marksUnknown
	case o.root:
		return marksRoot
	}
	return nil
}

// fields decodes the operation. Of an unknown kind it gives the bytes that are there.
func (d *Decoded) fields(o *operation) []review.Field {
	switch {
	case o.class == unknown && o.typeURL != "":
		return []review.Field{{Name: review.Escape("payload"), Type: "bytes", Value: bytesLines(o.payload)}}
	case o.class != shown:
		return nil
	}
	decoded, err := o.kind.Decode(o.payload)
	if err != nil {
		panic("scope: a verified payload does not decode: " + err.Error())
	}
	fields := make([]review.Field, len(decoded))
	for i, f := range decoded {
		fields[i] = reviewField(f)
		if f.Number == int(o.kind.RelayedField()) && f.Number != 0 && o.size() > 1 {
			fields[i].Value, fields[i].Note = nil, "each subject's own"
		}
	}
	o.markOdd(decoded, fields)
	return fields
}

// markOdd marks the fields that few subjects of the kind have at their value, and says what most have.
func (o *operation) markOdd(decoded []kinds.Field, fields []review.Field) {
	for _, odd := range o.odd {
		usual := odd.usual.field(odd.column.field.Number())
		for i, f := range decoded {
			if f.Number != usual.Number && (f.Number != 0 || f.Name != usual.Oneof) {
				continue
			}
			fields[i].Odd, fields[i].Usual = true, texts(rawLines(usual))
			if fields[i].Usual == nil {
				fields[i].Usual = texts([]string{nothing(usual)})
			}
		}
	}
}

// field decodes one field. A member of a oneof that is not set is given as absent.
func (o *operation) field(number protowire.Number) kinds.Field {
	decoded, err := o.kind.Decode(o.payload)
	if err != nil {
		panic("scope: a verified payload does not decode: " + err.Error())
	}
	for _, f := range decoded {
		if f.Number == int(number) {
			return f
		}
	}
	absent := kinds.Field{Number: int(number)}
	if oneof := o.kind.Message().Fields().ByNumber(number).ContainingOneof(); oneof != nil {
		absent.Oneof = string(oneof.Name())
	}
	return absent
}

// rawLines gives the values of a field as lines that are not escaped yet, none where it has no value.
func rawLines(f kinds.Field) (lines []string) {
	for _, v := range f.Values {
		prefix := ""
		if v.Key != nil {
			prefix = v.Key.Text + ": "
		}
		switch {
		case v.IsBytes:
			lines = append(lines, prefix+fmt.Sprintf("%d bytes %x", len(v.Bytes), v.Bytes))
		case v.Fields != nil:
			for _, member := range v.Fields {
				for _, line := range rawLines(member) {
					lines = append(lines, prefix+member.Name+": "+line)
				}
			}
		default:
			lines = append(lines, strings.Split(prefix+v.Text, "\n")...)
		}
	}
	return lines
}

// nothing says what stands where a field has no value.
func nothing(f kinds.Field) string {
	if f.Repeated || f.Map {
		return "none"
	}
	return "not set"
}

func reviewField(f kinds.Field) review.Field {
	out := review.Field{Name: review.Escape(f.Name), Type: f.Type, Default: !f.Present}
	switch {
	case len(f.Values) == 0:
		out.Note = nothing(f)
	case f.Repeated, f.Map:
		for i, v := range f.Values {
			element := review.Field{Name: review.Escape(fmt.Sprintf("[%d]", i)), Type: f.Type}
			if v.Key != nil {
				element.Name = review.Escape(v.Key.Text)
			}
			setValue(&element, v)
			out.Fields = append(out.Fields, element)
		}
	default:
		setValue(&out, f.Values[0])
	}
	return out
}

func setValue(out *review.Field, v kinds.Value) {
	switch {
	case v.IsBytes:
		out.Value = bytesLines(v.Bytes)
	case len(v.Fields) > 0:
		for _, member := range v.Fields {
			out.Fields = append(out.Fields, reviewField(member))
		}
	case v.Fields != nil:
		out.Note = "empty message"
	default:
		out.Value = review.EscapeLines(v.Text)
	}
}

// bytesLines gives the length and the hex on one line, and where the bytes are plain text that text below it.
func bytesLines(b []byte) []review.Text {
	if len(b) == 0 {
		return texts([]string{"0 bytes"})
	}
	lines := texts([]string{fmt.Sprintf("%d bytes %x", len(b), b)})
	if review.PlainLines(b) {
		lines = append(lines, review.Escape("as text:"))
		lines = append(lines, review.EscapeLines(string(b))...)
	}
	return lines
}
