package scope

import (
	"bytes"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// freeText takes a string that may hold any escape. A lone surrogate becomes U+FFFD. units is its length in UTF-16 units
// as the file has it, which bounds free text (WIRE.md §5).
func (s *scanner) freeText(member string) (text string, units int, err error) {
	c, err := s.next()
	if err != nil && err != io.ErrUnexpectedEOF {
		return "", 0, err
	}
	if err != nil || c != '"' {
		return "", 0, s.syntaxError("member %q is not a string", member)
	}
	s.pos++
	raw, err := s.quoted()
	if err != nil {
		return "", 0, err
	}
	return s.unescape(raw)
}

// quoted gives what stands up to the quote that ends the string, one that no backslash escapes.
func (s *scanner) quoted() ([]byte, error) {
	for looked := 0; ; {
		i := bytes.IndexAny(s.buf[s.pos+looked:s.end], "\"\\")
		switch at := s.pos + looked + i; {
		case i >= 0 && s.buf[at] == '"':
			raw := s.buf[s.pos:at]
			s.pos = at + 1
			return raw, nil
		case i >= 0 && at+1 < s.end:
			looked += i + 2
			continue
		case i >= 0:
			looked += i
		default:
			looked = s.end - s.pos
		}
		if more, err := s.fill(); err != nil {
			return nil, err
		} else if !more {
			return nil, s.syntaxError("the file ends inside a string")
		}
	}
}

func (s *scanner) unescape(raw []byte) (string, int, error) {
	if !utf8.Valid(raw) {
		return "", 0, s.syntaxError("a string is not UTF-8")
	}
	text := make([]byte, 0, len(raw))
	units := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c < 0x20:
			return "", 0, s.syntaxError("a string holds a control character")
		case c != '\\':
			r, n := utf8.DecodeRune(raw[i:])
			text = append(text, raw[i:i+n]...)
			units += utf16.RuneLen(r)
			i += n
		default:
			r, n := escape(raw[i:])
			if n == 0 {
				return "", 0, s.syntaxError("a string holds an escape that is none of JSON's")
			}
			text = utf8.AppendRune(text, r)
			units += n / 6 // a surrogate pair is written in twelve characters
			if n == 2 {
				units++
			}
			i += n
		}
	}
	return string(text), units, nil
}

// escape reads the escape that b begins with: its rune, U+FFFD for a lone surrogate, and its length, 0 for no escape.
func escape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), b[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	high, ok := hexEscape(b)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(high):
		return high, 6
	}
	if low, ok := hexEscape(b[6:]); ok {
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

// hexEscape reads \u and four hex digits of either case.
func hexEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
