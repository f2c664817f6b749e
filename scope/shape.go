package scope

import (
	"bytes"
	"hash/maphash"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/better-compute/approver/core/review"
)

// A shape is what is left of a text once names and numbers are taken out: two scripts that differ in a host name and a
// serial number have one shape, and a line more, another command or another host is another shape. It is how the odd one
// is found among values that are all different. Taken out are
//
//	the subject's own name
//	hex digits in three or more groups joined by ":" or "-" (MAC, UUID, IPv6), after "0x", or eight and more in a row,
//	    with a decimal digit among them
//	any other run of decimal digits, but for a single one after "=": a switch
//
// so "hostnamectl set-hostname gpu-0231" of gpu-0231 is "hostnamectl set-hostname " and a mark. What is taken out leaves a
// byte that no text has but as two, so no text can pass for a shape.
func appendShape(b, text, subject []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case len(subject) > 2 && c == subject[0] && bytes.HasPrefix(text[i:], subject):
			b = append(b, ownName)
			i += len(subject)
		case c <= literal:
			b = append(b, literal, c)
			i++
		case !isWord(c):
			b = append(b, c)
			i++
		default:
			if n := hexGroups(text[i:]); n > 0 {
				b = append(b, number)
				i += n
				continue
			}
			end := i + 1
			for end < len(text) && isWord(text[end]) {
				end++
			}
			b = appendWord(b, text[i:end], i > 0 && text[i-1] == '=')
			i = end
		}
	}
	return b
}

// The bytes that stand for what is taken out, and the one before a byte of the text that could be mistaken for these.
const (
	ownName = iota
	number
	literal
)

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// hexGroups gives the length of the hex digits in three or more groups that text begins with, 0 for anything else.
func hexGroups(text []byte) int {
	joints, digits, n := 0, 0, 0
	for n < len(text) && (isHex(text[n]) || text[n] == ':' || text[n] == '-') {
		switch c := text[n]; {
		case c == ':' || c == '-':
			joints++
		case c <= '9':
			digits++
		}
		n++
	}
	if joints < 2 || digits == 0 || n < len(text) && isWord(text[n]) {
		return 0
	}
	return n
}

func appendWord(b, word []byte, assigned bool) []byte {
	digits, hex := 0, 0
	for _, c := range word {
		if c >= '0' && c <= '9' {
			digits++
		}
		if isHex(c) {
			hex++
		}
	}
	prefixed := len(word) > 2 && word[0] == '0' && word[1] == 'x' && hex == len(word)-1
	switch {
	case prefixed, digits > 0 && hex == len(word) && len(word) >= 8:
		return append(b, number)
	case assigned && len(word) == 1:
		return append(b, word...)
	}
	for i, c := range word {
		switch {
		case c < '0' || c > '9':
			b = append(b, c)
		case i == 0 || word[i-1] < '0' || word[i-1] > '9':
			b = append(b, number)
		}
	}
	return b
}

// hasShape tells whether values of a field have one: texts, and bytes, of which it is the length where they are no text.
// Numbers have a range.
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
		if f.Kind() == protoreflect.BytesKind && !review.PlainLines(content) {
			buf = protowire.AppendVarint(buf[:0], uint64(len(content)))
		} else {
			buf = appendShape(buf[:0], content, subject)
		}
		hash = (hash*31 + maphash.Bytes(seed, buf)) | 1
	}
	return hash, buf
}
