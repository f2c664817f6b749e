package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A light says how a check ended.
type light string

const (
	green light = "green"
	amber light = "amber" // it works, and there is something to know
	red   light = "red"   // signing would fail, or must not happen here
	dark  light = ""      // not looked at
)

// An outcome is what a check found, in text as it came.
type outcome struct {
	light  light
	found  string
	advice string         // what to do where it is not green; "" is that of the check
	facts  map[string]any // for programs
}

func fine(format string, args ...any) outcome {
	return outcome{light: green, found: fmt.Sprintf(format, args...)}
}
func warn(format string, args ...any) outcome {
	return outcome{light: amber, found: fmt.Sprintf(format, args...)}
}
func bad(format string, args ...any) outcome {
	return outcome{light: red, found: fmt.Sprintf(format, args...)}
}

// unseen is what could not be looked at, and why.
func unseen(why string) outcome { return outcome{light: dark, found: why} }

// failed is red by an error, with the advice that any command has for it.
func failed(err error) outcome {
	o := bad("%s", err.Error()).note("code", wire.CodeOf(err))
	var details map[string]any
	if e, ok := err.(*wire.Error); ok {
		details = e.Details
	}
	if reason := wire.ReasonOf(err); reason != "" {
		o = o.note("reason", reason)
	}
	return o.do(hint("approver doctor", wire.CodeOf(err), wire.ReasonOf(err), details))
}

// do gives the outcome an advice of its own.
func (o outcome) do(advice string) outcome {
	o.advice = advice
	return o
}

// note adds a fact for programs; a string is escaped.
func (o outcome) note(name string, value any) outcome {
	facts := map[string]any{name: escaped(value)}
	for n, v := range o.facts {
		facts[n] = v
	}
	o.facts = facts
	return o
}

// A diagnosis is what is told: a line for each check at once, so that a module that ends the process takes none of them along;
// with --json one object at the end.
type diagnosis struct {
	app    *app
	rows   []diagnosisRow
	count  map[light]int
	unseen []string
	red    []string
}

type diagnosisRow struct {
	Check  string         `json:"check"`
	Light  light          `json:"light"`
	Found  review.Text    `json:"found"`
	Advice string         `json:"advice,omitempty"`
	Facts  map[string]any `json:"facts,omitempty"`
}

func newDiagnosis(a *app) *diagnosis { return &diagnosis{app: a, count: map[light]int{}} }

func (r *diagnosis) tell(name string, o outcome) error {
	row := diagnosisRow{name, o.light, review.Escape(o.found), o.advice, o.facts}
	r.count[o.light]++
	switch o.light {
	case dark:
		r.unseen = append(r.unseen, name+" ("+row.Found.String()+")")
		return nil
	case red:
		r.red = append(r.red, name)
	case green:
		row.Advice = ""
	}
	r.rows = append(r.rows, row)
	if r.app.json {
		return nil
	}
	text := drawRow(fmt.Sprintf("%-5s  %-17s  ", o.light, name), row.Found.String())
	if row.Advice != "" {
		text += drawRow(strings.Repeat(" ", rowIndent), "try: "+review.Escape(row.Advice).String())
	}
	_, err := r.app.stdout.Write([]byte(text))
	return written(err)
}

// worst gives the light of the whole.
func (r *diagnosis) worst() light {
	for _, l := range []light{red, amber} {
		if r.count[l] > 0 {
			return l
		}
	}
	return green
}

// close tells the sum. The error is INVALID_STATE where anything is red.
func (r *diagnosis) close() error {
	var text string
	if r.app.json {
		line, err := json.Marshal(map[string]any{
			"light": r.worst(), "green": r.count[green], "amber": r.count[amber], "red": r.count[red],
			"checks": r.rows, "notLookedAt": list(r.unseen),
		})
		if err != nil {
			return err
		}
		text = ascii(string(line)) + "\n"
	} else {
		text = fmt.Sprintf("\n%s: %d red, %d amber, %d green\n", strings.ToUpper(string(r.worst())), r.count[red], r.count[amber], r.count[green])
		for _, name := range r.unseen {
			text += drawRow("not looked at: ", name)
		}
	}
	if _, err := r.app.stdout.Write([]byte(text)); err != nil {
		return written(err)
	}
	if len(r.red) > 0 {
		return wire.Errorf(wire.InvalidState, "", "this machine is not ready: %s", strings.Join(r.red, ", ")).With("red", r.red)
	}
	return nil
}

const (
	rowIndent = 5 + 2 + 17 + 2 // of what stands beside the name of a check
	rowWidth  = 80
)

// drawRow writes a text after a head, broken so that no terminal of 80 columns wraps it: a line that wraps could pose as the row
// of another check. A rune beyond ASCII counts for two cells.
func drawRow(head, text string) string {
	var b strings.Builder
	b.WriteString(head)
	at, indent := len(head), strings.Repeat(" ", len(head))
	for word := range strings.FieldsSeq(text) {
		if at > len(head) && at+1+cells(word) > rowWidth {
			b.WriteString("\n" + indent)
			at = len(head)
		} else if at > len(head) {
			b.WriteByte(' ')
			at++
		}
		for _, r := range word {
			if at+cells(string(r)) > rowWidth {
				b.WriteString("\n" + indent)
				at = len(head)
			}
			b.WriteRune(r)
			at += cells(string(r))
		}
	}
	return b.String() + "\n"
}

func cells(s string) (n int) {
	for _, r := range s {
		n++
		if r >= utf8.RuneSelf {
			n++
		}
	}
	return n
}
