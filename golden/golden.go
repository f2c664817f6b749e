// Package golden holds the test vectors of the system's formats, for tests of any package.
//
// Each vector shows one thing and says so in its name; one that is refused differs from a good one by one mutation, and
// says with which code and reason. They are written by golden/generate, an implementation of its own, and committed;
// README.md describes the files. The folder independent holds vectors of a third implementation.
//
// A worked example: in scope-file.json the vector
//
//	{ "name": "an escape in batchId", "file": "{…\"batchId\":\"batch\\u005fg1\"…}", "want": "refused", "code": "INVALID_INPUT" }
//
// is a scope file that would be good but for one escape, so a test reads Content.Bytes and wants an error of that code:
//
//	for _, v := range golden.ScopeFiles() {
//		_, err := scope.Parse(v.Bytes())
//		…
//	}
//
// A loader panics where its file holds no vectors or a member that its type lacks, so that no test passes on nothing.
package golden

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

//go:embed *.json independent interop/verify.mjs
var files embed.FS

// An Outcome is what a reader of a vector must come to.
type Outcome struct {
	Want   string `json:"want"`             // "ok" or "refused"
	Code   string `json:"code,omitempty"`   // of a refusal, WIRE.md §9
	Reason string `json:"reason,omitempty"` // of a refusal; empty where WIRE.md names none, and then not to be compared
}

// OK tells whether the vector is good.
func (o Outcome) OK() bool { return o.Want == "ok" }

// Check tells how what a reader came to differs from the outcome: its error, and the code and reason of that error. A
// reason that the vector leaves open is not compared.
func (o Outcome) Check(err error, code, reason string) error {
	switch {
	case o.OK() && err != nil:
		return fmt.Errorf("refused, and should be taken: %w", err)
	case !o.OK() && err == nil:
		return fmt.Errorf("taken, and should be refused with %s %s", o.Code, o.Reason)
	case !o.OK() && (code != o.Code || o.Reason != "" && reason != o.Reason):
		return fmt.Errorf("refused with %s %q, and should be with %s %q: %w", code, reason, o.Code, o.Reason, err)
	}
	return nil
}

// A Content is the bytes of a file, written in one of three ways.
type Content struct {
	File       *string `json:"file,omitempty"`       // as text
	FileBase64 *string `json:"fileBase64,omitempty"` // where it is not UTF-8
	Repeat     *Repeat `json:"repeat,omitempty"`     // where it is large
}

// A Repeat is Head, then Count times Unit with Sep between, then Tail. "%06d" in Unit stands for the number of the
// repetition, from 0.
type Repeat struct {
	Head  string `json:"head"`
	Unit  string `json:"unit"`
	Sep   string `json:"sep"`
	Count int    `json:"count"`
	Tail  string `json:"tail"`
}

// Bytes gives the file, a new slice; some are of 64 MiB.
func (c Content) Bytes() []byte {
	switch {
	case c.File != nil:
		return []byte(*c.File)
	case c.FileBase64 != nil:
		return Base64(*c.FileBase64)
	case c.Repeat != nil:
		return c.Repeat.bytes()
	}
	panic("golden: a vector without content")
}

func (r *Repeat) bytes() []byte {
	var b bytes.Buffer
	b.Grow(len(r.Head) + r.Count*(len(r.Unit)+len(r.Sep)+2) + len(r.Tail))
	b.WriteString(r.Head)
	before, after, numbered := strings.Cut(r.Unit, "%06d")
	for i := range r.Count {
		if i > 0 {
			b.WriteString(r.Sep)
		}
		b.WriteString(before)
		if numbered {
			fmt.Fprintf(&b, "%06d", i)
			b.WriteString(after)
		}
	}
	b.WriteString(r.Tail)
	return b.Bytes()
}

// Base64 decodes standard base64 as it stands in the vectors.
func Base64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic("golden: " + err.Error())
	}
	return b
}

// load reads one file into its type.
func load[T any](name string) T {
	data, err := files.ReadFile(name)
	if err != nil {
		panic("golden: " + err.Error())
	}
	var v T
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		panic("golden: " + name + ": " + err.Error())
	}
	if !hasVectors(reflect.ValueOf(v)) {
		panic("golden: " + name + " holds no vectors")
	}
	return v
}

// hasVectors tells whether v is a list with elements, or a struct whose lists all have some.
func hasVectors(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() > 0
	}
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.Len() == 0 {
			return false
		}
	}
	return true
}

// VerifyScript gives interop/verify.mjs, which verifies a batch signature on node:crypto alone:
// node verify.mjs SCOPE.json SIG.json PUB.pem prints "ok <kid>", or why not and ends with 1.
func VerifyScript() []byte { return Independent("../interop/verify.mjs") }
