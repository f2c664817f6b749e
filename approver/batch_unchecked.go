package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

const uncheckedWants = "--unchecked wants --batch, --root, --size, --not-after and --trust-domain"

// checkUnchecked refuses what does not go with a bare root.
func (f *signFlags) checkUnchecked(c *cobra.Command) error {
	for _, name := range []string{"scope", "expect", "operations-out", "yes", "allow-unbound", "allow-opaque", "kinds"} {
		if c.Flags().Changed(name) {
			return usage("--unchecked signs what cannot be reviewed; it does not go with --" + name)
		}
	}
	if f.batch == "" || f.root == "" || f.size == 0 || f.notAfter == "" {
		return usage(uncheckedWants)
	}
	return nil
}

// signUnchecked signs a bare root: on a terminal only, the batch id typed, and what is written says "unchecked".
func (a *app) signUnchecked(ctx context.Context, c *cobra.Command, f *signFlags) (err error) {
	if err := f.checkUnchecked(c); err != nil {
		return err
	}
	out, err := a.beginSignature(&f.signatureFlags)
	if err != nil {
		return err
	}
	defer out.abandon()
	if f.ticks, err = a.ticking(f.now); err != nil {
		return err
	}
	m, err := a.remember(&f.signatureFlags, "batch sign", ledger.Signed, ledger.WhatBatch)
	if err != nil {
		return err
	}
	defer m.end(&err)
	policy, err := a.policy(&f.reviewFlags)
	if err != nil {
		return err
	}
	if policy.TrustDomain == "" { // neither given nor configured
		return usage(uncheckedWants)
	}
	statement, err := quorum.Unchecked(f.batch, *policy.Root, f.size, policy.NotAfter, policy.TrustDomain)
	if err != nil {
		return err
	}
	if err := m.unchecked(f, &policy); err != nil {
		return err
	}
	found, err := openWindow(&policy)
	if err != nil {
		return err
	}
	key, err := a.findKey(ctx, &f.keyFlags, policy.Approvers)
	defer key.close()
	if err != nil {
		return err
	}
	t := a.terminal()
	defer t.close()
	if t == nil {
		return wire.Errorf(wire.InvalidState, "not-confirmed", "--unchecked signs on a terminal only")
	}
	policy.KeyUnpinned = key.unpinned()
	found = append(append(found, policy.KeyFindings()...), m.found...)
	if err := m.readyFor(key, found); err != nil {
		return err
	}
	accepted, err := a.confirmUnchecked(ctx, statement, &policy, found, f, t)
	if err != nil {
		return err
	}
	check := func(public quorum.PublicKey) error { return checkMember(policy.Approvers, public) }
	given := &candidate{key: key, check: check, memory: m, closes: time.UnixMilli(int64(policy.NotAfter)), now: f.ticks}
	s := &signing{candidate: given, accepted: accepted, out: out}
	return a.signAndTell(ctx, s, &f.signatureFlags, t)
}

// confirmUnchecked shows all that is known of what would be signed, with what was found about clock and key.
func (a *app) confirmUnchecked(ctx context.Context, s quorum.Statement, p *scope.Policy, found []review.Finding, f *signFlags, t *terminal) (*ceremony.Accepted, error) {
	challenge, err := ceremony.NewUncheckedChallenge(s, f.batch)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(t.tty, `UNCHECKED: nobody has seen what this root admits. You sign %d operations blind.
  batch         %s
  root          %s
  trust domain  %s
  window ends   %s
The signature file will say that it is unchecked.

`, f.size, f.batch, f.root, p.TrustDomain, time.UnixMilli(int64(p.NotAfter)).UTC().Format("2006-01-02 15:04:05 UTC"))
	for _, finding := range found {
		fmt.Fprintf(t.tty, "%s %s: %s\n  %s\n\n", strings.ToUpper(finding.Severity.String()), finding.Rule, finding.Message, finding.Advice)
	}
	t.dropTypedAhead()
	defer t.dropTypedAhead()
	typed, err := t.ask(ctx, "Type the batch id: ")
	if err != nil {
		return nil, err
	}
	return challenge.Accept(trimLine(typed))
}

// openWindow gives the findings about the window, or the error of one that is a stop.
func openWindow(p *scope.Policy) ([]review.Finding, error) {
	found := p.WindowFindings(p.NotAfter)
	for _, finding := range found {
		if finding.Severity == review.Stop {
			return nil, finding.Err()
		}
	}
	return found, nil
}

// readyFor holds a bare root against the ledger, and proves that there is room for the record: a disk without any is told before
// anybody reads anything.
func (m *memory) readyFor(key *foundKey, found []review.Finding) error {
	if err := m.key(key, key.public()); err != nil {
		return err
	}
	err := m.ready(found, key.public().KID())
	if err == nil {
		m.announce()
	}
	return err
}
