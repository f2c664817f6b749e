package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/hsm"
)

// What commands say on standard error beside their errors. With --json a line there is an object like any other.

// warn says what is odd, or went wrong without changing the result.
func (a *app) warn(warnings ...string) {
	for _, w := range warnings {
		if a.json {
			a.note(map[string]any{"warning": review.Escape(w)})
		} else {
			fmt.Fprintln(a.stderr, "warning:", review.Escape(w))
		}
	}
}

// note writes an object on a line of standard error.
func (a *app) note(object map[string]any) {
	if line, err := json.Marshal(object); err == nil { // it always encodes: strings and review.Text alone
		fmt.Fprintln(a.stderr, ascii(string(line)))
	}
}

// tellToken says which token a PIN is for, and how PINs stand there, in words. A terminal that asks for the PIN says it in its
// question; a program that reads JSON learns only what a person has to do now, which is to use a keypad.
func (a *app) tellToken(info hsm.TokenInfo, source hsm.PINSource, states ...string) {
	const keypad = "enter the PIN on the token's own keypad"
	_, asks := source.(hsm.PINTerminal)
	switch {
	case a.json && info.PINPad:
		a.note(map[string]any{"keypad": keypad, "label": review.Escape(info.Label), "serial": review.Escape(info.Serial), "pin": strings.Join(states, ", ")})
	case a.json, asks && !info.PINPad:
	default:
		token := fmt.Sprintf("token %s, serial %s", blank(info.Label), blank(info.Serial))
		line := token + ", " + strings.Join(states, ", ")
		if len(line) > widestRow {
			line = token + ",\n  " + strings.Join(states, ",\n  ")
		}
		fmt.Fprintln(a.stderr, line)
		if info.PINPad {
			fmt.Fprintln(a.stderr, keypad)
		}
	}
}

// userPINState and soPINState say how a PIN stands where both are spoken of.
func userPINState(info hsm.TokenInfo) string { return "user " + afterOwner(info.PIN) }
func soPINState(info hsm.TokenInfo) string   { return "security officer's " + afterOwner(info.SOPIN) }

// afterOwner gives a state for a place where whose PIN it is stands before it.
func afterOwner(s hsm.PINState) string {
	if strings.HasPrefix(s.String(), "PIN ") {
		return s.String()
	}
	return "PIN: " + s.String()
}

// bareState gives a state where PIN stands before it already.
func bareState(s string) string { return strings.TrimPrefix(s, "PIN ") }

// blank gives a token's text, which a token that was never initialised may not have.
func blank(s string) review.Text {
	if s == "" {
		return review.Escape("(blank)")
	}
	return review.Escape(s)
}
