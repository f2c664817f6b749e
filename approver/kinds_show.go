package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
)

type messageJSON struct {
	Name   review.Text `json:"name"`
	Fields []fieldJSON `json:"fields"`
}

type fieldJSON struct {
	Number   int         `json:"number"`
	Name     review.Text `json:"name"`
	JSONName review.Text `json:"jsonName"`
	Label    string      `json:"label,omitempty"`
	Type     review.Text `json:"type"`
	Oneof    review.Text `json:"oneof,omitzero"`
	Unpacked bool        `json:"unpacked,omitempty"`
}

type enumJSON struct {
	Name   review.Text `json:"name"`
	Values []valueJSON `json:"values"`
}

type valueJSON struct {
	Name   review.Text `json:"name"`
	Number int32       `json:"number"`
}

func (a *app) showKind(k *kinds.Kind, path string) error {
	messages, enums := k.Declarations()
	if a.json {
		out := kindOf(k)
		for _, m := range messages {
			out.Messages = append(out.Messages, messageOf(m))
		}
		for _, e := range enums {
			out.Enums = append(out.Enums, enumOf(e))
		}
		return a.printJSON(out)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "kind:        %s (%s)\ntype URL:    %s\ndestructive: %s\nsubject:     %s\nroles:       %s\n",
		k.Name(), source(k, path), review.Escape(k.TypeURL()), yesNo(k.Destructive()), k.SubjectForm(), roles(k))
	for _, m := range messages {
		drawMessage(&b, m)
	}
	for _, e := range enums {
		fmt.Fprintf(&b, "\nenum %s {\n", review.Escape(e.Name))
		for _, v := range e.Values {
			fmt.Fprintf(&b, "  %s = %d;\n", review.Escape(v.Name), v.Number)
		}
		b.WriteString("}\n")
	}
	_, err := a.stdout.Write(b.Bytes())
	return written(err)
}

// printJSON prints a JSON object on one line.
func (a *app) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintln(a.stdout, ascii(string(line)))
	}
	return written(err)
}

func messageOf(m kinds.MessageDeclaration) messageJSON {
	out := messageJSON{Name: review.Escape(m.Name), Fields: []fieldJSON{}}
	for _, f := range m.Fields {
		out.Fields = append(out.Fields, fieldJSON{Number: f.Number, Name: review.Escape(f.Name), JSONName: review.Escape(f.JSONName),
			Label: f.Label, Type: review.Escape(f.Type), Oneof: review.Escape(f.Oneof), Unpacked: f.Unpacked})
	}
	return out
}

func enumOf(e kinds.EnumDeclaration) enumJSON {
	out := enumJSON{Name: review.Escape(e.Name)}
	for _, v := range e.Values {
		out.Values = append(out.Values, valueJSON{review.Escape(v.Name), v.Number})
	}
	return out
}

// drawMessage draws a message with its fields in number order, as payloads have them. Members of a oneof stand where their
// numbers are, so each names its oneof.
func drawMessage(b *bytes.Buffer, m kinds.MessageDeclaration) {
	fmt.Fprintf(b, "\nmessage %s {\n", review.Escape(m.Name))
	for _, f := range m.Fields {
		line := fmt.Sprintf("%s %s = %d", review.Escape(f.Type), review.Escape(f.Name), f.Number)
		if f.Label != "" {
			line = f.Label + " " + line
		}
		var options []string
		if f.Unpacked {
			options = append(options, "packed = false")
		}
		if f.JSONName != jsonName(f.Name) {
			options = append(options, fmt.Sprintf("json_name = \"%s\"", review.Escape(f.JSONName)))
		}
		if len(options) > 0 {
			line += " [" + strings.Join(options, ", ") + "]"
		}
		line += ";"
		if f.Oneof != "" {
			line += " // of the oneof " + review.Escape(f.Oneof).String()
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
	b.WriteString("}\n")
}

// jsonName gives the JSON name that protoc gives a field where its declaration has none.
func jsonName(field string) string {
	var b strings.Builder
	upper := false
	for i := range len(field) {
		c := field[i]
		switch {
		case c == '_':
			upper = true
			continue
		case upper && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		upper = false
		b.WriteByte(c)
	}
	return b.String()
}
