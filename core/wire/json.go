package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeJSON reads a JSON file of ours into v, strictly (WIRE.md §5): UTF-8 without BOM, no duplicate member, no unknown
// member, exact letter case, integers in plain digits up to 2^53-1, no escape in any string or member name, at most 16
// levels and 50,000 elements of an array, one value and nothing after it, at most 64 MiB. Members of v are pointers or slices, so that null is the same
// as an absent member; the caller checks which are there. The outermost members that freeText names may hold any escape, of
// which a lone surrogate becomes U+FFFD. what names the file in the error, an INVALID_INPUT.
func DecodeJSON(what string, data []byte, v any, freeText ...string) error {
	if len(data) > MaxFileBytes {
		return Errorf(InvalidInput, "", "%s has %d bytes; at most %d are read", what, len(data), MaxFileBytes)
	}
	if !utf8.Valid(data) { // the decoder is told to let lone surrogates pass, and would let this pass with them
		return Errorf(InvalidInput, "", "%s: it is not UTF-8", what)
	}
	if err := checkTokens(data, freeText); err != nil {
		return Errorf(InvalidInput, "", "%s: %w", what, err)
	}
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return Errorf(InvalidInput, "", "%s: %w", what, plainJSONError(err))
	}
	return nil
}

// checkTokens refuses what the decoder would take more widely than WIRE.md §5 does.
func checkTokens(data []byte, freeText []string) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true))
	for {
		kind := d.PeekKind()
		if d.StackDepth() > MaxJSONDepth {
			return errors.New("more than 16 levels")
		}
		if kind, length := d.StackIndex(d.StackDepth()); kind == '[' && length > MaxArrayElements {
			return errors.New("an array of more than " + strconv.Itoa(MaxArrayElements) + " elements")
		}
		free := kind == '"' && isValueOf(d, freeText)
		raw, err := readToken(d, kind)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return plainJSONError(err)
		}
		if d.StackDepth() == 0 && len(bytes.TrimLeft(data[d.InputOffset():], " \t\r\n")) != 0 {
			return errors.New("something follows the JSON value at byte " + strconv.FormatInt(d.InputOffset(), 10))
		}
		switch {
		case kind == '"' && !free && bytes.IndexByte(raw, '\\') >= 0:
			return errors.New("the string " + string(raw) + " holds an escape; identifiers are written plainly")
		case kind == '0':
			if err := checkInteger(raw); err != nil {
				return err
			}
		}
	}
}

// isValueOf tells whether what comes next is the value of one of these members of the outermost object.
func isValueOf(d *jsontext.Decoder, members []string) bool {
	if d.StackDepth() != 1 || len(members) == 0 {
		return false
	}
	kind, read := d.StackIndex(1)
	return kind == '{' && read%2 == 1 && slices.Contains(members, d.StackPointer().LastToken())
}

func readToken(d *jsontext.Decoder, kind jsontext.Kind) (jsontext.Value, error) {
	switch kind {
	case '"', '0':
		return d.ReadValue()
	}
	_, err := d.ReadToken()
	return nil, err
}

func checkInteger(raw []byte) error {
	for _, c := range raw {
		if c < '0' || c > '9' {
			return errors.New("the number " + string(raw) + " is not plain digits")
		}
	}
	if n, err := strconv.ParseUint(string(raw), 10, 64); err != nil || n > MaxInteger {
		return errors.New("the number " + string(raw) + " is over 2^53-1")
	}
	return nil
}

// plainJSONError drops the library's own prefix from what a person reads.
func plainJSONError(err error) error {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at := " at byte " + strconv.FormatInt(syntactic.ByteOffset, 10)
		if name := syntactic.JSONPointer.LastToken(); errors.Is(err, jsontext.ErrDuplicateName) {
			return errors.New("member " + strconv.Quote(name) + " is there twice" + at)
		}
		return errors.New(syntactic.Err.Error() + at)
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		where := string(semantic.JSONPointer)
		if errors.Is(err, json.ErrUnknownName) {
			return errors.New("unknown member " + strconv.Quote(semantic.JSONPointer.LastToken()))
		}
		if semantic.JSONKind != 0 {
			return errors.New(where + " is not of its type; it holds a JSON " + semantic.JSONKind.String())
		}
	}
	return err
}

// Base64 is a byte string that stands in JSON as canonical padded base64.
type Base64 []byte

// MarshalText gives the base64.
func (b Base64) MarshalText() ([]byte, error) {
	return []byte(base64.StdEncoding.EncodeToString(b)), nil
}

// UnmarshalText reads canonical base64.
func (b *Base64) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBase64("the value", string(text))
	return err
}
