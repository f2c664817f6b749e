package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// report prints why a command ends: "CODE: message" and what to try next, or one JSON object with --json (WIRE.md §9),
// whose detail "try" says the same.
// Text from outside in it is escaped here.
func (a *app) report(command *cobra.Command, err error) {
	code, reason, details := wire.CodeOf(err), wire.ReasonOf(err), map[string]any{}
	message := err.Error()
	if e, ok := errors.AsType[*wire.Error](err); ok {
		message = e.Message
		maps.Copy(details, e.Details)
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		code, reason = wire.InvalidInput, "usage"
	}
	if code == "" { // an error of a library that no package of ours has put in words
		code = wire.IOError
	}
	try := ""
	if reason != "usage" {
		try = hint(command.CommandPath(), code, reason, details)
	}
	if a.json {
		if try != "" {
			details["try"] = try
		}
		a.reportJSON(code, reason, message, details)
		return
	}
	fmt.Fprintf(a.stderr, "%s: %s\n", code, review.Escape(message))
	for _, name := range []string{"missing", "unexpected", "doubled"} {
		if list, ok := details[name].([]review.Text); ok && len(list) > 0 {
			a.printList(name, list)
		}
	}
	if reason == "usage" {
		fmt.Fprintf(a.stderr, "usage: %s\nhelp:  %s --help\n", command.UseLine(), command.CommandPath())
		return
	}
	if try != "" {
		fmt.Fprintln(a.stderr, "try:", try)
	}
}

// listedMost is how many entries of a difference an error prints; the review above it has them all.
const listedMost = 20

func (a *app) printList(name string, list []review.Text) {
	for i, entry := range list {
		if i == listedMost {
			fmt.Fprintf(a.stderr, "  %s: and %d more\n", name, len(list)-i)
			return
		}
		fmt.Fprintf(a.stderr, "  %s: %s\n", name, entry)
	}
}

func (a *app) reportJSON(code wire.Code, reason, message string, details map[string]any) {
	if reason != "" {
		details["reason"] = reason
	}
	for key, value := range details {
		details[key] = escaped(value)
	}
	body := map[string]any{"code": code, "message": review.Escape(message).String()}
	if len(details) > 0 {
		body["details"] = details
	}
	line, err := json.Marshal(map[string]any{"error": body})
	if err != nil { // a detail that does not encode is a mistake of ours; the code still gets out
		line = []byte(`{"error":{"code":` + strconv.Quote(string(code)) + `}}`)
	}
	fmt.Fprintln(a.stderr, ascii(string(line)))
}

// escaped escapes the strings of a detail; what is a review.Text was escaped where it was made.
func escaped(value any) any {
	switch v := value.(type) {
	case string:
		return review.Escape(v)
	case []string:
		list := make([]review.Text, len(v))
		for i, s := range v {
			list[i] = review.Escape(s)
		}
		return list
	case map[string]string:
		object := make(map[string]review.Text, len(v))
		for name, s := range v {
			object[name] = review.Escape(s)
		}
		return object
	case []map[string]string:
		list := make([]any, len(v))
		for i, m := range v {
			list[i] = escaped(m)
		}
		return list
	}
	return value
}

// ascii writes every rune of JSON beyond ASCII as \u escapes.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.String()
}
