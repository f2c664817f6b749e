package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// signatureFlags are those of every command that signs: the key, where the signature goes, and what is remembered.
type signatureFlags struct {
	keyFlags
	memoryFlags
	out, qrPNG string
	yes, qr    bool
}

func (f *signatureFlags) register(c *cobra.Command) {
	f.registerKey(c)
	s := c.Flags()
	s.StringVar(&f.out, "out", "", "write the signature to `FILE` (default: standard output); nothing is overwritten")
	s.BoolVar(&f.yes, "yes", false, "sign without the question")
	s.BoolVar(&f.qr, "qr", false, "show the signature as a QR code as well, on standard error")
	s.StringVar(&f.qrPNG, "qr-png", "", "write the signature as a QR code to `FILE` as well, a PNG picture; nothing is overwritten")
}

// registerKey is what signs, and what remembers it.
func (f *signatureFlags) registerKey(c *cobra.Command) {
	f.keyFlags.register(c)
	f.memoryFlags.register(c)
}

// check refuses outputs that share a place or a reader; operationsOut is the one that a batch has besides.
func (f *signatureFlags) check(a *app, operationsOut string) error {
	if f.qr && a.json {
		return usage("--qr draws for a person and --json writes for a program; give one of them")
	}
	flag := sharedPlace([]string{"--out", "--operations-out", "--qr-png", "--receipt"}, []string{f.out, operationsOut, f.qrPNG, f.receipt})
	if flag != "" {
		return usage(flag + " names the file of another output")
	}
	return f.memoryFlags.check()
}

// confirm shows the review and has it accepted. What asks a person elides nothing, and gives them the file of operations
// before the question; without a question that file gets its name with the signature. After a refusal it is gone.
func (a *app) confirm(ctx context.Context, r *review.Review, f *signatureFlags, operationsOut string, t *terminal, m *memory) (operations *stream, _ *ceremony.Accepted, err error) {
	asks := !f.yes && t != nil
	detail := review.Brief
	if asks || r.Document().Counts != review.Operations { // a change of the approver set is short
		detail = review.Whole
	}
	if err := a.show(r, detail, asks, t); err != nil {
		return nil, nil, err
	}
	if stop := r.Stop(); stop != nil {
		return nil, nil, stop
	}
	if err := a.announceQR(f, r.Statement()); err != nil {
		return nil, nil, err
	}
	m.announce()
	if !f.yes && !asks {
		return nil, nil, ceremony.NotConfirmed(r)
	}
	if operations, err = beginOperations(operationsOut, r.Document()); err != nil {
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

// show draws a review on standard error. Whoever is asked must have it before their eyes, and gets it on the terminal.
func (a *app) show(r *review.Review, detail review.Detail, asks bool, t *terminal) error {
	if err := a.draw(r.Document(), detail, false); err != nil || !asks || a.seen() {
		return err
	}
	return review.WriteText(t.tty, r.Document(), detail)
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
	return a.askAll(ctx, challenge, r, t)
}

// askAll asks the questions of a challenge of a review.
func (a *app) askAll(ctx context.Context, challenge *ceremony.Challenge, r *review.Review, t *terminal) (*ceremony.Accepted, error) {
	does := "sign this"
	if r.Document().Declines() {
		does = "DECLINE this"
	}
	fmt.Fprintf(t.tty, "\nTo %s, type what the review shows. Anything else signs nothing.\n", does)
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

// A candidate is what was read to be signed, with the key that would sign it.
type candidate struct {
	review *review.Review
	key    *foundKey
	check  func(quorum.PublicKey) error // is asked about the key once it is known for sure
	memory *memory
	closes time.Time        // the window; zero where none ends
	now    func() time.Time // may be nil where no window ends
}

// late refuses an approval whose window has closed since it was reviewed. A decline can be signed at any time.
func (c *candidate) late(s quorum.Statement) error {
	if s.Purpose() == quorum.PurposeBatchDecline || c.closes.IsZero() || !c.now().After(c.closes) {
		return nil
	}
	return wire.Errorf(wire.InvalidState, string(review.WindowClosed), "the window has closed while you read; nothing is signed")
}

// close closes the key. The nil candidate is none.
func (c *candidate) close() {
	if c != nil {
		c.key.close()
	}
}

// settle shows a candidate, has it accepted, and signs it.
func (a *app) settle(ctx context.Context, c *candidate, f *signatureFlags, operationsOut string, out *signatureOutput) error {
	t := a.terminal()
	defer t.close()
	operations, accepted, err := a.confirm(ctx, c.review, f, operationsOut, t, c.memory)
	if err == nil {
		err = a.signAndTell(ctx, &signing{candidate: c, accepted: accepted, out: out, operations: operations}, f, t)
	}
	if err != nil {
		operations.undo()
	}
	return err
}

// signAndTell signs with the PIN that is asked for on the terminal, and says on standard error what was signed.
func (a *app) signAndTell(ctx context.Context, s *signing, f *signatureFlags, t *terminal) error {
	s.open = func(ctx context.Context) (quorum.Signer, error) { return s.key.open(ctx, t) }
	signed, err := a.signAccepted(ctx, s)
	if err != nil {
		return err
	}
	return a.tellSigned(signed, f, s.memory)
}

// A signing is all that is needed once a statement was accepted.
type signing struct {
	*candidate
	accepted   *ceremony.Accepted
	out        *signatureOutput
	operations *stream                                      // gets its name together with the signature
	open       func(context.Context) (quorum.Signer, error) // asks for PIN or passphrase
}

// signAccepted opens the key, signs, records, and only then writes. That the record has room was proven before the review.
// The window is looked at before the PIN is asked for, and after it: that may be waited for.
func (a *app) signAccepted(ctx context.Context, s *signing) (*ceremony.Signed, error) {
	if err := s.late(s.accepted.Statement()); err != nil {
		return nil, err
	}
	signer, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.late(s.accepted.Statement()); err != nil {
		return nil, err
	}
	if err := s.check(signer.Public()); err != nil {
		return nil, err
	}
	if err := s.memory.opened(signer.Public()); err != nil {
		return nil, err
	}
	signed, err := s.accepted.Sign(ctx, signer)
	if err != nil {
		return nil, err
	}
	if err := s.memory.keep(signed.Signature()); err != nil {
		return nil, err
	}
	err = s.operations.commit()
	if err == nil {
		err = s.out.write(a.stdout, signed, s.memory.receipt)
	}
	return signed, s.memory.handedOut(err)
}

// tellSigned says on standard error who signed what, where it is, and where the ledger stands. The signature is made and
// written: an error of the stream changes nothing about that, so it is not one of the command.
func (a *app) tellSigned(signed *ceremony.Signed, f *signatureFlags, m *memory) error {
	kid := signed.Signature().KID
	done, root := saysDone(signed.Statement().Purpose())
	what, _ := signed.Statement().Root()
	if a.json {
		said := map[string]any{"kid": kid, root: fmt.Sprintf("%x", what), "out": review.Escape(f.out), "qrPng": review.Escape(f.qrPNG)}
		if m.receipt != nil {
			said["ledger"] = newShownHead(m.receipt.Head())
		}
		line, err := json.Marshal(map[string]any{done: said})
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
	name := "root"
	if root == "setSha256" {
		name = "set"
	}
	fmt.Fprintf(a.stderr, "%s by %s\n%-9s %x\nwritten   %s\n", done, kid, name, what, review.Escape(where))
	if f.qrPNG != "" {
		fmt.Fprintf(a.stderr, "picture   %s\n", review.Escape(f.qrPNG))
	}
	a.tellRecorded(f, m)
	if f.qr {
		a.drawQR(signed.Encode())
	}
	return nil
}

// tellRecorded says where the ledger stands, in words, to be written down.
func (a *app) tellRecorded(f *signatureFlags, m *memory) {
	if m.receipt == nil {
		fmt.Fprintln(a.stderr, "recorded  nowhere")
		return
	}
	if f.receipt != "" {
		fmt.Fprintf(a.stderr, "receipt   %s\n", review.Escape(f.receipt))
	}
	head := m.receipt.Head()
	fmt.Fprintf(a.stderr, "recorded  number %d in %s\nhead      %s\n", head.Seq, review.Escape(m.folder), head.Hash)
	writeWords(a.stderr, head.Words())
}

// writeWords writes the words of a hash, four a line as a review has them, to be read aloud or written down.
func writeWords(w io.Writer, words []string) { writeNamedWords(w, "in words  ", words) }

func writeNamedWords(w io.Writer, name string, words []string) {
	for i := 0; i < len(words); i += wordsInLine {
		if i > 0 {
			name = strings.Repeat(" ", len(name))
		}
		fmt.Fprintf(w, "%s%s\n", name, strings.Join(words[i:i+wordsInLine], " "))
	}
}

const wordsInLine = 4 // of up to eleven letters: no terminal breaks them

// saysDone gives the word for what was signed, and the name of what people compare of it.
func saysDone(purpose quorum.Purpose) (done, root string) {
	switch purpose {
	case quorum.PurposeBatchDecline:
		return "declined", "scopeRoot"
	case quorum.PurposeApproverSet:
		return "signed", "setSha256"
	}
	return "signed", "scopeRoot"
}

// A shownHead is a head as JSON shows it.
type shownHead struct {
	Seq   uint64      `json:"seq"`
	Head  ledger.Hash `json:"head"`
	Words []string    `json:"words"`
}

func newShownHead(h ledger.Head) shownHead { return shownHead{h.Seq, h.Hash, h.Words()} }
