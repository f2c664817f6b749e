package review

import (
	"maps"

	"github.com/better-compute/approver/core/wire"
)

// A Severity says what a finding asks of the person (WIRE.md §10).
type Severity uint8

// The severities, ascending.
const (
	Note        Severity = iota // shown
	Acknowledge                 // a person opens it before signing
	Stop                        // nothing is signed
)

// String gives "note", "acknowledge" or "stop".
func (s Severity) String() string {
	switch s {
	case Note:
		return "note"
	case Acknowledge:
		return "acknowledge"
	case Stop:
		return "stop"
	}
	return "none"
}

// MarshalText gives the severity as String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Finding is one thing a person must know before signing. NewFinding makes one of its rule.
type Finding struct {
	Rule     Rule           `json:"rule"`
	Severity Severity       `json:"severity"`
	Message  Text           `json:"message"`          // one sentence about this document, no final full stop
	Advice   string         `json:"advice"`           // what to do, from the catalogue
	Places   []Text         `json:"places,omitzero"`  // subjects, fields or files it is about, all of them; may be empty
	Code     wire.Code      `json:"code,omitzero"`    // of a stop, else ""
	Details  map[string]any `json:"details,omitzero"` // what the error of a stop carries (values that encode as JSON), or nil
}

// NewFinding makes a finding with the severity, code and advice of its rule. It panics where the catalogue does not have
// the rule.
func NewFinding(rule Rule, message Text, places ...Text) Finding {
	e := rule.entry()
	return Finding{Rule: rule, Severity: e.severity, Message: message, Advice: e.advice, Places: places, Code: e.code}
}

// Lifted gives the finding as it is under the flag that lifts it (Rule.Flag), an acknowledge. ok is false, and the
// finding as it was, where no flag lifts a finding of the rule.
func (f Finding) Lifted() (lifted Finding, ok bool) {
	if f.Severity != Stop || f.Rule.Flag() == "" {
		return f, false
	}
	f.Severity, f.Code = Acknowledge, ""
	return f, true
}

// Err gives the error in which a stop ends, or nil for any other finding: its code, the rule id as the reason, and its
// details. The message is unescaped, since whoever shows an error escapes it.
func (f Finding) Err() *wire.Error {
	if f.Severity != Stop {
		return nil
	}
	return &wire.Error{Code: f.Code, Reason: string(f.Rule), Message: f.Message.unescape(), Details: maps.Clone(f.Details)}
}
