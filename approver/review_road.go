package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/tui"
)

// A road is the one road as the screen has it walked: one thing is open at a time.
type road struct {
	app    *app
	flags  *screenFlags
	busy   sync.Mutex // held by what reads or signs
	memory *memory    // of what is open; nil where nothing is
	path   string     // of the file
	sha256 [sha256.Size]byte
	*candidate
	opened  *tui.Opened       // what is open, as the screen has it
	reasons map[string]string // of the declines that were made of it, by what would be signed
	written signatureFlags    // by which it was signed: where it is
	signed  *ceremony.Signed
	bar     error // why what is open is not approved
	refused error // the last refusal at signing of what is open
	lost    error // it was signed and recorded, and did not get where it should
}

func (r *road) functions() *tui.Road {
	return &tui.Road{Open: r.open, Sign: r.sign, Places: places, List: listFolder, Watch: watchFolder, Hint: hintOnScreen}
}

// hintOnScreen gives what to try after a refusal.
func hintOnScreen(err error) string {
	details := map[string]any{}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		details = e.Details
	}
	return hint("approver review", wire.CodeOf(err), wire.ReasonOf(err), details)
}

// wait waits until nothing reads or signs any more.
func (r *road) wait() {
	r.busy.Lock()
	defer r.busy.Unlock()
}

// end closes what is open, and records how it ended.
func (r *road) end(err *error) {
	r.wait()
	r.reset(*err)
}

// reset ends what is open with an error.
func (r *road) reset(err error) {
	if err == nil && r.signed == nil {
		err = r.leaving(errInterrupted)
	}
	r.candidate.close()
	r.memory.end(&err)
	r.candidate, r.memory, r.opened, r.path, r.bar, r.refused = nil, nil, nil, "", nil, nil
}

// leaving gives how what is open ends where somebody leaves it: with the last refusal at signing, with what forbids it, else as
// it is said.
func (r *road) leaving(left error) error {
	switch {
	case r.signed != nil || r.lost != nil || r.opened == nil || wire.ReasonOf(left) != "not-confirmed":
		return left
	case r.refused != nil:
		return r.refused
	case r.review.Stop() != nil:
		return r.review.Stop()
	}
	return left
}

// refuses notes a refusal at signing. That somebody stopped takes nothing back of one before it.
func (r *road) refuses(err error) {
	if err != nil && (r.refused == nil || wire.ReasonOf(err) != "not-confirmed") {
		r.refused = err
	}
}

// open reads a file and reviews it. What was open before ends unsigned.
func (r *road) open(ctx context.Context, path string, progress func(done, all int64)) (*tui.Opened, error) {
	r.busy.Lock()
	defer r.busy.Unlock()
	if ctx.Err() != nil { // nobody waits for it any more: what was opened since stays
		return nil, errInterrupted
	}
	r.reset(nil)
	opened, err := r.read(ctx, path, progress)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if err == nil {
		r.opened = opened
		return opened, nil
	}
	r.reset(err)
	return nil, err
}

func (r *road) read(ctx context.Context, path string, progress func(done, all int64)) (*tui.Opened, error) {
	head, err := fileHead(path)
	if err != nil {
		return nil, err
	}
	what := ledger.WhatBatch
	if head.Kind == tui.SetFile || head.Kind == tui.SetSignatureFile {
		what = ledger.WhatSet
	}
	f := *r.flags
	f.scope = path
	if r.memory, err = r.app.remember(&f.signatureFlags, f.command, ledger.Signed, what); err != nil {
		return nil, err
	}
	r.memory.watch = (&progressTeller{ctx: ctx, tell: progress}).of
	if err := refuseOther(path, head.Kind); err != nil {
		return nil, err
	}
	o := &tui.Opened{Path: review.Escape(path)}
	if whole, err := filepath.Abs(path); err == nil {
		o.Folder = filepath.Dir(whole)
	}
	if what == ledger.WhatSet {
		err = r.openChange(ctx, &f, o)
	} else {
		err = r.openBatch(ctx, &f, o)
	}
	if err != nil {
		return nil, err
	}
	r.path, r.sha256 = path, o.SHA256
	o.Review, o.Holder = r.review, r
	if r.key == nil {
		return o, nil
	}
	if public := r.key.public(); !public.IsZero() {
		o.Key = public.KID().String()
	}
	if err := r.tryOutput(); err != nil && r.flags.out == "" && r.place(false) != "" && r.bar == nil {
		r.barApproval(o, err, "; --out names another file")
	} else if err != nil && r.bar == nil {
		return nil, err
	}
	return o, nil
}

// refuseOther refuses what is known to be a file of another kind. A list may be bare leaves, and what is not known is refused by
// its reader.
func refuseOther(path string, kind tui.FileKind) error {
	if kind.Reviewable() || kind == tui.UnknownFile || kind == tui.ExpectedFile {
		return nil
	}
	article := "a "
	if strings.ContainsRune("aeiou", rune(kind.String()[0])) {
		article = "an "
	}
	return wire.Errorf(wire.InvalidInput, "", "%s is %s%s; wanted: a scope, an approver set, or a signature over one", path, article, kind).With("file", path)
}

func (r *road) openBatch(ctx context.Context, f *screenFlags, o *tui.Opened) error {
	f.memory = r.memory
	r.memory.hashes = true
	key, err := r.app.signingKey(f.key)
	if err != nil {
		return err
	}
	var batch *readBatch
	if key == "" {
		r.barApproval(o, errNoKey, "")
		batch, err = r.app.lookAt(&f.decision)
	} else {
		batch, err = r.app.readBatch(ctx, &f.decision)
	}
	r.candidate = batch.candidate()
	switch {
	case approvedBefore(batch.review, err):
		r.barApproval(o, err, "")
	case err != nil:
		return err
	}
	v := batch.decoded.Verified()
	if r.memory.entry.File == nil { // it grew, or its stick was pulled, while it was read
		return errFileChanged(f.scope)
	}
	o.SHA256 = r.memory.entry.File.SHA256
	o.NotAfter = r.closes
	o.RootSays = "Computed here from the leaves. It is the root that the file declares."
	if v.Header().Bare {
		o.RootSays = "Computed here from the leaves; the file declares none."
	}
	o.Leaf = func(operation, subject int) (tui.Leaf, error) {
		hash, proof, err := batch.decoded.LeafOf(operation, subject)
		return tui.Leaf{Hash: hash, Size: v.Scope().Size(), Proof: proof}, err
	}
	if r.key == nil {
		return nil
	}
	r.reasons = make(map[string]string)
	o.Decline = func(reason string) (*review.Review, error) {
		if err := wire.CheckReason(reason); err != nil {
			return nil, err
		}
		r.busy.Lock()
		defer r.busy.Unlock()
		d, err := batch.decoded.ReviewDecline(batch.policy, reason)
		if err == nil {
			r.reasons[string(d.Statement().Input())] = reason
		}
		return d, err
	}
	return nil
}

// openChange reads a change of the approver set.
func (r *road) openChange(ctx context.Context, f *screenFlags, o *tui.Opened) (err error) {
	if len(f.approvers) > 0 {
		return usage("--approvers goes with a scope; a change says itself which set it makes, and --current which is in force")
	}
	before, err := hashFile(ctx, f.scope)
	if err != nil {
		return err
	}
	domain, err := r.app.givenTrustDomain(f.trustDomain)
	if err != nil {
		return err
	}
	set := &approversFlags{signatureFlags: f.signatureFlags, file: f.scope, trustDomain: f.trustDomain, current: f.current, now: f.now, signatures: f.signatures, names: f.names}
	set.proofs = f.proofs
	key, err := r.app.signingKey(f.key)
	switch {
	case err != nil:
		return err
	case key == "":
		r.barApproval(o, errNoKey, "")
		r.candidate, err = r.app.lookAtChange(set, domain, r.memory)
	default:
		r.candidate, err = r.app.reviewSet(ctx, set, domain, r.memory)
	}
	switch {
	case approvedBefore(r.review, err):
		r.barApproval(o, err, "")
	case err != nil:
		return err
	}
	if o.SHA256, err = hashFile(ctx, f.scope); err == nil && o.SHA256 != before {
		err = errFileChanged(f.scope)
	}
	return err
}
