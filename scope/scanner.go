package scope

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/better-compute/approver/core/wire"
)

// A scanner reads JSON tokens of a scope file from a window that slides over it. It refuses whatever it cannot read in
// exactly one way. What it gives is a view of the window, valid until the next call.
type scanner struct {
	source *source
	window []byte // the buffer of the window that is looked at
	kept   []byte // what was unread of the window before
	long   []byte // instead of a window, a token that is longer than its headroom
	buf    []byte // window or long
	pos    int    // next unread byte in buf
	end    int    // bytes of buf that are filled
	base   int64  // offset in the file of buf[0]
	got    int64  // bytes of the file that were read
	most   int64  // bytes a file may have
	eof    bool
}

// A syntaxError says where a file is not of the form; an error of the reader passes as it is.
func (s *scanner) syntaxError(format string, args ...any) error {
	return fmt.Errorf(format+" at byte %d", append(args, s.base+int64(s.pos))...)
}

// An unknownMember is the name of a member that has no place in the file.
type unknownMember string

func (m unknownMember) Error() string { return fmt.Sprintf("unknown member %q", string(m)) }

var errTooLarge = errors.New("too large")

// fill gets more of the file behind what is unread. It tells whether there is any more.
func (s *scanner) fill() (bool, error) {
	if s.eof {
		return false, nil
	}
	offset := s.base + int64(s.pos)
	long := s.keep(s.buf[s.pos:s.end])
	w := s.source.next(s.window)
	s.window = w.buf
	if long {
		s.long = append(s.long, w.buf[headroom:headroom+w.n]...)
		s.buf, s.pos, s.end = s.long, 0, len(s.long)
	} else {
		s.pos, s.end = headroom-len(s.kept), headroom+w.n
		s.buf = w.buf
		copy(s.buf[s.pos:], s.kept)
	}
	s.base = offset - int64(s.pos)
	s.got += int64(w.n)
	s.eof = w.err == io.EOF
	switch {
	case s.got > s.most:
		return false, errTooLarge
	case w.err != nil && !s.eof:
		return false, wire.Errorf(wire.IOError, "", "reading the scope file: %w", w.err)
	}
	return w.n > 0, nil
}

// keep saves what is unread before its window is given back, and tells whether it is too long for the headroom of the
// next one: such a token grows in a buffer of its own.
func (s *scanner) keep(rest []byte) (long bool) {
	if len(rest) <= headroom {
		s.kept, s.long = append(s.kept[:0], rest...), nil
		return false
	}
	switch {
	case s.long == nil:
		s.long = append(make([]byte, 0, 2*len(rest)+windowBytes), rest...)
	case s.pos > 0:
		s.long = s.long[:copy(s.long, rest)]
	}
	return true
}

// next skips white space and gives the byte it then stands on; io.ErrUnexpectedEOF at the end of the file.
func (s *scanner) next() (byte, error) {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\n', '\t', '\r':
				s.pos++
			default:
				return c, nil
			}
		}
		if more, err := s.fill(); err != nil {
			return 0, err
		} else if !more {
			return 0, io.ErrUnexpectedEOF
		}
	}
}

// expect skips white space and takes the byte c.
func (s *scanner) expect(c byte) error {
	if s.pos < s.end && s.buf[s.pos] == c {
		s.pos++
		return nil
	}
	got, err := s.next()
	if err == io.ErrUnexpectedEOF {
		return s.syntaxError("the file ends where %q is wanted", c)
	}
	if err != nil {
		return err
	}
	if got != c {
		return s.syntaxError("%q stands where %q is wanted", rune(got), c)
	}
	s.pos++
	return nil
}

// more takes the "," before another element, or the closing bracket, which ends a list. first says that no element has
// come yet, so that no comma is wanted.
func (s *scanner) more(first bool, closing byte) (bool, error) {
	c, err := s.next()
	switch {
	case err == io.ErrUnexpectedEOF:
		return false, s.syntaxError("the file ends where %q is wanted", closing)
	case err != nil:
		return false, err
	case c == closing:
		s.pos++
		return false, nil
	case first:
		return true, nil
	case c != ',':
		return false, s.syntaxError("%q stands where ',' or %q is wanted", rune(c), closing)
	}
	s.pos++
	if c, err = s.next(); err == nil && c == closing {
		return false, s.syntaxError("a comma stands before %q", closing)
	}
	if err == io.ErrUnexpectedEOF {
		return false, s.syntaxError("the file ends after a comma")
	}
	return err == nil, err
}

// name takes a member name and its colon and gives the position of the name in names, or a syntax error where it is none
// of them. seen holds a bit for each name that came before in the object.
func (s *scanner) name(names []string, seen *uint32) (int, error) {
	if err := s.expect('"'); err != nil {
		return 0, err
	}
	at, err := s.known(names)
	if err != nil {
		return 0, err
	}
	if *seen&(1<<at) != 0 {
		return 0, s.syntaxError("member %q is there twice", names[at])
	}
	*seen |= 1 << at
	return at, s.expect(':')
}

// known takes one of some names and its closing quote.
func (s *scanner) known(names []string) (int, error) {
	ahead := s.buf[s.pos:s.end]
	for i, n := range names {
		if len(ahead) > len(n) && ahead[len(n)] == '"' && string(ahead[:len(n)]) == n {
			s.pos += len(n) + 1
			return i, nil
		}
	}
	raw, err := s.rawString() // an unknown name, or one that the window cuts in two
	if err != nil {
		return 0, err
	}
	if i := slices.Index(names, string(raw)); i >= 0 {
		return i, nil
	}
	if err := s.checkIdentifier(raw); err != nil {
		return 0, err
	}
	return 0, s.syntaxError("%w", unknownMember(shorten(raw)))
}

// member takes the name of the next member of an object whose opening brace was taken, up to its value, and gives its
// position in names; more is false at the end of the object. seen holds a bit for each member that came before. (A loop
// around it is a fifth faster than a callback for each of a quarter of a million members.)
func (s *scanner) member(names []string, seen *uint32) (at int, more bool, err error) {
	if more, err = s.more(*seen == 0, '}'); err != nil || !more {
		return 0, false, err
	}
	at, err = s.name(names, seen)
	return at, err == nil, err
}

// shorten bounds what an error repeats of a file.
func shorten(raw []byte) string {
	if len(raw) <= 80 {
		return string(raw)
	}
	return string(raw[:80]) + "…"
}

// str takes a string without escapes, an identifier. Its bytes are as they stand: who accepts them by their form has
// checked them, who does not calls checkIdentifier first.
func (s *scanner) str(member string) ([]byte, error) {
	c, err := s.next()
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err != nil || c != '"' {
		return nil, s.syntaxError("member %q is not a string", member)
	}
	s.pos++
	return s.rawString()
}

// rawString gives what stands up to the next quote, past which it moves.
func (s *scanner) rawString() ([]byte, error) {
	for looked := 0; ; {
		if i := bytes.IndexByte(s.buf[s.pos+looked:s.end], '"'); i >= 0 {
			raw := s.buf[s.pos : s.pos+looked+i]
			s.pos += looked + i + 1
			return raw, nil
		}
		looked = s.end - s.pos
		if more, err := s.fill(); err != nil {
			return nil, err
		} else if !more {
			return nil, s.syntaxError("the file ends inside a string")
		}
	}
}

// checkIdentifier refuses a string that is no JSON string, or that holds an escape.
func (s *scanner) checkIdentifier(raw []byte) error {
	for _, c := range raw {
		if c == '\\' {
			return s.syntaxError("the string %q holds an escape before byte", shorten(raw))
		}
		if c < 0x20 {
			return s.syntaxError("the string %q holds a control character", shorten(raw))
		}
	}
	if !utf8.Valid(raw) {
		return s.syntaxError("a string is not UTF-8")
	}
	return nil
}

// integer takes plain digits up to 2^53-1.
func (s *scanner) integer(member string) (uint64, error) {
	c, err := s.next()
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, err
	}
	if err != nil || c < '0' || c > '9' {
		return 0, s.syntaxError("member %q is not an integer in plain digits", member)
	}
	n, digits := uint64(0), 0
	for {
		if s.pos == s.end {
			if more, err := s.fill(); err != nil {
				return 0, err
			} else if !more {
				return n, nil
			}
		}
		d := s.buf[s.pos]
		switch {
		case d == '.' || d == 'e' || d == 'E' || d == '+' || d == '-' || digits > 0 && n == 0 && d >= '0' && d <= '9':
			return 0, s.syntaxError("member %q is not an integer in plain digits", member)
		case d < '0' || d > '9':
			return n, nil
		}
		n = 10*n + uint64(d-'0')
		digits++
		if n > wire.MaxInteger {
			return 0, s.syntaxError("member %q is over 2^53-1", member)
		}
		s.pos++
	}
}

// null takes the literal null where the next value is one.
func (s *scanner) null() (bool, error) {
	c, err := s.next()
	if err == io.ErrUnexpectedEOF {
		return false, s.syntaxError("the file ends where a value is wanted")
	}
	if err != nil || c != 'n' {
		return false, err
	}
	for s.end-s.pos < len("null") {
		if more, err := s.fill(); err != nil {
			return false, err
		} else if !more {
			break
		}
	}
	if !bytes.HasPrefix(s.buf[s.pos:s.end], []byte("null")) {
		return false, s.syntaxError("no JSON value")
	}
	s.pos += len("null")
	return true, nil
}

// finish refuses anything after the value.
func (s *scanner) finish() error {
	c, err := s.next()
	if err == io.ErrUnexpectedEOF {
		return nil
	}
	if err != nil {
		return err
	}
	return s.syntaxError("%q follows the JSON value", rune(c))
}
