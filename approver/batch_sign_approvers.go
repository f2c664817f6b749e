package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/medium"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

type approversFlags struct {
	setFlags
	signatureFlags
	file                              string // of the change, a set file or a signature over one, where no flags say it
	trustDomain, current, now, digest string
	signatures, names                 []string

	next *givenSet
	from []string // the files of c.Signatures
}

func (a *app) signApproversCommand() *cobra.Command {
	var f approversFlags
	c := &cobra.Command{
		Use:   "sign-approvers --key KEY --epoch N --approvers FILES --threshold K --trust-domain NAME",
		Short: "Review a change of the approver set and sign it",
		Long: `sign-approvers says in words what a new approver set changes, asks for the number of changes and two words of the new set's
digest, and signs the set for its epoch. A machine takes it once enough approvers of the set it holds have signed.

The change is held against --current, the set in force now, else the configured one. Without --approvers, --threshold 0 signs
the removal of the quorum. Signatures that others made for the same change, --signature, are held against this one.

Set files know keys by their kids alone; --names gives the .pub files whose names they are to be called by: what leaves and
what takes its place under the same name then reads as a key that was replaced. With --yes, --digest signs only the set that
was reviewed before.`,
		Example: `  approver batch sign-approvers --key alice.pem --epoch 2 --approvers alice.pub,bob.pub,dave.pub --threshold 2 --tiers 5:1 \
      --unbatched 0 --current set.json --trust-domain compute.example.com --out alice.set-sig.json
  approver batch sign-approvers --key bob.pem --approvers next.json --proof dave.proof --signature alice.set-sig.json \
      --current set.json --trust-domain compute.example.com --out bob.set-sig.json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.signatureFlags.check(a, ""); err != nil {
				return err
			}
			return a.signApprovers(c.Context(), &f)
		},
	}
	f.setFlags.register(c)
	f.signatureFlags.register(c)
	s := c.Flags()
	s.StringVar(&f.trustDomain, "trust-domain", "", "trust domain of your deployment, `NAME` (default: the configured one)")
	s.StringVar(&f.current, "current", "", "`FILE` of the set in force now, or a signature over it (default: the configured set)")
	s.StringArrayVar(&f.signatures, "signature", nil, "`FILES` of signatures that others made for this change, comma-separated")
	s.StringArrayVar(&f.names, "names", nil, "`FILES`, .pub files or folders of them, by whose names keys of either set are called, comma-separated")
	s.StringVar(&f.digest, "digest", "", "digest of the set that was reviewed before, 64 `HEX` digits; any other is refused")
	registerNow(c, &f.now)
	return c
}

// signApprovers walks the same road as a batch: review, acceptance, key, signature, record, file.
func (a *app) signApprovers(ctx context.Context, f *approversFlags) (err error) {
	out, err := a.beginSignature(&f.signatureFlags)
	if err != nil {
		return err
	}
	defer out.abandon()
	m, err := a.remember(&f.signatureFlags, "batch sign-approvers", ledger.Signed, ledger.WhatSet)
	if err != nil {
		return err
	}
	defer m.end(&err)
	domain, err := a.givenTrustDomain(f.trustDomain)
	if err != nil {
		return err
	}
	c, err := a.reviewSet(ctx, f, domain, m)
	defer c.close()
	if err != nil {
		return err
	}
	return a.settle(ctx, c, &f.signatureFlags, "", out)
}

// givenTrustDomain gives the trust domain of the flag or the configuration, and refuses where neither names one.
func (a *app) givenTrustDomain(flag string) (string, error) {
	domain, err := a.trustDomain(flag)
	if err == nil && domain == "" {
		err = usage("--trust-domain is missing, and none is configured")
	}
	return domain, err
}

// newSet gives the set that is to be.
func (f *approversFlags) newSet() (*givenSet, error) {
	if f.file == "" {
		return f.setFlags.read()
	}
	file, err := readSetFile(f.file)
	if err != nil {
		return nil, err
	}
	if file.signature != nil {
		f.signatures = append(f.signatures, f.file)
	}
	g := &givenSet{set: file.set, epoch: file.epoch, labels: make(map[quorum.KID]string), paths: []string{f.file}}
	return g, g.readProofs(f.proofs, nil)
}

// reviewSet reads a change of the approver set and reviews it. Close what it gives, after an error too.
func (a *app) reviewSet(ctx context.Context, f *approversFlags, domain string, m *memory) (c *candidate, err error) {
	c = &candidate{memory: m}
	change, inputs, err := a.readChange(f, domain, m)
	if err != nil {
		return c, err
	}
	if c.key, err = a.findKey(ctx, &f.keyFlags, keysOf(change)); err != nil {
		return c, err
	}
	c.check = func(public quorum.PublicKey) error { return checkSigner(change, public) }
	if err := c.check(c.key.public()); err != nil {
		return c, err
	}
	c.review, err = a.reviewChange(f, change, inputs, c.key, m)
	return c, err
}

// readChange reads all the files of a change.
func (a *app) readChange(f *approversFlags, domain string, m *memory) (*approvers.Change, []medium.Input, error) {
	clock, err := a.clock(f.now)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.settings()
	if err != nil {
		return nil, nil, err
	}
	next, err := f.newSet()
	if err != nil {
		return nil, nil, err
	}
	if next.epoch == 0 {
		return nil, nil, usage("--epoch is missing: one above that of the set in force")
	}
	f.next = next
	m.at(clock)
	m.change(next, domain)
	if err := checkReviewedSet(f.digest, next.set); err != nil {
		return nil, nil, err
	}
	c := &approvers.Change{Next: next.set, Epoch: next.epoch, Labels: next.labels, Proofs: next.proofs, TrustDomain: domain,
		Configured: s.TrustDomain.IsSet(), Time: clock}
	if s.File != "" {
		c.Configuration = append(c.Configuration, s.File)
	}
	if s.Passed != "" {
		c.Configuration = append(c.Configuration, "by "+s.NamedBy+", instead of "+s.Passed)
	}
	inputs := []medium.Input{{Role: "configuration", Path: s.File}}
	current, err := a.readCurrent(f.current, c)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range current {
		inputs = append(inputs, medium.Input{Role: "set in force", Path: path})
	}
	m.settings(map[string]string{"trustDomain": domain, "current": strings.Join(current, ", "), "approvers": strings.Join(next.paths, ", "),
		"now": f.now, "digest": f.digest, "configuration": s.File})
	if err := f.readSignatures(c); err != nil {
		return nil, nil, err
	}
	names, err := readNames(f.names, c.Labels)
	for _, path := range names {
		inputs = append(inputs, medium.Input{Role: "names of keys", Path: path})
	}
	if err != nil {
		return nil, nil, err
	}
	return c, inputs, nil
}

// change notes the change that is reviewed: from now on its end is recorded.
func (m *memory) change(next *givenSet, domain string) {
	m.begun = true
	m.entry.Set = &ledger.SetChange{Epoch: next.epoch, Digest: ledger.Hash(next.set.Digest()), TrustDomain: domain}
}

// readCurrent gives the change the set in force, and says which files it is from.
func (a *app) readCurrent(path string, c *approvers.Change) (from []string, err error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	if path == "" {
		if !s.ApproverSet().IsSet() {
			return nil, nil
		}
		own := s.ApproverSet()
		c.Current, c.CurrentEpoch, c.CurrentFrom, c.CurrentKnown = own.Value.Set, own.Value.Epoch, own.Origin.String(), asConfigured
		return own.Value.Paths, nil
	}
	f, err := readSetFile(path)
	if err == nil {
		err = f.checkInForce(c.TrustDomain)
	}
	if err != nil {
		return nil, err
	}
	if c.Current, c.CurrentEpoch, c.CurrentFrom = f.set, f.epoch, path; s.ApproverSet().IsSet() {
		c.CurrentKnown = asConfigured
	}
	return []string{path}, s.TightenCurrent(f.set, f.epoch)
}

const asConfigured = "as you have it configured"

// readSignatures gives the change what others signed.
func (f *approversFlags) readSignatures(c *approvers.Change) (err error) {
	if f.from, err = listed("--signature", f.signatures); err != nil {
		return err
	}
	for _, path := range f.from {
		f, err := readSetFile(path)
		switch {
		case err != nil:
			return err
		case f.signature == nil:
			return wire.Errorf(wire.InvalidInput, "", "%s is a set file, not a signature over one", path).With("file", path)
		}
		c.Signatures = append(c.Signatures, f.signature)
	}
	return nil
}

// reviewChange makes the review, and holds it against the ledger.
func (a *app) reviewChange(f *approversFlags, c *approvers.Change, inputs []medium.Input, key *foundKey, m *memory) (*review.Review, error) {
	if err := m.key(key, key.public()); err != nil {
		return nil, err
	}
	c.Key = key.public().KID()
	if key.unpinned() {
		c.Other = append(c.Other, review.NewFinding(review.KeyUnpinned, review.Escape("the token says which public key it has; nobody else did")))
	}
	r, err := f.judge(c, append(inputs, key.inputs()...), m)
	if err != nil {
		return nil, err
	}
	return r, f.again(m.ready(r.Document().Findings, c.Key))
}

// judge reviews a change, held against where its files lie and what was signed before.
func (f *approversFlags) judge(c *approvers.Change, inputs []medium.Input, m *memory) (*review.Review, error) {
	if err := m.earlierSets(c); err != nil {
		return nil, err
	}
	var newSet []medium.Input
	for _, path := range f.next.paths {
		newSet = append(newSet, medium.Input{Role: "new set", Path: path})
	}
	c.Other = append(append(c.Other, medium.FindingsOf(newSet, inputs)...), m.found...)
	r, err := c.Review()
	if err != nil {
		return nil, f.inFile(err)
	}
	return r, nil
}

// keysOf gives the set in which a kid that a URI names as its object is looked up.
func keysOf(c *approvers.Change) *quorum.Set {
	if c.Current != nil {
		return c.Current
	}
	return c.Next
}
