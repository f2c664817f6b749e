package scope

import (
	"bytes"
	"hash/maphash"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A shape is what is left of a text once names and numbers are taken out: two scripts that differ in a host name and a
// serial number have one shape, and a line more, another command or another host is another shape. It is how the odd one
// is found among values that are all different:
//
//	the subject's own name            @
//	a run of 4 or more hex digits     #    with a decimal digit among them
//	any other run of decimal digits   #
//
// so "hostnamectl set-hostname gpu-0231" of gpu-0231 is "hostnamectl set-hostname @".
func appendShape(b, text, subject []byte) []byte {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case len(subject) > 2 && c == subject[0] && bytes.HasPrefix(text[i:], subject):
			b = append(b, '@')
			i += len(subject)
		case isWord(c):
			end := i + 1
			for end < len(text) && isWord(text[end]) {
				end++
			}
			b = appendWord(b, text[i:end])
			i = end
		default:
			b = append(b, c)
			i++
		}
	}
	return b
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func appendWord(b, word []byte) []byte {
	digits, hex := 0, 0
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
			hex++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			hex++
		}
	}
	if digits > 0 && hex == len(word) && len(word) >= 4 {
		return append(b, '#')
	}
	for i, c := range word {
		switch {
		case c < '0' || c > '9':
			b = append(b, c)
		case i == 0 || word[i-1] < '0' || word[i-1] > '9':
			b = append(b, '#')
		}
	}
	return b
}

// hasShape tells whether values of a field have one: texts, and bytes, of which it is the length. Numbers have a range.
func hasShape(f protoreflect.FieldDescriptor) bool {
	return f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BytesKind || f.Message() != nil
}

// shapes gives the shape of each value of the column, as a number that is equal for equal shapes.
func (d *Decoded) shapes(c *column) []uint64 {
	seed := maphash.MakeSeed()
	out := make([]uint64, len(c.values))
	fill := func(lo, hi int) {
		var buf []byte
		for i := lo; i < hi; i++ {
			out[i], buf = d.shape(c.field, c.values[i].operation, seed, buf)
		}
	}
	const worthTwo = 4096 // values, from which on a second goroutine pays
	var wg sync.WaitGroup
	if middle := len(out) / 2; middle > worthTwo/2 {
		wg.Go(func() { fill(0, middle) })
		fill(middle, len(out))
	} else {
		fill(0, len(out))
	}
	wg.Wait()
	return out
}

func (d *Decoded) shape(f protoreflect.FieldDescriptor, o *operation, seed maphash.Seed, buf []byte) (uint64, []byte) {
	var subject []byte
	if o.size() == 1 {
		subject = d.firstSubject(o)
	}
	hash := uint64(0)
	for number, raw := range o.kind.TopFields(o.payload) {
		if number != f.Number() {
			continue
		}
		content, n := protowire.ConsumeBytes(raw)
		if n < 0 {
			content = raw
		}
		if f.Kind() == protoreflect.BytesKind {
			buf = protowire.AppendVarint(buf[:0], uint64(len(content)))
		} else {
			buf = appendShape(buf[:0], content, subject)
		}
		hash = (hash*31 + maphash.Bytes(seed, buf)) | 1
	}
	return hash, buf
}
