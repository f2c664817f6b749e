package main

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// An outcome is what a reader of a vector must come to: "ok", or "refused" with a code and, where WIRE.md names one, a
// reason.
type outcome struct {
	Want   string `json:"want"`
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

var ok = outcome{Want: "ok"}

// refused reads "CODE" or "CODE reason".
func refused(class string) outcome {
	code, reason, _ := strings.Cut(class, " ")
	return outcome{"refused", code, reason}
}

var invalid = refused("INVALID_INPUT")

// A content is the bytes of a file: as text, as base64 where they are not UTF-8, or as a repetition where they are many.
type content struct {
	File       *string `json:"file,omitempty"`
	FileBase64 *string `json:"fileBase64,omitempty"`
	Repeat     *repeat `json:"repeat,omitempty"`
}

// A repeat is head, then count times unit with separators between, then tail. "%06d" in the unit stands for the number of
// the repetition, from 0.
type repeat struct {
	Head  string `json:"head"`
	Unit  string `json:"unit"`
	Sep   string `json:"sep"`
	Count int    `json:"count"`
	Tail  string `json:"tail"`
}

func text(s string) content {
	if utf8.ValidString(s) {
		return content{File: &s}
	}
	b := b64([]byte(s))
	return content{FileBase64: &b}
}

// edit replaces the one occurrence of old, so that a vector says exactly what was mutated.
func edit(s, old, replacement string) string {
	if n := strings.Count(s, old); n != 1 {
		panic(fmt.Sprintf("%q stands %d times in %q", old, n, s))
	}
	return strings.Replace(s, old, replacement, 1)
}

// named gives pairs of a name and a value in the order in which they are written.
func named[V any](pairs ...any) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for i := 0; i < len(pairs); i += 2 {
			if !yield(pairs[i].(string), pairs[i+1].(V)) {
				return
			}
		}
	}
}
