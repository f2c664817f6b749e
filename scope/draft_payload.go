package scope

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/wire"
)

// levelsAround are those of a file of leaves around a payload's JSON: the array, the leaf, the payload.
const levelsAround = 3

// An encoder makes payloads of the JSON of one leaf after the other.
type encoder struct {
	kinds *kinds.Table
	json  []byte // of the leaf that is read; has tells it from none
	has   bool
	check jsontext.Decoder
}

var draftPayloadNames = append(payloadNames[:len(payloadNames):len(payloadNames)], "json")

// draftPayload takes the rest of a payload, which is either given as JSON or as a scope has it.
func (p *parser) draftPayload(l *leaf) error {
	var names uint32
	for {
		member, more, err := p.s.member(draftPayloadNames, &names)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if member < len(payloadNames) {
			err = p.payloadMember(l, member)
		} else {
			err = p.payloadJSON()
		}
		if err != nil {
			return err
		}
	}
	switch names {
	case 0b011:
		l.flags |= hasPayload
	case 0b100:
	default:
		p.malformed("payload wants either typeUrl and value, or json alone")
	}
	return nil
}

// payloadJSON keeps the JSON until the whole leaf was read, for its kind may stand behind it.
func (p *parser) payloadJSON() error {
	raw, err := p.s.object("json", wire.MaxPayloadJSON)
	switch {
	case errors.Is(err, errLongObject):
		return leafError(p.out.count, "payload-too-large", "the JSON of the payload has over %d bytes", wire.MaxPayloadJSON)
	case err != nil:
		return err
	}
	if err := p.draft.checkSyntax(raw); err != nil {
		return fmt.Errorf("leaf %d: json: %w", p.out.count, err)
	}
	p.draft.has = true
	if p.keep() {
		p.draft.json = append(p.draft.json[:0], raw...)
	}
	return nil
}

// encode gives a leaf whose payload is JSON the bytes that its kind's message encodes it as.
func (p *parser) encode(l *leaf) {
	has := p.draft.has
	p.draft.has = false
	if !has || !p.keep() {
		return
	}
	name := p.out.kinds.list[l.kind]
	kind := p.draft.kinds.Lookup([]byte(name))
	if kind == nil {
		p.refuse(l, leafError(p.out.count, "", "kind %q is in no table, so nothing can encode its json", name))
		return
	}
	payload, err := kind.Encode(p.draft.json)
	if err != nil {
		p.refuse(l, namedLeaf(p.out.count, err))
		return
	}
	if p.out.bytes += len(payload); p.out.bytes > p.out.limits.batchBytes { // encoding on would take memory without bound
		p.refuse(l, leafError(p.out.count, "payload-too-large", "with it the payloads have %d bytes; at most %d are taken in one batch",
			p.out.bytes, p.out.limits.batchBytes))
		return
	}
	l.flags |= hasPayload
	l.payload = p.arena.copy(payload)
	if err := p.typeURL(l, []byte(kind.TypeURL())); err != nil {
		p.refuse(l, namedLeaf(p.out.count, err))
	}
}

// refuse notes the first leaf that cannot be taken, as malformed does, with its subject.
func (p *parser) refuse(l *leaf, err error) {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		err = subjectNamed(e, p.out.count, l.subject)
	}
	p.out.badLeaf, p.out.badForm = p.out.count, err
}

// checkSyntax refuses JSON that is not of one reading: a member twice, a lone surrogate, bytes that are not UTF-8, NaN.
func (e *encoder) checkSyntax(raw []byte) error {
	e.check.Reset(bytes.NewBuffer(raw))
	err := e.check.SkipValue()
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("member %q is there twice", shorten([]byte(syntactic.JSONPointer.LastToken())))
	}
	return fmt.Errorf("%w at byte %d of it", syntactic.Err, syntactic.ByteOffset)
}

var errLongObject = errors.New("an object is longer than is taken")

// object takes a JSON object of at most so many bytes whole and gives it as it stands, up to the bracket that closes the first one. What is between
// is for a JSON library to look at.
func (s *scanner) object(member string, most int) ([]byte, error) {
	c, err := s.next()
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err != nil || c != '{' {
		return nil, s.syntaxError("member %q is not an object", member)
	}
	var b brackets
	for looked := 0; ; {
		at, closed := b.next(s.buf[s.pos+looked : s.end])
		looked += at
		switch {
		case looked > most:
			return nil, errLongObject
		case b.depth > wire.MaxJSONDepth-levelsAround:
			s.pos += looked
			return nil, s.syntaxError("member %q makes more than %d levels", member, wire.MaxJSONDepth)
		case closed:
			raw := s.buf[s.pos : s.pos+looked]
			s.pos += looked
			return raw, nil
		}
		if more, err := s.fill(); err != nil {
			return nil, err
		} else if !more {
			return nil, s.syntaxError("the file ends inside member %q, which begins", member)
		}
	}
}

// brackets follow JSON from one bracket to the one that closes it, over pieces of the text.
type brackets struct {
	depth           int
	quoted, escaped bool
}

// next looks at a piece, up to the end of the value or a level too deep, and tells how far it looked.
func (b *brackets) next(piece []byte) (looked int, closed bool) {
	for i, c := range piece {
		switch {
		case b.escaped:
			b.escaped = false
		case b.quoted && c == '\\':
			b.escaped = true
		case c == '"':
			b.quoted = !b.quoted
		case b.quoted:
		case c == '{' || c == '[':
			if b.depth++; b.depth > wire.MaxJSONDepth-levelsAround {
				return i, false
			}
		case c == '}' || c == ']':
			if b.depth--; b.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(piece), false
}
