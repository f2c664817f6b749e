package ledger

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A reader is the form that reads. It takes exactly the bytes that a writer writes; the first that differ are its error, and
// whatever is asked of it afterwards reads nothing.
type reader struct {
	data []byte
	at   int
	err  error
}

// fail notes the first error.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = wire.Errorf(wire.InvalidInput, "", "byte %d: "+format, append([]any{r.at}, args...)...)
	}
}

// end refuses what follows the last member, and gives the error.
func (r *reader) end() error {
	if r.at != len(r.data) {
		r.fail("something follows")
	}
	return r.err
}

// take passes over a text where it is next.
func (r *reader) take(text string) bool {
	if r.err != nil || len(r.data)-r.at < len(text) || string(r.data[r.at:r.at+len(text)]) != text {
		return false
	}
	r.at += len(text)
	return true
}

func (r *reader) literal(text string) {
	if !r.take(text) {
		r.fail("wanted: %s", text)
	}
}

func (r *reader) present(lead string, _ bool) bool { return r.take(lead) }

// more tells whether a list goes on: a string is next, after a comma but for the first.
func (r *reader) more(i int, _ bool) bool {
	if i > 0 && !r.take(",") {
		return false
	}
	if i >= maxElements {
		r.fail("over %d elements", maxElements)
	}
	next := r.err == nil && r.at < len(r.data) && r.data[r.at] == '"'
	if i > 0 && !next {
		r.fail("wanted: a string")
	}
	return next
}

func (r *reader) integer(n *uint64) {
	start := r.at
	for r.err == nil && r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	digits := string(r.data[start:r.at])
	v, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || v > wire.MaxInteger || len(digits) > 1 && digits[0] == '0' {
		r.fail("wanted: an integer up to 2^53-1 in plain digits")
		return
	}
	*n = v
}

func (r *reader) hash(h *Hash) {
	raw := r.plain()
	if len(raw) != 2*len(h) {
		r.fail("wanted: 64 hex digits")
		return
	}
	for i := range h {
		hi, lo := nibble(raw[2*i]), nibble(raw[2*i+1])
		if hi|lo > 15 {
			r.fail("wanted: lower-case hex")
			return
		}
		h[i] = hi<<4 | lo
	}
}

// nibble gives the value of a digit of lower-case hex, over 15 for any other byte.
func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

// plain reads a string that holds no escape and gives the bytes between its quotes.
func (r *reader) plain() []byte {
	r.literal(`"`)
	if r.err != nil {
		return nil
	}
	rest := r.data[r.at:]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		r.fail("a string does not end")
		return nil
	}
	r.at += end + 1
	return rest[:end]
}

// text reads a string in the one way a writer writes it.
func (r *reader) text(s *string) {
	start := r.at
	r.literal(`"`)
	if r.err != nil {
		return
	}
	isPlain := true
	for ; ; r.at++ {
		if r.at == len(r.data) {
			r.fail("a string does not end")
			return
		}
		c := r.data[r.at]
		if c == '"' {
			break
		}
		if c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			isPlain = false
		}
		if c == '\\' && r.at+1 < len(r.data) {
			r.at++
		}
	}
	r.at++
	quoted := r.data[start:r.at]
	if isPlain {
		*s = string(quoted[1 : len(quoted)-1])
		return
	}
	value, err := jsontext.AppendUnquote(nil, quoted)
	if err == nil {
		var again []byte
		if again, err = jsontext.AppendQuote(nil, value); err == nil && bytes.Equal(again, quoted) {
			*s = string(value)
			return
		}
	}
	r.fail("a string is not written in its shortest form")
}

func (r *reader) filled(s *string) {
	if r.text(s); *s == "" {
		r.fail("wanted: a text")
	}
}

func (r *reader) kid(k *quorum.KID) {
	raw := r.plain()
	if r.err != nil {
		return
	}
	var err error
	if *k, err = quorum.ParseKID(string(raw)); err != nil {
		r.fail("%s", wire.MessageOf(err))
	}
}

func (r *reader) sig(s *quorum.Sig) {
	raw := r.plain()
	if r.err != nil {
		return
	}
	var err error
	if *s, err = quorum.ParseSig(string(raw)); err != nil {
		r.fail("%s", wire.MessageOf(err))
	}
}

func (r *reader) settings(m *map[string]string) {
	r.literal("{")
	*m = map[string]string{}
	before := ""
	for i := 0; r.more(i, false); i++ {
		var name, value string
		r.text(&name)
		r.literal(":")
		r.text(&value)
		if r.err == nil && i > 0 && name <= before {
			r.fail("the names of settings ascend, each once")
		}
		(*m)[name], before = value, name
	}
	r.literal("}")
}
