package ledger

import (
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/better-compute/approver/core/wire"
)

var (
	commandForm = regexp.MustCompile(`^[a-z][a-z -]{0,63}$`)
	codeForm    = regexp.MustCompile(`^[A-Z][A-Z_]{0,63}$`)
	ruleForm    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	settingForm = regexp.MustCompile(`^[a-z][a-zA-Z0-9._-]{0,63}$`)
)

// check holds a record to the rules of the package comment. The error is INVALID_INPUT.
func (rec *Record) check() error {
	if rec.Seq < 1 || rec.Seq > wire.MaxInteger {
		return wire.Errorf(wire.InvalidInput, "", "seq is %d", rec.Seq)
	}
	if err := rec.Entry.check(); err != nil {
		return err
	}
	if (rec.Signature != nil) != (rec.Outcome != Refused) {
		return wire.Errorf(wire.InvalidInput, "", "a signature stands with what was signed or declined, and only there")
	}
	if rec.PolicySHA256 != policyDigest(rec.Policy) {
		return wire.Errorf(wire.InvalidInput, "", "policy.sha256 is not that of the settings")
	}
	if s := rec.Subjects; s != nil && (rec.Batch == nil || s.Count < 1 || s.Count > wire.MaxLeaves) {
		return wire.Errorf(wire.InvalidInput, "", "subjects are 1 to %d, of a batch", wire.MaxLeaves)
	}
	return nil
}

// check holds an entry to the rules. The error is INVALID_INPUT.
func (e *Entry) check() error {
	switch {
	case e.At > wire.MaxInteger:
		return wire.Errorf(wire.InvalidInput, "", "at is over 2^53-1")
	case e.Clock != ClockSystem && e.Clock != ClockByHand:
		return wire.Errorf(wire.InvalidInput, "", "clock is %q", e.Clock)
	case e.Outcome != Signed && e.Outcome != Declined && e.Outcome != Refused:
		return wire.Errorf(wire.InvalidInput, "", "outcome is %q", e.Outcome)
	case e.What != WhatBatch && e.What != WhatSet:
		return wire.Errorf(wire.InvalidInput, "", "what is %q", e.What)
	case !commandForm.MatchString(e.Command):
		return wire.Errorf(wire.InvalidInput, "", "command is %q", e.Command)
	case e.File != nil && e.File.Size > wire.MaxInteger:
		return wire.Errorf(wire.InvalidInput, "", "file.size is over 2^53-1")
	case e.Key != nil && e.Key.KID.IsZero():
		return wire.Errorf(wire.InvalidInput, "", "key.kid is missing")
	}
	for _, part := range []func() error{e.checkOutcome, e.checkBatch, e.checkSet, e.checkPolicy} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// checkOutcome holds an entry to what its outcome wants.
func (e *Entry) checkOutcome() error {
	concluded := e.Outcome != Refused
	units := len(utf16.Encode([]rune(e.Reason)))
	switch {
	case (e.Refusal != nil) == concluded:
		return wire.Errorf(wire.InvalidInput, "", "a refusal stands with what was refused, and only there")
	case e.Refusal != nil && (!codeForm.MatchString(string(e.Refusal.Code)) || e.Refusal.Reason != "" && !ruleForm.MatchString(e.Refusal.Reason)):
		return wire.Errorf(wire.InvalidInput, "", "refusal is %q, %q", e.Refusal.Code, e.Refusal.Reason)
	case e.What == WhatBatch && e.Set != nil, e.What == WhatSet && e.Batch != nil:
		return wire.Errorf(wire.InvalidInput, "", "a record is of a batch or of an approver set")
	case concluded && (e.Key == nil || e.Batch == nil && e.Set == nil):
		return wire.Errorf(wire.InvalidInput, "", "what was signed or declined has a key and a batch or set")
	case e.Outcome == Declined && e.Batch == nil:
		return wire.Errorf(wire.InvalidInput, "", "only a batch is declined")
	case (units > 0) != (e.Outcome == Declined) || units > wire.MaxReasonUnits:
		return wire.Errorf(wire.InvalidInput, "", "a decline has a reason of 1 to %d UTF-16 units, and nothing else has", wire.MaxReasonUnits)
	}
	return nil
}

func (e *Entry) checkBatch() error {
	b := e.Batch
	if b == nil {
		return nil
	}
	if b.Size < 1 || b.Size > wire.MaxLeaves || b.NotAfter > wire.MaxInteger {
		return wire.Errorf(wire.InvalidInput, "", "scopeSize is %d, notAfter %d", b.Size, b.NotAfter)
	}
	if err := wire.CheckID("batchId", b.ID); err != nil {
		return err
	}
	return e.checkTrustDomain(b.TrustDomain)
}

func (e *Entry) checkSet() error {
	s := e.Set
	if s == nil {
		return nil
	}
	if s.Epoch < 1 || s.Epoch > wire.MaxInteger {
		return wire.Errorf(wire.InvalidInput, "", "epoch is %d", s.Epoch)
	}
	return e.checkTrustDomain(s.TrustDomain)
}

// checkTrustDomain lets what was refused have none.
func (e *Entry) checkTrustDomain(domain string) error {
	if domain == "" && e.Outcome == Refused {
		return nil
	}
	return wire.CheckTrustDomain("trustDomain", domain)
}

func (e *Entry) checkPolicy() error {
	if len(e.Findings) > maxElements || len(e.Policy) > maxElements {
		return wire.Errorf(wire.InvalidInput, "", "%d findings, %d settings; at most %d of each are taken", len(e.Findings), len(e.Policy), maxElements)
	}
	for _, rule := range e.Findings {
		if !ruleForm.MatchString(rule) {
			return wire.Errorf(wire.InvalidInput, "", "finding %q is no rule", rule)
		}
	}
	for name := range e.Policy {
		if !settingForm.MatchString(name) {
			return wire.Errorf(wire.InvalidInput, "", "%q is no name of a setting", name)
		}
	}
	return nil
}

// plain gives a copy of an entry that holds nothing of the caller's, with every text in UTF-8.
func (e Entry) plain() Entry {
	utf8 := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	e.Refusal, e.File, e.Batch, e.Set, e.Key = clone(e.Refusal), clone(e.File), clone(e.Batch), clone(e.Set), clone(e.Key)
	e.Findings = append([]string(nil), e.Findings...)
	policy := make(map[string]string, len(e.Policy))
	for name, value := range e.Policy {
		policy[name] = utf8(value)
	}
	e.Policy = policy
	if e.Key != nil {
		e.Key.TokenLabel, e.Key.TokenSerial, e.Key.Module = utf8(e.Key.TokenLabel), utf8(e.Key.TokenSerial), clone(e.Key.Module)
	}
	e.Program.Version, e.Reason = utf8(e.Program.Version), utf8(e.Reason)
	return e
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
