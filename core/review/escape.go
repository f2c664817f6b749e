package review

import (
	"strings"
	"unicode/utf8"
)

// A Text is one line that is safe to draw: what could move a cursor, hide, reorder or overlay its neighbours stands as a
// visible escape (the package comment has the form). Only Escape and EscapeLines make one; the zero Text is empty.
type Text struct {
	s       string
	escapes int
}

// String gives the escaped text, valid UTF-8 without any control character.
func (t Text) String() string { return t.s }

// Escapes gives the number of escapes in the text.
func (t Text) Escapes() int { return t.escapes }

// MarshalText gives the escaped text.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.s), nil }

// Escape makes one line of any string. A string without anything to escape is kept, not copied. An error message is
// shown by Escape(err.Error()).
func Escape(s string) Text {
	at := firstEscape(s, 0)
	if at < 0 {
		return Text{s: s}
	}
	b := make([]byte, 0, len(s)+32)
	from, n := 0, 0
	for at >= 0 {
		b = append(b, s[from:at]...)
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size == 1 {
			b = appendByteEscape(b, s[at])
		} else {
			b = appendRuneEscape(b, r)
		}
		n++
		from = at + size
		at = firstEscape(s, from)
	}
	return Text{s: string(append(b, s[from:]...)), escapes: n}
}

// EscapeLines makes a line of every part between line feeds, as for a script; a string that ends in a line feed has an
// empty last line. A carriage return is escaped like any other control character.
func EscapeLines(s string) []Text {
	lines := make([]Text, 0, strings.Count(s, "\n")+1)
	for line := range strings.SplitSeq(s, "\n") {
		lines = append(lines, Escape(line))
	}
	return lines
}

// PlainBytes tells whether b would be drawn as it is, without one escape, by Escape. It does not allocate.
func PlainBytes(b []byte) bool {
	return firstEscape(b, 0) < 0
}

// PlainLines tells whether b would be drawn without one escape by EscapeLines. It does not allocate.
func PlainLines(b []byte) bool {
	at := firstEscape(b, 0)
	for at >= 0 && b[at] == '\n' {
		at = firstEscape(b, at+1)
	}
	return at < 0
}

// firstEscape gives the index of the first byte at or after from that has to be escaped, or -1. What stands before from is
// the start of the line or an escape, which is ASCII: no mark may follow it.
func firstEscape[T string | []byte](s T, from int) int {
	var sp spelling
	for i := from; i < len(s); {
		switch c := s[i]; {
		case c == '<':
			if opensEscape(s, i) {
				return i
			}
			fallthrough
		case c >= ' ' && c < 0x7f:
			i, sp = i+1, spelling{}
			i += plainRun(s, i)
		case c < utf8.RuneSelf:
			return i
		default:
			r, size := decodeRune(s, i)
			if r == utf8.RuneError && size == 1 || !sp.draws(r) {
				return i
			}
			i += size
		}
	}
	return -1
}

// plainRun gives a number of bytes from i on that are printable ASCII and not '<', looking at eight at a time.
func plainRun[T string | []byte](s T, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	start := i
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		below := w - ones*' '                // borrows where a byte is below a space
		above := w + ones                    // carries into the top bit at 0x7f
		angle := (w ^ ones*'<') - ones       // borrows where a byte is '<'
		if (w|below|above|angle)&tops != 0 { // a borrow may reach a byte that is innocent, never pass a guilty one
			break
		}
	}
	return i - start
}

// opensEscape tells whether what stands at i would read as the start of an escape: "<U+" or "<0x".
func opensEscape[T string | []byte](s T, i int) bool {
	return i+2 < len(s) && s[i] == '<' && (s[i+1] == 'U' && s[i+2] == '+' || s[i+1] == '0' && s[i+2] == 'x')
}

func decodeRune[T string | []byte](s T, i int) (rune, int) {
	switch s := any(s).(type) {
	case string:
		return utf8.DecodeRuneInString(s[i:])
	case []byte:
		return utf8.DecodeRune(s[i:])
	}
	panic("unreachable")
}
