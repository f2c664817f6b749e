package main

import (
	"encoding/json"
	"fmt"
	"strings"

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
	aside  bool // not looked at, and not needed either
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

// unseen is what could not be looked at, and why: nobody knows whether it is as it should be.
func unseen(why string) outcome { return outcome{light: dark, found: why} }

// aside is what needs no look, and why.
func aside(why string) outcome { return outcome{light: dark, aside: true, found: why} }

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
	unseen []string // with why
	aside  []string // with why
	missed []string // names of unseen
	red    []string
	width  int
}

type diagnosisRow struct {
	Check  string         `json:"check"`
	Light  light          `json:"light"`
	Found  review.Text    `json:"found"`
	Advice string         `json:"advice,omitempty"`
	Facts  map[string]any `json:"facts,omitempty"`
}

func newDiagnosis(a *app) *diagnosis {
	return &diagnosis{app: a, count: map[light]int{}, width: a.rowWidth()}
}

func (r *diagnosis) tell(name string, o outcome) error {
	row := diagnosisRow{name, o.light, review.Escape(o.found), o.advice, o.facts}
	r.count[o.light]++
	switch o.light {
	case dark:
		told := name + " (" + row.Found.String() + ")"
		if o.aside {
			r.aside = append(r.aside, told)
		} else {
			r.unseen, r.missed = append(r.unseen, told), append(r.missed, name)
		}
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
	text := drawRow(r.width, fmt.Sprintf("%-5s  %-17s  ", o.light, name), row.Found.String())
	if row.Advice != "" {
		text += drawRow(r.width, strings.Repeat(" ", rowIndent), "try: "+review.Escape(row.Advice).String())
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

// close tells the sum. The error is INVALID_STATE where anything is red, or was not looked at.
func (r *diagnosis) close() error {
	var text string
	if r.app.json {
		line, err := json.Marshal(map[string]any{
			"light": r.worst(), "ready": r.count[red] == 0 && len(r.missed) == 0,
			"green": r.count[green], "amber": r.count[amber], "red": r.count[red],
			"checks": r.rows, "notLookedAt": list(r.unseen), "notNeeded": list(r.aside),
		})
		if err != nil {
			return err
		}
		text = ascii(string(line)) + "\n"
	} else {
		text = r.sum()
	}
	if _, err := r.app.stdout.Write([]byte(text)); err != nil {
		return written(err)
	}
	switch {
	case len(r.red) > 0:
		return wire.Errorf(wire.InvalidState, "", "this machine is not ready: %s", strings.Join(r.red, ", ")).With("red", r.red)
	case len(r.missed) > 0:
		return wire.Errorf(wire.InvalidState, "", "nobody knows whether this machine is ready; not looked at: %s", strings.Join(r.missed, ", ")).With("notLookedAt", r.missed)
	}
	return nil
}

// sum is the end of the text: one word for the whole, and what was not looked at.
func (r *diagnosis) sum() string {
	counts := fmt.Sprintf("%d red, %d amber, %d green", r.count[red], r.count[amber], r.count[green])
	word := strings.ToUpper(string(r.worst()))
	if r.count[red] == 0 && len(r.missed) > 0 {
		word = fmt.Sprintf("INCOMPLETE: %d of %d not looked at", len(r.missed), len(checks))
	}
	text := "\n" + word + ": " + counts + "\n"
	for _, what := range r.unseen {
		text += drawRow(r.width, "not looked at: ", what)
	}
	for _, what := range r.aside {
		text += drawRow(r.width, "not needed: ", what)
	}
	return text
}
