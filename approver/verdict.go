package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// A report is what verify and combine print: the verdict, and by what it was reached.
type report struct {
	verified    *scope.Verified
	judge       scope.Judge
	verdict     *scope.Verdict
	submissions []*quorum.Submission
	paths       []string // of submissions
	declined    []string // the files of the judge's declines
}

// tell prints the result: it is what the command is for, so it goes to standard output.
func (a *app) tell(r *report) error {
	if a.json {
		return a.printJSON(r.json())
	}
	var b bytes.Buffer
	r.text(&b)
	return a.print(b.Bytes())
}

// namingFile puts the file before an error of Judge that is about one submission or decline.
func (r *report) namingFile(err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return err
	}
	if i, ok := e.Details["submission"].(int); ok {
		delete(e.Details, "submission")
		return inFile(r.paths[i], e)
	}
	if i, ok := e.Details["decline"].(int); ok {
		delete(e.Details, "decline")
		return inFile(r.declined[i], e)
	}
	return err
}

func (r *report) notAfter() uint64 {
	if n := r.verified.Header().NotAfter; n != 0 {
		return n
	}
	return r.judge.NotAfter
}

func (r *report) now() uint64 { return uint64(r.judge.Time.Now.UnixMilli()) }

func (r *report) json() map[string]any {
	s := r.verified.Scope()
	ignored := []map[string]string{}
	for _, i := range r.verdict.Ignored() {
		ignored = append(ignored, map[string]string{"kid": i.KID, "why": i.Outcome.String(), "file": r.paths[i.Submission]})
	}
	return map[string]any{
		"holds": r.verdict.Failure == nil, "required": r.verdict.Required, "approved": list(r.verdict.Approved),
		"missing": list(r.verdict.Missing), "declines": r.declines(), "ignored": escaped(ignored), "unchecked": list(r.verdict.Unchecked),
		"batchId": s.BatchID(), "scopeRoot": s.Root(), "scopeSize": s.Size(), "trustDomain": r.judge.TrustDomain,
		"notAfter": r.notAfter(), "now": r.now(), "threshold": r.judge.Set.Threshold(), "tiers": list(r.judge.Set.Tiers()),
	}
}

// list gives an empty list rather than null.
func list[T any](l []T) []T { return append([]T{}, l...) }

func (r *report) text(b *bytes.Buffer) {
	s := r.verified.Scope()
	fmt.Fprintf(b, "batch         %s\nroot          %s, %d leaves\ntrust domain  %s, yours\n", s.BatchID(), s.Root(), s.Size(), r.judge.TrustDomain)
	fmt.Fprintf(b, "window ends   %s\njudged at     %s\n", wire.Stamp(r.notAfter()), wire.Stamp(r.now()))
	fmt.Fprintf(b, "needed        %s\n", r.needed())
	for _, kid := range r.verdict.Approved {
		fmt.Fprintf(b, "signed        %s %s\n", kid, r.file(kid))
	}
	for _, kid := range r.verdict.Unchecked {
		fmt.Fprintf(b, "UNCHECKED     %s signed without seeing the batch\n", kid)
	}
	for _, i := range r.verdict.Ignored() {
		fmt.Fprintf(b, "ignored       %s (%s): %s\n", review.Escape(i.KID), review.Escape(r.paths[i.Submission]), i.Outcome)
	}
	for i, d := range r.verdict.Declines {
		fmt.Fprintf(b, "%s\n", r.decline(i, d))
	}
	for _, kid := range r.verdict.Missing {
		fmt.Fprintf(b, "not signed    %s\n", kid)
	}
	fmt.Fprintf(b, "%s: %d of %d required approvals%s\n", r.outcome(), len(r.verdict.Approved), r.verdict.Required, r.but())
}

// needed says how many of the set must sign this batch, and how many those of other sizes.
func (r *report) needed() string {
	set := r.judge.Set
	text := fmt.Sprintf("%d of %d keys for %d leaves", r.verdict.Required, len(set.Keys()), r.verified.Scope().Size())
	if len(set.Tiers()) == 0 {
		return text + ", as for any number"
	}
	text += " ("
	for _, t := range set.Tiers() {
		text += fmt.Sprintf("%d for up to %d, ", t.Threshold, t.MaxScopeSize)
	}
	return text + fmt.Sprintf("%d for more)", set.Threshold())
}

func (r *report) outcome() string {
	if r.verdict.Failure != nil {
		return "DOES NOT HOLD"
	}
	return "HOLDS"
}

// but is what the numbers alone would hide.
func (r *report) but() string {
	text := ""
	if wire.ReasonOf(r.verdict.Failure) == "expired" {
		text = ", and the window has ended"
	}
	if n := r.saidNo(); n > 0 {
		text += fmt.Sprintf(", BUT %d declined", n)
	}
	if n := len(r.verdict.Unchecked); n > 0 {
		text += fmt.Sprintf(", BUT %d signed UNCHECKED", n)
	}
	return text
}

// file names the file of the signature of a kid that counts.
func (r *report) file(kid quorum.KID) review.Text {
	for _, j := range r.verdict.Judged {
		if j.KID == kid.String() && j.Outcome == quorum.Counted {
			return review.Escape("(" + r.paths[j.Submission] + ")")
		}
	}
	return review.Text{}
}
