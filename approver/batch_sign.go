package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

type signFlags struct {
	decision
	unchecked bool
	size      uint64
}

func (a *app) signCommand() *cobra.Command {
	var f signFlags
	c := &cobra.Command{
		Use:   "sign --scope FILE --key KEY",
		Short: "Review a scope and sign its approval",
		Long: `sign shows the whole review on standard error, asks for the number of operations and two words of the root, and only
then for the PIN. The signature is verified, and recorded in the ledger, before it is written to --out, or to standard output.

Without a terminal it prints the root and ends with not-confirmed; --yes signs without the question, and with --root and
--expect it signs only what was reviewed before.`,
		Example: `  approver batch sign --scope scope.json --key alice.pem --trust-domain compute.example.com --out sig.json
  approver batch sign --scope scope.json --key 'pkcs11:token=approver;object=k256' --module /usr/lib/softhsm/libsofthsm2.so \
      --pub k256.pub --approvers set.json --expect machines.txt --out sig.json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.signatureFlags.check(a, f.operationsOut); err != nil {
				return err
			}
			if f.unchecked {
				return a.signUnchecked(c.Context(), c, &f)
			}
			if f.size != 0 {
				return usage("--size goes with --unchecked")
			}
			return a.decide(c.Context(), &f.decision)
		},
	}
	f.command, f.outcome = "batch sign", ledger.Signed
	f.reviewFlags.register(c)
	f.signatureFlags.register(c)
	s := c.Flags()
	s.BoolVar(&f.unchecked, "unchecked", false, "sign a bare --batch, --root and --size that nobody can check; on a terminal only")
	s.Uint64Var(&f.size, "size", 0, "number of leaves `N`, with --unchecked")
	return c
}

// A decision is an approval or a decline of a batch that was reviewed.
type decision struct {
	reviewFlags
	signatureFlags
	command string
	outcome ledger.Outcome
	reason  string           // of a decline
	ticks   func() time.Time // the clock that goes on while somebody reads
}

func (d *decision) declines() bool { return d.outcome == ledger.Declined }

// decide walks the one road: review, acceptance, key, signature, record, file.
func (a *app) decide(ctx context.Context, f *decision) (err error) {
	out, err := a.beginSignature(&f.signatureFlags) // what can't be written is told before anybody reviews anything
	if err != nil {
		return err
	}
	defer out.abandon()
	if f.ticks, err = a.ticking(f.now); err != nil {
		return err
	}
	m, err := a.remember(&f.signatureFlags, f.command, f.outcome, ledger.WhatBatch)
	if err != nil {
		return err
	}
	defer m.end(&err)
	m.entry.Reason, f.memory = f.reason, m
	batch, err := a.readBatch(ctx, f)
	defer batch.close()
	if err != nil {
		return err
	}
	return a.settle(ctx, batch.candidate(), &f.signatureFlags, f.operationsOut, out)
}

// A readBatch is a batch that was read, and the key that would sign.
type readBatch struct {
	flags   *decision
	decoded *scope.Decoded
	policy  scope.Policy
	key     *foundKey
	review  *review.Review
}

// readBatch reads a batch and reviews it. Close what it gives, after an error too.
func (a *app) readBatch(ctx context.Context, f *decision) (b *readBatch, err error) {
	b = &readBatch{flags: f}
	if b.decoded, b.policy, err = a.reviewScope(&f.reviewFlags); err != nil {
		return b, err
	}
	if b.key, err = a.findKey(ctx, &f.keyFlags, b.policy.Approvers); err != nil {
		return b, err
	}
	b.review, err = reviewDecision(f, b.decoded, &b.policy, b.key)
	return b, err
}

func (b *readBatch) close() { b.key.close() }

// candidate gives what is to be signed of the batch.
func (b *readBatch) candidate() *candidate {
	c := &candidate{review: b.review, key: b.key, memory: b.flags.memory, now: b.flags.ticks, check: func(public quorum.PublicKey) error {
		return b.flags.checkKey(b.decoded, &b.policy, public)
	}}
	if b.decoded != nil {
		c.closes = windowEnd(b.decoded.Verified(), &b.policy)
	}
	return c
}

// windowEnd gives the end of the window: the file's, else the given one.
func windowEnd(v *scope.Verified, p *scope.Policy) time.Time {
	return time.UnixMilli(int64(cmp.Or(v.Header().NotAfter, p.NotAfter)))
}

// reviewDecision makes the review, and holds it against the ledger.
func reviewDecision(f *decision, decoded *scope.Decoded, policy *scope.Policy, key *foundKey) (r *review.Review, err error) {
	m := f.memory
	if err := m.key(key, key.public()); err != nil {
		return nil, err
	}
	policy.Key, policy.KeyUnpinned = key.public().KID(), key.unpinned()
	policy.Other = append(f.media(key.inputs()...), m.found...)
	if err := checkMember(policy.Approvers, key.public()); err != nil {
		return nil, err
	}
	if f.declines() {
		r, err = decoded.ReviewDecline(*policy, f.reason)
	} else {
		r, err = decoded.Review(*policy)
	}
	if err != nil {
		return nil, err
	}
	return r, m.ready(r.Document().Findings, key.public().KID())
}

// checkKey is asked once the key is known for sure. Whoever approved may decline.
func (f *decision) checkKey(decoded *scope.Decoded, policy *scope.Policy, public quorum.PublicKey) error {
	if err := checkMember(policy.Approvers, public); err != nil || f.declines() {
		return err
	}
	return decoded.Verified().CheckNotApproved(public.KID())
}

// checkMember refuses a key that the set does not have. A key that is not known yet passes.
func checkMember(set *quorum.Set, key quorum.PublicKey) error {
	if set == nil || key.IsZero() {
		return nil
	}
	if _, ok := set.Key(key.KID()); !ok {
		return wire.Errorf(wire.KeyUnavailable, "key-mismatch", "key %s is not in the approver set", key.KID())
	}
	return nil
}
