package review

import (
	"slices"

	"github.com/better-compute/approver/core/wire"
)

// A Rule is the id of a kind of finding (WIRE.md §10).
type Rule string

// The rules of WIRE.md §10.
const (
	Unbound                 Rule = "unbound"
	Opaque                  Rule = "opaque"
	WindowLong              Rule = "window-long"
	WindowClosed            Rule = "window-closed"
	Clock                   Rule = "clock"
	ExpectMissing           Rule = "expect-missing"
	ExpectUnexpected        Rule = "expect-unexpected"
	ExpectDoubled           Rule = "expect-doubled"
	TrustDomainUnpinned     Rule = "trust-domain-unpinned"
	SameMedium              Rule = "same-medium"
	Repeatable              Rule = "repeatable"
	AddressTwice            Rule = "address-twice"
	OddPath                 Rule = "odd-path"
	NoKeyProof              Rule = "no-key-proof"
	SetRemoval              Rule = "set-removal"
	SetWeaker               Rule = "set-weaker"
	AgentProposed           Rule = "agent-proposed"
	ClockByHand             Rule = "clock-by-hand"
	NoExpect                Rule = "no-expect"
	KeyUnpinned             Rule = "key-unpinned"
	NoLedger                Rule = "no-ledger"
	Outlier                 Rule = "outlier"
	MixedKinds              Rule = "mixed-kinds"
	EscapedText             Rule = "escaped-text"
	MapOrder                Rule = "map-order"
	RunsAsRoot              Rule = "runs-as-root"
	ApprovalsClaimed        Rule = "approvals-claimed"
	AlreadyApprovedSubjects Rule = "already-approved-subjects"
	SplitBatches            Rule = "split-batches"
)

// Rules that are this program's own; WIRE.md §10 does not have them.
const (
	NoCurrent       Rule = "no-current"
	CurrentUnpinned Rule = "current-unpinned"
	CurrentOlder    Rule = "current-older"
	NoChange        Rule = "no-change"
	EpochJump       Rule = "epoch-jump"
	DeclinedBefore  Rule = "declined-before"
	ApprovedBefore  Rule = "approved-before"
	AlreadyDeclined Rule = "already-declined"
	SplitUnchecked  Rule = "split-unchecked"
)

// Rules gives every rule, in the order of WIRE.md §10, and after them this program's own (Rule.Own).
func Rules() []Rule {
	rules := make([]Rule, len(catalogue))
	for i, e := range catalogue {
		rules[i] = e.rule
	}
	return rules
}

// Severity gives the severity of a finding of the rule that no flag lifted.
func (r Rule) Severity() Severity { return r.entry().severity }

// Meaning says in one clause what a finding of the rule states.
func (r Rule) Meaning() string { return r.entry().meaning }

// Advice says what a person who has such a finding does.
func (r Rule) Advice() string { return r.entry().advice }

// Flag gives the flag that makes a stop of the rule an acknowledge, or "".
func (r Rule) Flag() string { return r.entry().flag }

// Own tells whether the rule is this program's own, which WIRE.md §10 does not have.
func (r Rule) Own() bool { return r.entry().own }

// entry gives the rule's row of the catalogue. A rule without one is a mistake in the program, so it panics.
func (r Rule) entry() entry {
	i := slices.IndexFunc(catalogue, func(e entry) bool { return e.rule == r })
	if i < 0 {
		panic("review: no rule " + string(r))
	}
	return catalogue[i]
}

// An entry is a rule's row of the catalogue.
type entry struct {
	rule     Rule
	severity Severity
	meaning  string
	advice   string
	code     wire.Code // of a stop
	flag     string    // lifts a stop to an acknowledge
	own      bool      // not of WIRE.md §10
}
