package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// A report is what verify prints: the verdict, and by what it was reached.
type report struct {
	verified *scope.Verified
	judge    scope.Judge
	verdict  *scope.Verdict
	files    []*quorum.SignatureFile
	paths    []string // of files
}

// tell prints the result: it is what the command is for, so it goes to standard output.
func (a *app) tell(r *report) error {
	var b bytes.Buffer
	if a.json {
		line, err := json.Marshal(r.json())
		if err != nil {
			return err
		}
		b.WriteString(ascii(string(line)) + "\n")
	} else {
		r.text(&b)
	}
	if _, err := a.stdout.Write(b.Bytes()); err != nil {
		return wire.Errorf(wire.IOError, "", "%w", err)
	}
	return nil
}

func (r *report) notAfter() uint64 {
	if n := r.verified.Header().NotAfter; n != 0 {
		return n
	}
	return r.judge.NotAfter
}

func (r *report) now() uint64 { return uint64(r.judge.Time.Now.UnixMilli()) }

// unchecked gives the kids that count and of which any file whose signature verifies says that nobody saw the batch.
func (r *report) unchecked() []quorum.KID {
	kids := []quorum.KID{}
	for _, kid := range r.verdict.Approved {
		key, _ := r.judge.Set.Key(kid)
		if slices.ContainsFunc(r.files, func(f *quorum.SignatureFile) bool { return f.KID == kid && f.Unchecked && f.Verifies(key) }) {
			kids = append(kids, kid)
		}
	}
	return kids
}

// counted gives the place of the file whose signature of a kid counts, the first that verifies.
func (r *report) counted(kid quorum.KID) int {
	key, _ := r.judge.Set.Key(kid)
	return slices.IndexFunc(r.files, func(f *quorum.SignatureFile) bool { return f.KID == kid && f.Verifies(key) })
}

func (r *report) json() map[string]any {
	s := r.verified.Scope()
	return map[string]any{
		"holds": r.verdict.Failure == nil, "required": r.verdict.Required, "approved": list(r.verdict.Approved),
		"missing": list(r.verdict.Missing), "ignored": list(r.verdict.Ignored), "unchecked": r.unchecked(),
		"batchId": s.BatchID(), "scopeRoot": s.Root(), "scopeSize": s.Size(), "trustDomain": r.judge.TrustDomain,
		"notAfter": r.notAfter(), "now": r.now(),
	}
}

// list gives an empty list rather than null.
func list[T any](l []T) []T { return append([]T{}, l...) }

func (r *report) text(b *bytes.Buffer) {
	s := r.verified.Scope()
	fmt.Fprintf(b, "batch         %s\nroot          %s, %d leaves\ntrust domain  %s, yours\n", s.BatchID(), s.Root(), s.Size(), r.judge.TrustDomain)
	fmt.Fprintf(b, "window ends   %s\njudged at     %s\n", wire.Stamp(r.notAfter()), wire.Stamp(r.now()))
	for _, kid := range r.verdict.Approved {
		fmt.Fprintf(b, "signed        %s %s\n", kid, r.file(kid))
	}
	for _, kid := range r.unchecked() {
		fmt.Fprintf(b, "UNCHECKED     %s signed without seeing the batch\n", kid)
	}
	for _, i := range r.verdict.Ignored {
		fmt.Fprintf(b, "ignored       %s: %s\n", i.KID, i.Why)
	}
	for _, kid := range r.verdict.Missing {
		fmt.Fprintf(b, "not signed    %s\n", kid)
	}
	fmt.Fprintf(b, "%s: %d of %d required approvals%s\n", r.outcome(), len(r.verdict.Approved), r.verdict.Required, r.but())
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
	if n := len(r.unchecked()); n > 0 {
		text += fmt.Sprintf(", BUT %d signed UNCHECKED", n)
	}
	return text
}

// file names the file of a signature that counts.
func (r *report) file(kid quorum.KID) review.Text {
	if i := r.counted(kid); i >= 0 {
		return review.Escape("(" + r.paths[i] + ")")
	}
	return review.Text{}
}
