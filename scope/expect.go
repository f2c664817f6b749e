package scope

import (
	"bytes"
	"encoding/hex"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/wire"
)

// An Expected is a list of what a batch should hold, from a source that is not the control plane (WIRE.md §5, --expect):
// subjects alone, which compare as a set, or entries of subject and kind, which compare as a multiset, with the digest
// where one is given.
type Expected struct {
	subjects []string        // of a list of subjects
	entries  []expectedEntry // of a list of entries
}

type expectedEntry struct {
	subject, kind string
	digest        []byte // 32 bytes, none for the unbound leaf, or nil for any leaf
}

// Len gives the number of distinct subjects, or of entries.
func (e *Expected) Len() int { return len(e.subjects) + len(e.entries) }

// ParseExpected reads an expected list: one subject a line ("#" comments and blank lines pass), a JSON array of subjects,
// or a JSON array of { subject, kind, payloadSha256? }. The error is INVALID_INPUT naming the line or element.
func ParseExpected(data []byte) (*Expected, error) {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		return parseExpectedJSON(data)
	}
	e := &Expected{}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.Trim(line, " \t\r\n")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if err := e.addSubject("line", number, string(line)); err != nil {
			return nil, err
		}
	}
	return e.finish()
}

func parseExpectedJSON(data []byte) (*Expected, error) {
	var elements []jsontext.Value
	if err := wire.DecodeJSON("expected list", data, &elements); err != nil {
		return nil, err
	}
	e := &Expected{}
	for i, raw := range elements {
		var err error
		switch raw.Kind() {
		case '"':
			err = e.addSubject("element", i, string(raw[1:len(raw)-1])) // identifiers hold no escape
		case '{':
			err = e.addEntry(i, raw)
		default:
			err = wire.Errorf(wire.InvalidInput, "", "expected list: element %d is neither a subject nor an entry", i)
		}
		if err != nil {
			return nil, err
		}
	}
	return e.finish()
}

func (e *Expected) addSubject(place string, number int, subject string) error {
	if err := checkSubject(place, number, subject); err != nil {
		return err
	}
	if len(e.subjects) == wire.MaxLeaves {
		return wire.Errorf(wire.InvalidInput, "", "expected list: more than %d subjects; no batch holds as many", wire.MaxLeaves)
	}
	e.subjects = append(e.subjects, subject)
	return nil
}

func checkSubject(place string, number int, subject string) error {
	if _, ok := wire.ParseSubject([]byte(subject)); !ok {
		return wire.Errorf(wire.InvalidInput, "",
			"expected list: %s %d: %q is not a subject; wanted: a node id, bmc:<site agent node id>/<address> or node:<target node id>",
			place, number, shorten([]byte(subject)))
	}
	return nil
}

func (e *Expected) addEntry(i int, raw jsontext.Value) error {
	var j struct {
		Subject *string `json:"subject"`
		Kind    *string `json:"kind"`
		Digest  *string `json:"payloadSha256"`
	}
	if err := wire.DecodeJSON("expected list", raw, &j); err != nil {
		return err
	}
	if j.Subject == nil || j.Kind == nil {
		return wire.Errorf(wire.InvalidInput, "", "expected list: element %d wants both subject and kind", i)
	}
	if err := checkSubject("element", i, *j.Subject); err != nil {
		return err
	}
	if !wire.IsKind(*j.Kind) {
		return wire.Errorf(wire.InvalidInput, "", "expected list: element %d: %q is not a kind", i, shorten([]byte(*j.Kind)))
	}
	entry := expectedEntry{subject: *j.Subject, kind: *j.Kind}
	if j.Digest != nil && *j.Digest == "" {
		entry.digest = []byte{} // the unbound leaf
	} else if j.Digest != nil {
		digest, err := wire.ParseHex("payloadSha256", *j.Digest, 32)
		if err != nil {
			return err
		}
		entry.digest = digest
	}
	e.entries = append(e.entries, entry)
	return nil
}

func (e *Expected) finish() (*Expected, error) {
	switch {
	case len(e.subjects) > 0 && len(e.entries) > 0:
		return nil, wire.Errorf(wire.InvalidInput, "", "expected list: subjects and entries stand in one list; use one form")
	case e.Len() == 0:
		return nil, wire.Errorf(wire.InvalidInput, "", "expected list: it is empty")
	}
	slices.Sort(e.subjects)
	e.subjects = slices.Compact(e.subjects)
	return e, nil
}

// A Difference is what a batch holds otherwise than expected, each a sorted list of subjects, or of "subject kind" with
// the digest where it matters.
type Difference struct {
	Missing    []string // expected, not in the batch
	Unexpected []string // in the batch, not expected
	Doubled    []string // in the batch more often than expected
}

// Empty tells whether the batch is exactly what was expected.
func (d Difference) Empty() bool { return len(d.Missing)+len(d.Unexpected)+len(d.Doubled) == 0 }

// Compare holds the scope against the list.
func (e *Expected) Compare(v *Verified) Difference {
	var d Difference
	if e.entries == nil {
		d = e.compareSubjects(v)
	} else {
		d = e.compareEntries(v)
	}
	slices.Sort(d.Missing)
	slices.Sort(d.Unexpected)
	slices.Sort(d.Doubled)
	return d
}

func (e *Expected) compareSubjects(v *Verified) (d Difference) {
	counts := make(map[string]int, len(v.leaves))
	for i := range v.leaves {
		counts[string(v.leaves[i].subject)]++
	}
	for _, subject := range e.subjects {
		n := counts[subject]
		delete(counts, subject)
		if n == 0 {
			d.Missing = append(d.Missing, subject)
		}
		if n > 1 {
			d.Doubled = append(d.Doubled, subject)
		}
	}
	for subject := range counts {
		d.Unexpected = append(d.Unexpected, subject)
	}
	return d
}

// compareEntries takes the entries with a digest first, so that one without takes a leaf that no other claims.
func (e *Expected) compareEntries(v *Verified) (d Difference) {
	left := make(map[string]int)    // "subject kind" -> leaves that no entry took
	leaves := make(map[string]bool) // "subject kind digest" -> no entry with that digest took it
	for i := range v.leaves {
		key := string(v.leaves[i].subject) + " " + v.names[v.leaves[i].kind]
		left[key]++
		leaves[key+digestSuffix(v.leaves[i].boundDigest())] = true
	}
	anyDigest := make(map[string]bool) // keys with an entry that admits any digest
	for _, entry := range e.entries {
		key := entry.subject + " " + entry.kind
		switch leaf := key + digestSuffix(entry.digest); {
		case entry.digest == nil:
			anyDigest[key] = true
		case leaves[leaf]:
			leaves[leaf] = false
			left[key]--
		default:
			d.Missing = append(d.Missing, leaf)
		}
	}
	for _, entry := range e.entries {
		if key := entry.subject + " " + entry.kind; entry.digest == nil && left[key] > 0 {
			left[key]--
		} else if entry.digest == nil {
			d.Missing = append(d.Missing, key)
		}
	}
	for i := range v.leaves {
		key := string(v.leaves[i].subject) + " " + v.names[v.leaves[i].kind]
		switch leaf := key + digestSuffix(v.leaves[i].boundDigest()); {
		case left[key] == 0 || !leaves[leaf]:
		case anyDigest[key]: // the key was expected with any payload, and there is one more of it
			d.Doubled = append(d.Doubled, key)
		default:
			d.Unexpected = append(d.Unexpected, leaf)
		}
	}
	d.Doubled = compacted(d.Doubled)
	return d
}

func compacted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// digestSuffix gives a space and the digest in hex, or nothing for an unbound leaf.
func digestSuffix(digest []byte) string {
	if len(digest) == 0 {
		return ""
	}
	return " " + hex.EncodeToString(digest)
}
