package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

type signFlags struct {
	reviewFlags
	keyFlags
	out, qrPNG string
	yes, qr    bool
	unchecked  bool
	size       uint64
}

func (a *app) signCommand() *cobra.Command {
	var f signFlags
	c := &cobra.Command{
		Use:   "sign --scope FILE --key KEY",
		Short: "Review a scope and sign its approval",
		Long: `sign shows the whole review on standard error, asks for the number of operations and two words of the root, and only
then for the PIN. The signature is verified before it is written to --out, or to standard output.

Without a terminal it prints the root and ends with not-confirmed; --yes signs without the question, and with --root and
--expect it signs only what was reviewed before.`,
		Example: `  approver batch sign --scope scope.json --key alice.pem --trust-domain compute.example.com --out sig.json
  approver batch sign --scope scope.json --key 'pkcs11:token=approver;object=k256' --module /usr/lib/softhsm/libsofthsm2.so \
      --pub k256.pub --approvers set.json --expect machines.txt --out sig.json`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.qr && a.json {
				return usage("--qr draws for a person and --json writes for a program; give one of them")
			}
			if flag := sharedPlace([]string{"--out", "--operations-out", "--qr-png"}, []string{f.out, f.operationsOut, f.qrPNG}); flag != "" {
				return usage(flag + " names the file of another output")
			}
			if f.unchecked {
				return a.signUnchecked(c.Context(), c, &f)
			}
			if f.size != 0 {
				return usage("--size goes with --unchecked")
			}
			return a.sign(c.Context(), &f)
		},
	}
	f.reviewFlags.register(c)
	f.keyFlags.register(c)
	s := c.Flags()
	s.StringVar(&f.out, "out", "", "write the signature to `FILE` (default: standard output); nothing is overwritten")
	s.BoolVar(&f.yes, "yes", false, "sign without the question")
	s.BoolVar(&f.qr, "qr", false, "show the signature as a QR code as well, on standard error")
	s.StringVar(&f.qrPNG, "qr-png", "", "write the signature as a QR code to `FILE` as well, a PNG picture; nothing is overwritten")
	s.BoolVar(&f.unchecked, "unchecked", false, "sign a bare --batch, --root and --size that nobody can check; on a terminal only")
	s.Uint64Var(&f.size, "size", 0, "number of leaves `N`, with --unchecked")
	return c
}

// sign walks the one road: review, acceptance, key, signature, file.
func (a *app) sign(ctx context.Context, f *signFlags) error {
	out, err := a.beginSignature(f) // what can't be written is told before anybody reviews anything
	if err != nil {
		return err
	}
	defer out.abandon()
	decoded, policy, err := a.reviewScope(&f.reviewFlags)
	if err != nil {
		return err
	}
	key, err := a.findKey(ctx, &f.keyFlags, policy.Approvers)
	defer key.close()
	if err != nil {
		return err
	}
	policy.Key, policy.KeyUnpinned = key.public().KID(), key.unpinned()
	policy.Other = f.media(key.inputs()...)
	if err := checkMember(policy.Approvers, key.public()); err != nil {
		return err
	}
	r, err := decoded.Review(policy)
	if err != nil {
		return err
	}
	t := a.terminal()
	defer t.close()
	operations, accepted, err := a.confirm(ctx, r, f, t)
	if err == nil {
		err = a.signAccepted(ctx, &signing{f, key, t, accepted, out, operations, func(public quorum.PublicKey) error {
			if err := checkMember(policy.Approvers, public); err != nil {
				return err
			}
			return decoded.Verified().CheckNotApproved(public.KID())
		}})
	}
	if err != nil {
		operations.undo()
	}
	return err
}

// confirm shows the review and has it accepted. What asks a person elides nothing, and gives them the file of operations
// before the question; without a question that file gets its name with the signature. After a refusal it is gone.
func (a *app) confirm(ctx context.Context, r *review.Review, f *signFlags, t *terminal) (operations *stream, _ *ceremony.Accepted, err error) {
	asks := !f.yes && t != nil
	detail := review.Brief
	if asks {
		detail = review.Whole
	}
	if err := a.draw(r.Document(), detail, false); err != nil {
		return nil, nil, err
	}
	if asks && !a.seen() { // whoever answers must have it before their eyes
		if err := review.WriteText(t.tty, r.Document(), detail); err != nil {
			return nil, nil, err
		}
	}
	if stop := r.Stop(); stop != nil {
		return nil, nil, stop
	}
	if f.qr {
		a.announceQR(r.Statement())
	}
	if !f.yes && !asks {
		return nil, nil, ceremony.NotConfirmed(r)
	}
	if operations, err = beginOperations(f.operationsOut, r.Document()); err != nil {
		return nil, nil, err
	}
	if !asks {
		accepted, err := ceremony.AcceptUnattended(r)
		return operations, accepted, err
	}
	if err := operations.commit(); err != nil {
		return nil, nil, err
	}
	accepted, err := a.ask(ctx, r, t)
	return operations, accepted, err
}

// seen tells whether standard error is the terminal that asks: what another one shows, or what is read later or never,
// whoever answers may not have before their eyes.
func (a *app) seen() bool {
	file, ok := a.stderr.(*os.File)
	if !ok {
		return false
	}
	return isControlling(int(file.Fd()))
}

// ask has a person type what the review shows.
func (a *app) ask(ctx context.Context, r *review.Review, t *terminal) (*ceremony.Accepted, error) {
	challenge, err := ceremony.NewChallenge(r)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(t.tty, "\nTo sign this, type what the review shows. Anything else signs nothing.\n")
	t.dropTypedAhead()
	defer t.dropTypedAhead() // what was pasted beyond the answers is neither a PIN nor for the shell
	var answers []string
	for _, question := range challenge.Questions() {
		answer, err := t.ask(ctx, question+": ")
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return challenge.Accept(answers)
}

// A signing is all that is needed once a statement was accepted.
type signing struct {
	flags      *signFlags
	key        *foundKey
	terminal   *terminal
	accepted   *ceremony.Accepted
	out        *signatureOutput
	operations *stream                      // gets its name together with the signature
	check      func(quorum.PublicKey) error // is asked about the key once it is known for sure
}

// signAccepted opens the key, signs and writes.
func (a *app) signAccepted(ctx context.Context, s *signing) error {
	signer, err := s.key.open(ctx, s.terminal)
	if err != nil {
		return err
	}
	if err := s.check(signer.Public()); err != nil {
		return err
	}
	signed, err := s.accepted.Sign(ctx, signer)
	if err != nil {
		return err
	}
	if err := s.operations.commit(); err != nil {
		return err
	}
	if err := s.out.write(a.stdout, signed); err != nil {
		return err
	}
	return a.tellSigned(signed, s.flags)
}

// tellSigned says on standard error who signed what, and where it is. The signature is made and written: an error of the
// stream changes nothing about that, so it is not one of the command.
func (a *app) tellSigned(signed *ceremony.Signed, f *signFlags) error {
	kid := signed.Signature().KID
	root, _ := signed.Statement().Root()
	if a.json {
		line, err := json.Marshal(map[string]any{"signed": map[string]any{"kid": kid, "scopeRoot": fmt.Sprintf("%x", root), "out": review.Escape(f.out), "qrPng": review.Escape(f.qrPNG)}})
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stderr, ascii(string(line)))
		return nil
	}
	where := "standard output"
	if f.out != "" {
		where = f.out
	}
	fmt.Fprintf(a.stderr, "signed by %s\nroot      %x\nwritten   %s\n", kid, root, review.Escape(where))
	if f.qrPNG != "" {
		fmt.Fprintf(a.stderr, "picture   %s\n", review.Escape(f.qrPNG))
	}
	if f.qr {
		a.drawQR(signed.Encode())
	}
	return nil
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
