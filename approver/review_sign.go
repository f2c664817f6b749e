package main

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/tui"
)

// sign walks the rest of the road, with the PIN that the screen asks for.
func (r *road) sign(ctx context.Context, o *tui.Opened, accepted *ceremony.Accepted, asks tui.Asks) (*tui.Done, error) {
	signed, err := r.finish(ctx, o, accepted, func(ctx context.Context) (quorum.Signer, error) {
		q := &screenQuestions{road: r, asks: asks}
		if r.key.token != nil && r.key.token.Info().PINPad { // where nobody is asked here
			asks.Touch(shownToken(r.key.token.Info()))
		}
		signer, err := r.key.openAsking(ctx, q, q.passphrase, func() { q.wrong = true })
		if err == nil && r.key.token != nil {
			asks.Touch(shownToken(r.key.token.Info()))
		}
		return signer, err
	})
	if err != nil {
		return nil, err
	}
	return r.done(signed), nil
}

// finish signs what was accepted, once the file is seen to be what it was.
func (r *road) finish(ctx context.Context, o *tui.Opened, accepted *ceremony.Accepted, open func(context.Context) (quorum.Signer, error)) (signed *ceremony.Signed, err error) {
	r.busy.Lock()
	defer r.busy.Unlock()
	defer func() {
		if ctx.Err() == nil { // who stops it is not refused
			r.refuses(err)
		}
	}()
	switch {
	case r.lost != nil:
		return nil, r.lost
	case r.opened == nil || r.opened != o || r.signed != nil:
		return nil, wire.Errorf(wire.InvalidState, "", "nothing is open to be signed")
	}
	if r.bar != nil && (r.key == nil || accepted.Statement().Purpose() != quorum.PurposeBatchDecline) {
		return nil, r.bar
	}
	if err := r.unchanged(ctx); err != nil {
		return nil, err
	}
	if err := r.decide(accepted.Statement()); err != nil {
		return nil, err
	}
	out, err := r.app.beginSignature(&r.written)
	if err != nil {
		return nil, err
	}
	defer out.abandon()
	unchanged := func(ctx context.Context) (quorum.Signer, error) {
		signer, err := open(ctx)
		if err == nil { // however long the PIN was waited for
			err = r.unchanged(ctx)
		}
		return signer, err
	}
	signed, err = r.app.signAccepted(ctx, &signing{candidate: r.candidate, accepted: accepted, out: out, open: unchanged})
	switch {
	case err == nil:
		r.signed = signed
	case r.memory.ended:
		r.lost = err
	}
	return signed, err
}

// unchanged refuses a file that is another than the one that was read.
func (r *road) unchanged(ctx context.Context) error {
	now, err := hashFile(ctx, r.path)
	if wire.CodeOf(err) == wire.InvalidInput || err == nil && now != r.sha256 { // also where it is no file any more, or too long
		err = errFileChanged(r.path)
	}
	return err
}

// decide notes which way it was decided and where the signature goes, and proves that this record has room too.
func (r *road) decide(s quorum.Statement) error {
	e := &r.memory.entry
	e.Outcome, e.Reason = ledger.Signed, ""
	declines := s.Purpose() == quorum.PurposeBatchDecline
	if declines {
		e.Outcome, e.Reason = ledger.Declined, r.reasons[string(s.Input())]
	}
	r.written = r.flags.signatureFlags
	r.written.out = r.place(declines)
	if declines { // what speaks against an approval was looked up when it was opened
		if err := r.memory.check(r.key.public().KID()); err != nil {
			return err
		}
	}
	return r.memory.prepare()
}

// place gives the file that the signature goes to, "" for standard output.
func (r *road) place(declines bool) string {
	if r.flags.out != "" {
		return r.flags.out
	}
	if file, ok := r.app.stdout.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return ""
	}
	name := strings.TrimSuffix(r.path, ".json")
	if public := r.key.public(); !public.IsZero() {
		name += "." + public.KID().String()[:8]
	}
	switch {
	case declines:
		return name + ".decline.json"
	case r.review.Document().Counts != review.Operations:
		return name + ".set-sig.json"
	}
	return name + ".sig.json"
}

// tryOutput tells, before anybody reviews anything, whether the signature will have its place.
func (r *road) tryOutput() error {
	f := r.flags.signatureFlags
	f.out = r.place(false)
	out, err := r.app.beginSignature(&f)
	if err == nil {
		out.abandon()
	}
	return err
}

// done says what was signed.
func (r *road) done(signed *ceremony.Signed) *tui.Done {
	d := &tui.Done{Written: review.Escape("standard output"), Stdout: true, KID: signed.Signature().KID, File: signed.Encode(),
		Declined: signed.Statement().Purpose() == quorum.PurposeBatchDecline}
	if r.written.out != "" {
		d.Written, d.Stdout = review.Escape(r.written.out), false
	}
	d.Root, _ = signed.Statement().Root()
	if receipt := r.memory.receipt; receipt != nil {
		d.Record, d.Head, d.Ledger = receipt.Head().Seq, receipt.Head().Hash, review.Escape(r.memory.folder)
	}
	return d
}

// errFileChanged is the refusal where the file is another than the one that was read.
func errFileChanged(path string) error {
	return wire.Errorf(wire.ScopeChanged, "", "the file changed since you read it: %s", path).With("file", path)
}

// hashFile gives the SHA-256 of a file that is no larger than what is read of any, unless the context ends before: a file
// without an end, or a stick that dies, holds nobody.
func hashFile(ctx context.Context, path string) (sum [sha256.Size]byte, err error) {
	f, err := durable.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	in := &progressTeller{ctx: ctx, tell: func(int64, int64) {}, in: io.LimitReader(f, wire.MaxFileBytes+1)}
	n, err := io.Copy(h, in)
	switch {
	case ctx.Err() != nil:
		return sum, errInterrupted
	case err != nil:
		return sum, wire.Errorf(wire.IOError, "", "%w", err)
	case n > wire.MaxFileBytes:
		return sum, wire.Errorf(wire.InvalidInput, "", "%s is over %d bytes", path, wire.MaxFileBytes)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// screenQuestions asks on the screen for what opens a key. It is an hsm.PINSource.
type screenQuestions struct {
	road  *road
	asks  tui.Asks
	wrong bool // what was given last was
}

// PIN asks for the PIN of a token.
func (q *screenQuestions) PIN(ctx context.Context, info hsm.TokenInfo) ([]byte, error) {
	token := shownToken(info)
	token.Wrong = q.wrong
	return q.asks.PIN(ctx, token)
}

// passphrase asks for that of a key file, where the environment does not give it.
func (q *screenQuestions) passphrase(ctx context.Context) ([]byte, error) {
	if value := q.road.app.getenv(passphraseVariable); value != "" {
		return []byte(value), nil
	}
	return q.asks.PIN(ctx, tui.Token{File: true, Label: review.Escape(q.road.key.path), Wrong: q.wrong})
}

func shownToken(info hsm.TokenInfo) tui.Token {
	return tui.Token{Label: review.Escape(info.Label), Serial: review.Escape(info.Serial), State: info.PIN.String(), Keypad: info.PINPad}
}
