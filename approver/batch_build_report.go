package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// warnedMost is how many leaves a warning names.
const warnedMost = 12

// A buildReport says what was made.
type buildReport struct {
	BatchID     string         `json:"batchId"`
	TrustDomain string         `json:"trustDomain"`
	ScopeRoot   merkle.Hash    `json:"scopeRoot"`
	Words       []string       `json:"words"`
	ScopeSize   int            `json:"scopeSize"`
	Operations  int            `json:"operations"` // distinct ones
	Kinds       []review.Count `json:"kinds"`
	NotAfter    uint64         `json:"notAfter"`
	Warnings    []buildWarning `json:"warnings"`
	Out         review.Text    `json:"out"` // "" for standard output
}

// A buildWarning is a finding that stops an approver who does not lift it.
type buildWarning struct {
	Rule    review.Rule   `json:"rule"`
	Message review.Text   `json:"message"`
	Leaves  int           `json:"leaves"`
	First   []review.Text `json:"first"` // subject and kind of the first of them
}

// reportBuilt reviews the scope as an approver would who lifts what can be lifted, and takes its numbers from the review.
func reportBuilt(d *scope.Decoded, p scope.Proposal, f *buildFlags) (*buildReport, error) {
	r, err := d.Review(scope.Policy{Time: p.Time, TrustDomain: p.TrustDomain, AllowUnbound: true, AllowOpaque: true})
	if err != nil {
		return nil, err
	}
	if err := r.Stop(); err != nil {
		return nil, err
	}
	doc := r.Document()
	b := &buildReport{BatchID: p.BatchID, TrustDomain: p.TrustDomain, ScopeRoot: d.Verified().Scope().Root(), Words: review.Words(doc.Root),
		ScopeSize: doc.Size, Operations: len(doc.Operations), Kinds: doc.Tallies[0].Rows, NotAfter: p.NotAfter,
		Warnings: []buildWarning{}, Out: review.Escape(f.out)}
	for _, finding := range doc.Findings {
		if finding.Rule == review.Unbound || finding.Rule == review.Opaque {
			n := len(finding.Places)
			b.Warnings = append(b.Warnings, buildWarning{finding.Rule, finding.Message, n, finding.Places[:min(n, warnedMost)]})
		}
	}
	return b, nil
}

// tellBuilt says on standard error what was made, and how it goes on.
func (a *app) tellBuilt(b *buildReport, f *buildFlags) error {
	if a.json {
		line, err := json.Marshal(map[string]any{"built": b})
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stderr, ascii(string(line)))
		return nil
	}
	fmt.Fprintf(a.stderr, "batch         %s\ntrust domain  %s\nroot          %s\n", b.BatchID, b.TrustDomain, b.ScopeRoot)
	for i := 0; i < len(b.Words); i += 4 { // numbered, as in the review that they are compared with
		fmt.Fprintf(a.stderr, "%-13s", map[bool]string{true: "words"}[i == 0])
		for n := i; n < i+4; n++ {
			fmt.Fprintf(a.stderr, " %2d %-15s", n+1, b.Words[n])
		}
		fmt.Fprintln(a.stderr)
	}
	fmt.Fprintf(a.stderr, "size          %d (%d distinct)\n", b.ScopeSize, b.Operations)
	for i, kind := range b.Kinds {
		fmt.Fprintf(a.stderr, "%-14s%d %s\n", map[bool]string{true: "by kind"}[i == 0], kind.N, kind.Name)
	}
	fmt.Fprintf(a.stderr, "window ends   %s\n", wire.Stamp(b.NotAfter))
	for _, w := range b.Warnings {
		fmt.Fprintf(a.stderr, "WARNING %s: %s\n", w.Rule, w.Message)
		for _, leaf := range w.First {
			fmt.Fprintf(a.stderr, "  %s\n", leaf)
		}
		if more := w.Leaves - len(w.First); more > 0 {
			fmt.Fprintf(a.stderr, "  and %d more\n", more)
		}
	}
	a.tellNext(b, f)
	return nil
}

// tellNext names the file and the command that shows what an approver will see.
func (a *app) tellNext(b *buildReport, f *buildFlags) {
	written, file := "standard output", "FILE"
	if f.out != "" {
		written, file = f.out, shellWord(f.out)
	}
	fmt.Fprintf(a.stderr, "written       %s\n", review.Escape(written))
	line := "approver batch show --scope " + file + " --trust-domain " + b.TrustDomain
	if f.kinds != "" {
		line += " --kinds " + shellWord(f.kinds)
	}
	if a.configPath != "" {
		line += " --config " + shellWord(a.configPath)
	}
	fmt.Fprintf(a.stderr, "next: %s\n", review.Escape(line))
}

// shellWord quotes what a shell would not take as one plain word.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
