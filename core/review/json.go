package review

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/wire"
)

// WriteJSON writes the whole document as one JSON object and a line feed, ASCII only, the same bytes for the same
// document; operations are written one by one, so memory does not grow with them. Texts are in their escaped form. The
// members are
//
//	what, verdict ("stop", "acknowledge", "clear" or, of what says no, "decline"), root (64 hex), words (32), size,
//	counts? (what size counts, where not "operation": "change" or "part"), escapes,
//	facts[] { key?, name, value[]?, note? }, tallies[] { title, rows[] { name, n, destructive? } },
//	findings[] { rule, severity, message, advice, places[]?, code?, details? },
//	summaries[] { title, columns[]? { name, type, distinct, range?, common[] { n, value[]?, note? }, rare[]? } },
//	operations[] { title, type, digest?, marks[]?, destructive?, outlier?, fields[]?, subjects[] }
//
// where fields[] is absent for what is not known and a field is { name, type, default?, odd?, usual[]?, value[]?,
// note?, fields[]? }. The error is IO_ERROR.
func WriteJSON(w io.Writer, d *Document) error {
	b := bufio.NewWriterSize(w, 64<<10)
	enc := jsontext.NewEncoder(&asciiWriter{w: b}, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err := errors.Join(d.encode(enc), b.Flush()); err != nil {
		return wire.Errorf(wire.IOError, "", "cannot write the review: %w", err)
	}
	return nil
}

// A member is a name of a JSON object and its value.
type member struct {
	name  string
	value any
}

func (d *Document) encode(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range d.members() {
		if err := errors.Join(enc.WriteToken(jsontext.String(m.name)), json.MarshalEncode(enc, m.value)); err != nil {
			return err
		}
	}
	if err := errors.Join(enc.WriteToken(jsontext.String("operations")), enc.WriteToken(jsontext.BeginArray)); err != nil {
		return err
	}
	for i := range d.Operations {
		if err := json.MarshalEncode(enc, d.Operations[i].form()); err != nil {
			return err
		}
	}
	return errors.Join(enc.WriteToken(jsontext.EndArray), enc.WriteToken(jsontext.EndObject))
}

// members gives what stands before the operations.
func (d *Document) members() []member {
	m := []member{
		{"what", d.What}, {"verdict", d.verdict()}, {"root", hex.EncodeToString(d.Root)}, {"words", Words(d.Root)}, {"size", d.Size},
	}
	if d.Counts != Operations {
		m = append(m, member{"counts", d.Counts.String()})
	}
	return append(m, member{"escapes", d.Escapes}, member{"facts", d.Facts}, member{"tallies", d.Tallies},
		member{"findings", d.Findings}, member{"summaries", d.Summaries})
}

// verdict gives the severest severity that asks for something, or "clear"; of a decline, that it is one.
func (d *Document) verdict() string {
	switch n := d.bySeverity(); {
	case d.declines:
		return "decline"
	case n[Stop] > 0:
		return Stop.String()
	case n[Acknowledge] > 0:
		return Acknowledge.String()
	}
	return "clear"
}

// An operationForm is the JSON form of an Operation.
type operationForm struct {
	Title       Text     `json:"title"`
	Type        Text     `json:"type"`
	Digest      string   `json:"digest,omitzero"`
	Marks       []string `json:"marks,omitzero"`
	Destructive bool     `json:"destructive,omitzero"`
	Outlier     bool     `json:"outlier,omitzero"`
	Fields      []Field  `json:"fields,omitzero"`
	Subjects    []Text   `json:"subjects"`
}

func (o *Operation) form() *operationForm {
	return &operationForm{o.Title, o.Type, hex.EncodeToString(o.Digest), o.Marks, o.Destructive, o.Outlier, o.Fields(), o.Subjects}
}

// An asciiWriter passes JSON on with every rune beyond printable ASCII, which only strings hold, as \uXXXX.
type asciiWriter struct {
	w    *bufio.Writer
	rest []byte // the start of a rune that the next Write ends
}

func (a *asciiWriter) Write(p []byte) (int, error) {
	s := p
	if len(a.rest) > 0 {
		s = append(a.rest, p...)
		a.rest = nil
	}
	for i := 0; i < len(s); {
		if n := asciiRun(s[i:]); n > 0 {
			a.w.Write(s[i : i+n])
			i += n
			continue
		}
		if !utf8.FullRune(s[i:]) {
			a.rest = append(a.rest, s[i:]...)
			break
		}
		r, size := utf8.DecodeRune(s[i:])
		i += size
		for _, u := range utf16.AppendRune(nil, r) {
			a.w.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				a.w.WriteByte("0123456789abcdef"[u>>shift&15])
			}
		}
	}
	_, err := a.w.Write(nil) // the first error of all writes
	return len(p), err
}

// asciiRun gives the number of bytes before the first that is DEL or beyond ASCII.
func asciiRun(b []byte) int {
	if i := bytes.IndexFunc(b, func(r rune) bool { return r >= 0x7f }); i >= 0 {
		return i
	}
	return len(b)
}
