package scope

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/wire"
)

// ParseLeaves reads the leaves of a scope that is to be made: a JSON array of 1 to 50,000 objects { subject, kind, payload?,
// payloadSha256? }, as strict as a scope file. A payload is { typeUrl, value }, as a scope has it, or { json }, an object in
// the JSON form of protobuf, which the kind's own message encodes; its strings may hold any escape, and it has at most 1
// MiB. A leaf without a payload binds its digest, or admits any payload. Errors are INVALID_INPUT, IO_ERROR for the reader.
func ParseLeaves(r io.Reader, table *kinds.Table, workers int) (*Draft, error) {
	return parseLeaves(r, table, workers, standardLimits)
}

func parseLeaves(r io.Reader, table *kinds.Table, workers int, l limits) (*Draft, error) {
	if table == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "no kind table to encode with")
	}
	p := parser{what: "file of leaves", out: &Parsed{limits: l, header: Header{Bare: true}}, draft: &encoder{kinds: table}}
	parsed, err := p.run(r, workers, func() error {
		switch c, err := p.s.next(); {
		case err == io.ErrUnexpectedEOF:
			return p.s.syntaxError("the file is empty")
		case err != nil:
			return err
		case c != '[':
			return p.s.syntaxError("no array of leaves begins")
		}
		return p.leaves()
	})
	if err != nil {
		return nil, err
	}
	return &Draft{parsed, table, max(1, workers)}, nil
}

// A DraftLeaf is one leaf as a program has it. Its payload is either JSON, or TypeURL and Value, or it has none.
type DraftLeaf struct {
	Subject, Kind string
	PayloadSHA256 []byte // 32 bytes that the payload must give, or that are bound without it; or none
	JSON          []byte // the payload in the JSON form of protobuf, an object
	TypeURL       string // the payload as it is encoded: its type; "" where it is not given so
	Value         []byte // and its bytes
}

// NewDraft takes leaves of a program down the road of ParseLeaves, and refuses what that refuses.
func NewDraft(leaves []DraftLeaf, table *kinds.Table, workers int) (*Draft, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range leaves {
		if i > 0 {
			b.WriteByte(',')
		}
		line, err := leaves[i].encode()
		if err != nil {
			return nil, leafError(i, "", "%w", err)
		}
		b.Write(line)
	}
	b.WriteByte(']')
	return ParseLeaves(&b, table, workers)
}

// encode gives the leaf as a file of leaves has it.
func (l *DraftLeaf) encode() ([]byte, error) {
	type payload struct {
		JSON    jsontext.Value `json:"json,omitzero"`
		TypeURL *string        `json:"typeUrl,omitzero"`
		Value   *[]byte        `json:"value,omitzero"`
	}
	out := struct {
		Subject string   `json:"subject"`
		Kind    string   `json:"kind"`
		Digest  *string  `json:"payloadSha256,omitzero"`
		Payload *payload `json:"payload,omitzero"`
	}{Subject: l.Subject, Kind: l.Kind}
	if len(l.PayloadSHA256) > 0 {
		out.Digest = new(hex.EncodeToString(l.PayloadSHA256))
	}
	switch {
	case l.JSON != nil && (l.TypeURL != "" || l.Value != nil):
		return nil, errors.New("the payload is given as JSON and as bytes; give one of them")
	case l.TypeURL == "" && l.Value != nil:
		return nil, errors.New("the payload's bytes are given without their type")
	case l.JSON != nil:
		out.Payload = &payload{JSON: l.JSON}
	case l.TypeURL != "":
		out.Payload = &payload{TypeURL: &l.TypeURL, Value: &l.Value}
	}
	return json.Marshal(out)
}

// withSubject names the subject beside the position in an error about a leaf, where it is known.
func (d *Draft) withSubject(err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return err
	}
	at, ok := e.Details["leaf"].(int)
	if !ok || at >= len(d.leaves.leaves) {
		return err
	}
	return subjectNamed(e, at, d.leaves.leaves[at].subject)
}

func subjectNamed(e *wire.Error, at int, subject []byte) *wire.Error {
	rest := strings.TrimPrefix(e.Message, fmt.Sprintf("leaf %d: ", at))
	e.Message = fmt.Sprintf("leaf %d (%s): %s", at, subject, rest)
	return e.With("subject", string(subject))
}
