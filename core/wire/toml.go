package wire

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOMLLines gives the line, counted from 1, on which each key of a TOML file stands: "module.path", and with the
// position in an array of tables "kind[0].name". Tables stand there too: "module", "kind[0]".
type TOMLLines map[string]int

// DecodeTOML reads a TOML file of ours into v, strictly: TOML 1.0 in UTF-8 without BOM, at most MaxTOMLBytes, no unknown
// key, exact letter case, no key twice, no value of another type, no [table] where [[table]] is wanted. v points to a
// struct whose members have a toml tag and are string, bool, int64, structs, pointers to them or slices of them;
// the caller says which keys are missing. what names the file in the error, an INVALID_CONFIG with the details line and,
// where one is at fault, key.
func DecodeTOML(what string, data []byte, v any) (TOMLLines, error) {
	if len(data) > MaxTOMLBytes {
		return nil, Errorf(InvalidConfig, "", "%s has %d bytes; at most %d are read", what, len(data), MaxTOMLBytes)
	}
	s := tomlSchema{what: what, root: reflect.TypeOf(v).Elem(), data: data, lines: make(TOMLLines), elements: make(map[string]int)}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := toml.Unmarshal(data, v); err != nil { // syntax, a key twice, a number too large
		return nil, s.syntax(err)
	}
	return s.lines, nil
}

// A tomlSchema holds the keys of a file against the type that it is read into. The library alone would take a key in
// another letter case and [t] for [[t]], and name members of Go types to whoever wrote the file.
type tomlSchema struct {
	what     string
	root     reflect.Type
	data     []byte
	lines    TOMLLines
	elements map[string]int // of each array of tables, how many stand there so far
	counted  int            // data[:counted] has newlines line breaks
	newlines int
}

// A tomlPlace is a type that a key leads to, and the key.
type tomlPlace struct {
	key string
	typ reflect.Type
}

// check reads as far as the syntax holds.
func (s *tomlSchema) check() error {
	var p unstable.Parser
	p.Reset(s.data)
	table := tomlPlace{"", s.root}
	for p.NextExpression() {
		var err error
		if e := p.Expression(); e.Kind == unstable.KeyValue {
			err = s.keyValue(table, e)
		} else {
			table, err = s.header(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// header gives the table that [a.b] or [[a.b]] opens.
func (s *tomlSchema) header(e *unstable.Node) (tomlPlace, error) {
	at := tomlPlace{"", s.root}
	for it := e.Key(); it.Next(); {
		var err error
		if at, err = s.member(at, it.Node()); err != nil {
			return at, err
		}
		last := it.IsLast()
		line := s.lineAt(int(it.Node().Raw.Offset))
		if last {
			s.lines[at.key] = line
		}
		if isTables(at.typ) {
			if last && e.Kind == unstable.Table {
				return at, s.errorf(at.key, "is opened as [%s]; wanted: [[%[1]s]]", at.key)
			}
			if last {
				s.elements[at.key]++
			}
			n := s.elements[at.key] - 1
			if n < 0 {
				return at, s.errorf(at.key, "has no table yet; wanted first: [[%s]]", at.key)
			}
			at = tomlPlace{at.key + "[" + strconv.Itoa(n) + "]", plainType(at.typ.Elem())}
			s.lines[at.key] = line
		} else if at.typ.Kind() != reflect.Struct || last && e.Kind == unstable.ArrayTable {
			if at.typ.Kind() == reflect.Struct {
				return at, s.errorf(at.key, "is opened as [[%s]]; wanted: [%[1]s]", at.key)
			}
			return at, s.errorf(at.key, "is opened as a table; wanted: %s", wantedTOML(at.typ))
		}
	}
	return at, nil
}

// keyValue checks "a.b = value" inside a table.
func (s *tomlSchema) keyValue(at tomlPlace, e *unstable.Node) error {
	for it := e.Key(); it.Next(); {
		var err error
		if at.typ.Kind() != reflect.Struct {
			return s.errorf(at.key, "is used as a table; wanted: %s", wantedTOML(at.typ))
		}
		if at, err = s.member(at, it.Node()); err != nil {
			return err
		}
	}
	return s.value(at, e.Value())
}

func (s *tomlSchema) value(at tomlPlace, n *unstable.Node) error {
	kinds := map[reflect.Kind]unstable.Kind{reflect.String: unstable.String, reflect.Bool: unstable.Bool, reflect.Int64: unstable.Integer,
		reflect.Slice: unstable.Array, reflect.Struct: unstable.InlineTable}
	if kinds[at.typ.Kind()] != n.Kind {
		return s.errorf(at.key, "is %s; wanted: %s", namesTOML[n.Kind], wantedTOML(at.typ))
	}
	line := s.lines[at.key]
	for i, it := 0, n.Children(); (n.Kind == unstable.Array || n.Kind == unstable.InlineTable) && it.Next(); i++ {
		var err error
		if n.Kind == unstable.InlineTable {
			err = s.keyValue(at, it.Node())
		} else {
			element := tomlPlace{at.key + "[" + strconv.Itoa(i) + "]", plainType(at.typ.Elem())}
			s.lines[element.key] = line // a value has no place of its own in the library's tree
			err = s.value(element, it.Node())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// member gives the place that one part of a key leads to inside a table, and notes its line.
func (s *tomlSchema) member(at tomlPlace, part *unstable.Node) (tomlPlace, error) {
	name := string(part.Data)
	if len(name) > 80 { // bytes; a key may have a megabyte
		name = name[:80] + "…"
	}
	key := strings.TrimPrefix(at.key+"."+name, ".")
	if s.lines[key] == 0 { // a table stands where it is opened, not where one within it is
		s.lines[key] = s.lineAt(int(part.Raw.Offset))
	}
	if at.typ.Kind() != reflect.Struct {
		return at, s.errorf(at.key, "is used as a table; wanted: %s", wantedTOML(at.typ))
	}
	var known []string
	for f := range at.typ.Fields() {
		tag := f.Tag.Get("toml")
		if tag == string(part.Data) {
			return tomlPlace{key, plainType(f.Type)}, nil
		}
		known = append(known, tag)
	}
	slices.Sort(known)
	aside := ""
	if at.key != "" && hasMember(s.root, name) {
		aside = "; at the top it is: there it stands before the first table"
	}
	return at, s.errorf(key, "is not known; keys here: %s%s", strings.Join(known, ", "), aside)
}

func hasMember(t reflect.Type, tag string) bool {
	for f := range t.Fields() {
		if f.Tag.Get("toml") == tag {
			return true
		}
	}
	return false
}

// lineAt gives the line of a byte. Offsets mostly ascend, so most of data is counted once.
func (s *tomlSchema) lineAt(offset int) int {
	if offset < s.counted {
		s.counted, s.newlines = 0, 0
	}
	s.newlines += bytes.Count(s.data[s.counted:offset], []byte("\n"))
	s.counted = offset
	return s.newlines + 1
}

func (s *tomlSchema) errorf(key, format string, args ...any) error {
	line := s.lines[key]
	return Errorf(InvalidConfig, "", "%s line %d: the key %q %s", s.what, line, key, fmt.Sprintf(format, args...)).With("key", key).With("line", line)
}

func (s *tomlSchema) syntax(err error) error {
	decoding, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return Errorf(InvalidConfig, "", "%s: %w", s.what, err)
	}
	line, _ := decoding.Position()
	out := Errorf(InvalidConfig, "", "%s line %d: %s", s.what, line, strings.TrimPrefix(err.Error(), "toml: ")).With("line", line)
	if key := decoding.Key(); len(key) > 0 {
		out = out.With("key", strings.Join(key, "."))
	}
	return out
}

func plainType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// isTables tells whether t is an array of tables.
func isTables(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && plainType(t.Elem()).Kind() == reflect.Struct
}

var namesTOML = map[unstable.Kind]string{unstable.String: "a string", unstable.Bool: "true or false", unstable.Integer: "a whole number",
	unstable.Float: "a number with a point", unstable.Array: "an array", unstable.InlineTable: "a table", unstable.LocalDate: "a date",
	unstable.LocalTime: "a time", unstable.LocalDateTime: "a date and time", unstable.DateTime: "a date and time"}

// wantedTOML names what a value of a type is written as.
func wantedTOML(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		if isTables(t) {
			return "an array of tables"
		}
		return "an array"
	}
	return "a table"
}
