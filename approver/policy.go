package main

import (
	"bytes"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/medium"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// reviewFlags are what show and sign hold a scope against.
type reviewFlags struct {
	scope, root, expect, notAfter, trustDomain, batch, operationsOut, now, kinds string
	approvers                                                                    []string
	maxHours                                                                     int
	allowUnbound, allowOpaque                                                    bool

	given     func(flag string) bool
	memory    *memory        // that notes what is read
	kindsRead *kindsFile     // that the scope was verified by
	inputs    []medium.Input // files that the scope was held against
}

func (f *reviewFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.scope, "scope", "", "scope `FILE`: an exported scope, or a JSON array of leaves")
	s.StringVar(&f.operationsOut, "operations-out", "", "write every operation, whole, with all its subjects to `FILE` (JSON)")
	f.registerPolicy(c)
}

// registerPolicy is what a scope is held against, whichever it is.
func (f *reviewFlags) registerPolicy(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.root, "root", "", "the root that was reviewed before, 64 `HEX` digits; any other is refused")
	s.StringVar(&f.expect, "expect", "", "`FILE` that lists exactly what the batch should hold")
	s.BoolVar(&f.allowUnbound, "allow-unbound", false, "accept leaves that admit any payload of their kind")
	s.BoolVar(&f.allowOpaque, "allow-opaque", false, "accept leaves whose operation cannot be shown")
	f.given = s.Changed
	registerKinds(c, &f.kinds)
	s.IntVar(&f.maxHours, "max-hours", scope.DefaultMaxHours, "longest time the window may stay open, in hours (1 to 720)")
	s.StringVar(&f.notAfter, "not-after", "", "`TIME` at which the approval ends, RFC 3339 or Unix milliseconds (default: the file's)")
	s.StringVar(&f.trustDomain, "trust-domain", "", "trust domain of your deployment, `NAME` (default: the file's word, which is a finding)")
	s.StringVar(&f.batch, "batch", "", "batch `ID`, for a bare array of leaves")
	s.StringArrayVar(&f.approvers, "approvers", nil, "approver set `FILE`, or the .pub files of its keys, comma-separated")
	registerNow(c, &f.now)
}

func registerNow(c *cobra.Command, now *string) {
	c.Flags().StringVar(now, "now", "", "`TIME` to judge by instead of this machine's clock, RFC 3339")
}

// clock reads the time, or takes the one that was given.
func (a *app) clock(now string) (review.Time, error) {
	if now == "" {
		return review.Time{Now: a.now()}, nil
	}
	t, err := time.Parse(time.RFC3339, now)
	if err != nil {
		return review.Time{}, usage("--now wants a time like 2026-11-30T12:00:00Z")
	}
	return review.Time{Now: t, ByHand: true}, nil
}

// parseNotAfter takes Unix milliseconds or RFC 3339.
func parseNotAfter(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	const in2001 = 1_000_000_000_000 // a smaller number is a date without its dashes, or seconds
	if n, err := strconv.ParseUint(s, 10, 64); err == nil && n >= in2001 && n <= wire.MaxInteger {
		return n, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.UnixMilli() <= 0 {
		return 0, usage("--not-after wants a time like 2026-12-01T12:00:00Z, or Unix milliseconds")
	}
	return uint64(t.UnixMilli()), nil
}

// policy turns the flags, and what is configured, into what the scope is held against.
func (a *app) policy(f *reviewFlags) (p scope.Policy, err error) {
	p = scope.Policy{AllowUnbound: f.allowUnbound, AllowOpaque: f.allowOpaque}
	if p.MaxHours, err = a.maxHours(f.maxHours, f.given("max-hours")); err != nil {
		return p, err
	}
	if p.Time, err = a.clock(f.now); err != nil {
		return p, err
	}
	if p.NotAfter, err = parseNotAfter(f.notAfter); err != nil {
		return p, err
	}
	if p.TrustDomain, err = a.trustDomain(f.trustDomain); err != nil {
		return p, err
	}
	s, err := a.settings()
	if err != nil {
		return p, err
	}
	if p.Configured = s.TrustDomain.IsSet(); s.File != "" {
		p.Configuration = []string{s.File}
	}
	if s.Passed != "" {
		p.Configuration = append(p.Configuration, "by "+s.NamedBy+", instead of "+s.Passed)
	}
	if f.root != "" {
		root, err := parseRoot(f.root)
		if err != nil {
			return p, err
		}
		p.Root = &root
	}
	p.Approvers, p.ThresholdUnknown, err = a.approverSet(f.approvers)
	return p, err
}

func parseRoot(s string) (merkle.Hash, error) {
	b, err := wire.ParseHex("--root", s, len(merkle.Hash{}))
	if err != nil {
		return merkle.Hash{}, err
	}
	return merkle.Hash(b), nil
}

// readApprovers reads an approver set file, or .pub files, whose threshold is then not known.
func readApprovers(given []string) (set *quorum.Set, thresholdUnknown bool, err error) {
	paths, err := fileNames(given)
	if err != nil {
		return nil, false, err
	}
	first, err := durable.ReadFile(paths[0], wire.MaxFileBytes)
	if err != nil {
		return nil, false, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(first), []byte("{")) {
		if len(paths) > 1 {
			return nil, false, usage("--approvers is one set file, or .pub files")
		}
		set, _, err = quorum.ParseSetFile(first)
		return set, false, err
	}
	keys, err := readPublicKeys(paths)
	if err != nil {
		return nil, false, err
	}
	set, err = quorum.NewSet(quorum.SetDraft{Keys: keys, Threshold: uint32(len(keys))})
	return set, true, err
}

func readPublicKeys(paths []string) (keys []quorum.PublicKey, err error) {
	for _, path := range paths {
		key, err := readPublicKey(path)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func readPublicKey(path string) (quorum.PublicKey, error) {
	data, err := durable.ReadFile(path, wire.MaxFileBytes)
	if err != nil {
		return quorum.PublicKey{}, err
	}
	key, err := quorum.ParsePublicPEM(data)
	if other := otherKey(data); err != nil && other != "" {
		return quorum.PublicKey{}, wire.Errorf(wire.InvalidInput, "", "%s: it holds %s; an approver's is P-256", path, other)
	}
	if err != nil {
		return quorum.PublicKey{}, wire.Errorf(wire.InvalidInput, "", "%s: %s", path, wire.MessageOf(err))
	}
	return key, nil
}

// readScope reads a scope file and verifies it by the kinds of a table. m notes what was read, and may be nil.
func readScope(path, batch string, table *kinds.Table, m *memory) (*scope.Verified, error) {
	f, err := durable.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, done := m.reads(f)
	parsed, err := scope.Parse(r, workers())
	done()
	if err != nil {
		return nil, err
	}
	if batch == "" && parsed.Header().Bare {
		return nil, usage("a bare array of leaves needs --batch; to sign or judge it, --not-after and --trust-domain as well")
	}
	if h := parsed.Header(); batch != "" && !h.Bare && h.BatchID != batch {
		return nil, wire.Errorf(wire.InvalidInput, "", "the file is batch %q, --batch says %q", h.BatchID, batch)
	}
	return parsed.Verify(scope.VerifyOptions{Kinds: table, BatchID: batch, Workers: workers()})
}

// reviewScope goes from the file to the decoded scope and the policy. What media says about the files is for the caller to
// add, who may have more of them.
func (a *app) reviewScope(f *reviewFlags) (*scope.Decoded, scope.Policy, error) {
	if f.scope == "" {
		return nil, scope.Policy{}, usage("--scope is missing")
	}
	if err := probe(f.operationsOut); err != nil {
		return nil, scope.Policy{}, err
	}
	p, err := a.policy(f)
	if err != nil {
		return nil, p, err
	}
	if f.kindsRead, err = a.kindTable(f.kinds); err != nil {
		return nil, p, err
	}
	f.memory.at(p.Time)
	f.memory.settings(policySettings(f, &p))
	v, err := readScope(f.scope, f.batch, f.kindsRead.table, f.memory)
	if err != nil {
		return nil, p, err
	}
	if v.Header().Bare && (f.notAfter == "" || p.TrustDomain == "") {
		return nil, p, usage("a bare array of leaves needs --batch, --not-after and --trust-domain")
	}
	if p.Expected, p.ExpectedFrom, err = a.expected(f, v.Header().BatchID); err != nil {
		return nil, p, err
	}
	if err := f.memory.batch(v, &p); err != nil {
		return nil, p, err
	}
	return v.Decode(), p, a.noteInputs(f)
}

// expected reads the expected list of --expect or, without it, the one that is configured for the batch, if any, and says
// which file it was.
func (a *app) expected(f *reviewFlags, batchID string) (list *scope.Expected, path string, err error) {
	s, err := a.settings()
	if err != nil {
		return nil, "", err
	}
	path, data, err := s.ReadExpected(f.expect, batchID)
	if path == "" || err != nil {
		return nil, "", err
	}
	f.noteInput("expected list", path)
	if list, err = scope.ParseExpected(data); err == nil {
		f.memory.expected(path, data)
	}
	return list, path, err
}

// noteInputs adds the other files to what the scope is held against.
func (a *app) noteInputs(f *reviewFlags) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	paths, err := fileNames(f.approvers)
	if err != nil {
		return err
	}
	if own := s.ApproverSet(); own.IsSet() {
		paths = append(paths, own.Value.Paths...)
	}
	for _, path := range paths {
		f.noteInput("approver set", path)
	}
	f.noteInput("kinds table", f.kindsRead.path)
	f.noteInput("descriptor set", f.kindsRead.setPath) // what fields are called stands there
	f.noteInput("configuration", s.File)
	return nil
}

// noteInput adds a file once; "" is none.
func (f *reviewFlags) noteInput(role, path string) {
	input := medium.Input{Role: role, Path: path}
	if path != "" && !slices.Contains(f.inputs, input) {
		f.inputs = append(f.inputs, input)
	}
}

// media gives the findings about where the scope and all it is held against lie.
func (f *reviewFlags) media(more ...medium.Input) []review.Finding {
	return medium.Findings(f.scope, append(f.inputs, more...))
}

// draw shows a review.
func (a *app) draw(doc *review.Document, detail review.Detail, toStdout bool) error {
	w := a.stderr
	if toStdout {
		w = a.stdout
	}
	if a.json {
		return review.WriteJSON(w, doc)
	}
	return review.WriteText(w, doc, detail)
}

// workers is how many goroutines hash at once; more than four gain nothing on the largest scope there may be.
func workers() int { return min(4, runtime.GOMAXPROCS(0)) }
