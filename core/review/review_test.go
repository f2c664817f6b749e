package review

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

func statement(t *testing.T) quorum.Statement {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	public, err := quorum.NewPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return quorum.ProofOfKey(public)
}

func TestReviewTiesStatementToDocument(t *testing.T) {
	s := statement(t)
	r, err := New(s, *sample())
	require.NoError(t, err)
	require.Equal(t, s.Input(), r.Statement().Input())
	require.Equal(t, 17, r.Document().Size)
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(d *Document){
		"one subject too few":          func(d *Document) { d.Size++ },
		"one subject too many":         func(d *Document) { d.Size-- },
		"nothing":                      func(d *Document) { d.Size, d.Operations = 0, nil },
		"operation on nothing":         func(d *Document) { d.Operations = append(d.Operations, Operation{}) },
		"short root":                   func(d *Document) { d.Root = d.Root[:31] },
		"stop made milder":             func(d *Document) { d.Findings[2].Severity = Acknowledge },
		"acknowledge made milder":      func(d *Document) { d.Findings[0].Severity = Note },
		"lifted to a note":             func(d *Document) { d.Findings[4].Severity = Note },
		"stop without a code":          func(d *Document) { d.Findings[2].Code = "" },
		"note with a code":             func(d *Document) { d.Findings[1].Code = wire.InvalidInput },
		"escapes nobody is told of":    func(d *Document) { d.Findings[3] = d.Findings[0] },
		"told of escapes not counted":  func(d *Document) { d.Escapes = 0 },
		"severity beyond the severest": func(d *Document) { d.Findings[0].Severity = Stop + 1 },
	} {
		t.Run(name, func(t *testing.T) {
			d := sample()
			change(d)
			r, err := New(statement(t), *d)
			require.Nil(t, r)
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
		})
	}
	_, err := New(quorum.Statement{}, *sample())
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}

func TestStop(t *testing.T) {
	r, err := New(statement(t), *sample())
	require.NoError(t, err)
	stop, ok := errors.AsType[*wire.Error](r.Stop())
	require.True(t, ok)
	require.Equal(t, wire.InvalidState, stop.Code)
	require.Equal(t, "window-closed", stop.Reason)
	require.Equal(t, "the window closed at 2026-09-21 14:13:20 UTC, 2 h ago", stop.Message)
	require.Equal(t, 1790000000000, stop.Details["notAfter"])

	d := sample()
	d.Findings = append(d.Findings[:2:2], d.Findings[3:]...)
	r, err = New(statement(t), *d)
	require.NoError(t, err)
	require.Nil(t, r.Stop())
}

// The table of WIRE.md §10, word for word as ids, and the codes of §9.
func TestCatalogue(t *testing.T) {
	stops := map[Rule]struct {
		code wire.Code
		flag string
	}{
		"unbound": {wire.UnboundScope, "--allow-unbound"}, "opaque": {wire.OpaqueScope, "--allow-opaque"},
		"window-long": {wire.InvalidState, ""}, "window-closed": {wire.InvalidState, ""},
		"clock":          {wire.InvalidState, ""},
		"expect-missing": {wire.ScopeUnexpected, ""}, "expect-unexpected": {wire.ScopeUnexpected, ""},
		"expect-doubled": {wire.ScopeUnexpected, ""},
	}
	acknowledges := []Rule{"trust-domain-unpinned", "same-medium", "repeatable", "address-twice", "odd-path", "no-key-proof",
		"set-removal", "set-weaker", "agent-proposed", "clock-by-hand", "no-expect", "key-unpinned", "no-ledger", "outlier",
		"mixed-kinds", "escaped-text", "map-order", "runs-as-root"}
	notes := []Rule{"approvals-claimed", "already-approved-subjects", "split-batches"}
	own := []Rule{"no-current", "current-unpinned", "current-older", "no-change", "epoch-jump", "declined-before", "approved-before"}
	ownNotes := []Rule{"already-declined", "split-unchecked"}
	require.Len(t, Rules(), len(stops)+len(acknowledges)+len(notes)+len(own)+len(ownNotes))
	for i, rule := range Rules() {
		require.Equal(t, i >= len(stops)+len(acknowledges)+len(notes), rule.Own(), rule)
	}
	acknowledges, notes = append(acknowledges, own...), append(notes, ownNotes...)

	for rule, want := range stops {
		f := NewFinding(rule, Escape("at <U+202E>\x1b"), Escape("gpu-1"))
		require.Equal(t, Stop, f.Severity, rule)
		err := f.Err()
		require.Equal(t, want.code, err.Code, rule)
		require.Equal(t, string(rule), err.Reason)
		require.Equal(t, "at <U+202E>\x1b", err.Message, "errors are escaped when shown, once")
		require.Equal(t, want.flag, rule.Flag(), rule)
		lifted, ok := f.Lifted()
		require.Equal(t, want.flag != "", ok, rule)
		require.Equal(t, ok, lifted.Severity == Acknowledge && lifted.Err() == nil && lifted.Code == "", rule)
	}
	for severity, rules := range map[Severity][]Rule{Acknowledge: acknowledges, Note: notes} {
		for _, rule := range rules {
			f := NewFinding(rule, Text{})
			require.Equal(t, severity, f.Severity, rule)
			require.Nil(t, f.Err(), rule)
			_, ok := f.Lifted()
			require.False(t, ok, rule)
		}
	}
	for _, rule := range Rules() {
		require.NotEmpty(t, rule.Meaning(), rule)
		require.Regexp(t, `\.$`, rule.Advice(), rule)
	}
	require.Panics(t, func() { NewFinding("no-such-rule", Text{}) })
}
