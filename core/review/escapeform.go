package review

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const upperHex = "0123456789ABCDEF"

// appendRuneEscape appends <U+XXXX>, four to six hex digits.
func appendRuneEscape(b []byte, r rune) []byte {
	b = append(b, "<U+"...)
	for shift := 20; shift >= 0; shift -= 4 {
		if shift < 16 || r>>shift != 0 {
			b = append(b, upperHex[r>>shift&15])
		}
	}
	return append(b, '>')
}

// appendByteEscape appends <0xXX>.
func appendByteEscape(b []byte, c byte) []byte {
	return append(b, '<', '0', 'x', upperHex[c>>4], upperHex[c&15], '>')
}

// unit gives the length in bytes of what may not be cut at the start of an escaped line: an escape, or a rune with the marks
// that are spelled over it, which would stand over what comes before the next row.
func unit(s string) int {
	if opensEscape(s, 0) {
		return strings.IndexByte(s, '>') + 1
	}
	_, size := utf8.DecodeRuneInString(s)
	for size < len(s) && s[size] >= utf8.RuneSelf {
		r, n := utf8.DecodeRuneInString(s[size:])
		if !isMark(r) {
			break
		}
		size += n
	}
	return size
}

// unescape gives the string of which the text was made. Escaping is reversible: an unescaped "<U+" or "<0x" never stands
// in a Text.
func (t Text) unescape() string {
	if t.escapes == 0 {
		return t.s
	}
	b := make([]byte, 0, len(t.s))
	for s := t.s; s != ""; {
		n := unit(s)
		if opensEscape(s, 0) {
			code, _ := strconv.ParseUint(s[3:n-1], 16, 32) // digits, since only Escape makes a Text
			if s[1] == 'U' {
				b = utf8.AppendRune(b, rune(code))
			} else {
				b = append(b, byte(code))
			}
		} else {
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(b)
}
