package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A memory is the ledger during one review: what it knows is held against the review, and how the review ends goes into it.
// Once something was read to review, an end without a signature is recorded too.
type memory struct {
	app      *app
	ledger   *ledger.Ledger // nil with --no-ledger
	folder   string
	entry    ledger.Entry
	subjects ledger.Subjects
	found    []review.Finding
	watch    func(io.Reader, int64) io.Reader // of what is read, so many bytes; nil is nobody
	hashes   bool                             // what is read is hashed without a ledger too
	begun    bool                             // something was read, so that its end is recorded
	ended    bool
	reviewed string // the path of the file

	unattended bool // nobody is asked
	pending    *ledger.Pending
	receipt    *ledger.Receipt // of a signature
}

// remember opens the ledger for a review. Close it with end.
func (a *app) remember(f *signatureFlags, command string, outcome ledger.Outcome, what ledger.What) (*memory, error) {
	m := &memory{app: a, unattended: f.yes, entry: ledger.Entry{Command: command, Outcome: outcome, What: what}}
	if f.noLedger {
		m.found = append(m.found, review.NewFinding(review.NoLedger, review.Escape("--no-ledger: nothing is recorded, and nothing was looked up")))
		return m, nil
	}
	folder, elsewhere, err := a.stateFolder(f.state)
	if err != nil {
		return nil, err
	}
	if elsewhere != "" {
		m.found = append(m.found, review.NewFinding(review.NoLedger,
			review.Escape("--state names another ledger than the one of this machine"), review.Escape(folder), review.Escape(elsewhere)))
	}
	if m.entry.Program, err = ledger.ThisProgram(version); err != nil {
		return nil, err
	}
	m.folder = folder
	if m.ledger, err = ledger.Open(folder); err != nil {
		return m, ofLedger(err, folder)
	}
	return m, nil
}

// recall opens the ledger to look up what is only shown: nothing is written, and where there is none, or no place for one,
// nothing is known. Close it with forget.
func (a *app) recall(state string) (*memory, error) {
	m := &memory{app: a, entry: ledger.Entry{Outcome: ledger.Signed, What: ledger.WhatBatch}}
	folder, _, err := a.stateFolder(state)
	if err != nil && state == "" {
		return m, nil
	}
	if err == nil {
		m.folder = folder
		m.ledger, err = ledger.OpenReadOnly(folder)
	}
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		return m, nil
	case wire.ReasonOf(err) == "ledger-in-use":
		m.found = append(m.found, review.NewFinding(review.NoLedger, review.Escape("another review has the ledger open: nothing was looked up")))
		return m, nil
	}
	return m, err
}

// forget closes what recall opened, so that nobody waits for whoever reads.
func (m *memory) forget() {
	if m.ledger != nil {
		m.ledger.Close()
		m.ledger = nil
	}
}

// ofLedger marks an error of the disk as one of the ledger's.
func ofLedger(err error, folder string) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Code == wire.IOError {
		return e.With("ledger", folder)
	}
	return err
}

// announce says before the question that nothing is known from before: on another laptop, or with the ledger lost, that is how
// it shows.
func (m *memory) announce() {
	if m.ledger == nil || m.app.json {
		return
	}
	if head, err := m.ledger.Head(); err == nil && head.Seq == 0 {
		fmt.Fprintf(m.app.stderr, "\nThis begins a NEW ledger in %s:\nnothing is known here of what you signed or declined before.\n", review.Escape(m.folder))
	}
}

// at notes when the review is.
func (m *memory) at(t review.Time) {
	m.entry.At, m.entry.Clock = uint64(max(0, t.Now.UnixMilli())), ledger.ClockSystem
	if t.ByHand {
		m.entry.Clock = ledger.ClockByHand
	}
}

// reads gives the file that is reviewed as it is read, and notes what it was. done is called with it read as far as anybody
// wanted.
func (m *memory) reads(f *os.File) (r io.Reader, done func()) {
	if m == nil || m.ledger == nil && !m.hashes {
		return f, func() {}
	}
	m.begun, m.reviewed = true, f.Name()
	if !m.records() && !m.hashes {
		return f, func() {}
	}
	h := sha256.New()
	r = io.TeeReader(f, h)
	if info, err := f.Stat(); m.watch != nil && err == nil {
		r = m.watch(r, info.Size())
	}
	return r, func() {
		info, err := f.Stat()
		if err != nil || info.Size() > wire.MaxFileBytes {
			return
		}
		if _, err := io.Copy(h, f); err == nil { // what a refusal left unread
			m.entry.File = &ledger.File{SHA256: ledger.Hash(h.Sum(nil)), Size: uint64(info.Size())}
		}
	}
}

// records tells whether the end of the review will be recorded: not with --no-ledger, nor by a command that only looks up.
func (m *memory) records() bool { return m.ledger != nil && m.entry.Command != "" }

// settings notes by what the review was judged; empty values are none.
func (m *memory) settings(values map[string]string) {
	if !m.records() {
		return
	}
	m.entry.Policy = make(map[string]string)
	if m.unattended {
		m.entry.Policy["yes"] = "true"
	}
	for name, value := range values {
		if value == "" {
			continue
		}
		m.entry.Policy[name] = value
		if slices.Contains(filesOfPolicy, name) {
			if file := fileAt(value); file != nil {
				m.entry.Policy[name+"Sha256"] = file.SHA256.String()
			}
		}
	}
	if m.entry.What == ledger.WhatSet {
		m.entry.File = fileAt(values["approvers"])
	}
}

// filesOfPolicy are the settings that name a file which is read once more for its digest: what it held stands beside its path.
var filesOfPolicy = []string{"configuration", "current", "approvers"}

// fileAt gives what a file holds, nil where there is not one of that name.
func fileAt(path string) *ledger.File {
	if path == "" {
		return nil
	}
	data, err := durable.ReadFile(path, wire.MaxFileBytes)
	if err != nil {
		return nil
	}
	return fileOf(data)
}

// fileOf gives what a file held that was read.
func fileOf(data []byte) *ledger.File {
	return &ledger.File{SHA256: sha256.Sum256(data), Size: uint64(len(data))}
}

// key notes the key as far as it is known, which may be before it is opened.
func (m *memory) key(k *foundKey, public quorum.PublicKey) error {
	if m.ledger == nil {
		return nil
	}
	key := &ledger.Key{KID: placeholderKID}
	if !public.IsZero() {
		key.KID = public.KID()
	}
	if k.token != nil {
		info := k.token.Info()
		key.TokenLabel, key.TokenSerial = info.Label, info.Serial
		switch digest, err := digestOf(k.module); {
		case err == nil:
			key.Module = &digest
		case wire.CodeOf(err) != wire.NotFound: // the embedded one of the demo is no file
			return err
		}
	}
	m.entry.Key = key
	return nil
}

// digestOf reads a file for its SHA-256 alone.
func digestOf(path string) (ledger.Hash, error) {
	f, err := durable.Open(path)
	if err != nil {
		return ledger.Hash{}, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return ledger.Hash(h.Sum(nil)), written(err)
}

// placeholderKID stands for a key that nobody knows before it is opened, where room is made for the record.
var placeholderKID, _ = quorum.ParseKID(strings.Repeat("A", 43))

// finds notes what was found.
func (m *memory) finds(found []review.Finding) {
	m.entry.Findings = nil
	for _, f := range found {
		m.entry.Findings = append(m.entry.Findings, string(f.Rule))
	}
}

// ready notes what was found, holds the review against what the ledger knows, and proves that there is room for the record: a
// disk without any is told before anybody reads anything.
func (m *memory) ready(found []review.Finding, kid quorum.KID) error {
	m.finds(found)
	if err := m.check(kid); err != nil {
		return err
	}
	return m.prepare()
}

// check holds the review against what the ledger knows, for a key that may be zero yet.
func (m *memory) check(kid quorum.KID) error {
	if m.ledger == nil {
		return nil
	}
	if m.entry.Clock == ledger.ClockSystem {
		if err := m.ledger.CheckClock(m.entry.At); err != nil {
			return err
		}
	}
	switch e := &m.entry; {
	case e.Outcome == ledger.Declined:
		return m.ledger.CheckDecline(*e.Batch)
	case e.What == ledger.WhatSet:
		return m.ledger.CheckSet(kid, *e.Set)
	default:
		return m.ledger.CheckBatch(kid, *e.Batch)
	}
}

// prepare proves that the record can be written, before a key is opened.
func (m *memory) prepare() (err error) {
	if m.ledger != nil {
		m.pending, err = m.ledger.Begin(m.entry, m.subjects)
	}
	return ofLedger(err, m.folder)
}

// opened holds the review against the ledger once more where the key was not known before it was opened.
func (m *memory) opened(public quorum.PublicKey) error {
	if m.ledger == nil || m.entry.Key.KID == public.KID() {
		return nil
	}
	m.entry.Key.KID = public.KID()
	if err := m.check(public.KID()); err != nil {
		return err
	}
	return m.prepare()
}

// keep records a signature. Only then may it go anywhere.
func (m *memory) keep(signature quorum.Signature) (err error) {
	if m.ledger == nil {
		return nil
	}
	if m.receipt, err = m.pending.Append(&signature); err == nil {
		m.ended = true
	}
	return err
}

// end records that the review ended with a refusal, and closes the ledger. A command line that does not hold together is no
// review.
func (m *memory) end(err *error) {
	if m == nil || m.ledger == nil {
		return
	}
	defer m.ledger.Close()
	if *err == nil || !m.begun && !m.readsAll(*err) || m.ended || isUsage(*err) {
		return
	}
	if m.entry.At == 0 {
		m.at(review.Time{Now: m.app.now()})
	}
	e := m.entry
	e.Outcome, e.Refusal, e.Reason = ledger.Refused, ledger.RefusalOf(*err), ""
	if e.Key != nil && e.Key.KID == placeholderKID {
		e.Key = nil
	}
	if _, failed := m.ledger.Refuse(e, m.subjects); failed != nil {
		fmt.Fprintln(m.app.stderr, "warning: the refusal is not recorded:", review.Escape(wire.MessageOf(failed)))
	}
}

// readsAll tells whether an error is worth a record though nothing was noted yet: what was read of a set is none, or a command
// line contradicts what is configured.
func (m *memory) readsAll(err error) bool {
	code := wire.CodeOf(err)
	if m.entry.What == ledger.WhatSet && code == wire.InvalidInput {
		if e, ok := errors.AsType[*wire.Error](err); ok && m.entry.File == nil {
			path, _ := e.Details["file"].(string)
			m.entry.File = fileAt(path)
		}
		return true
	}
	return code == wire.TrustDomainMismatch || code == wire.InvalidConfig
}

// handedOut says of a signature that is recorded and did not get where it should that it is not lost.
func (m *memory) handedOut(err error) error {
	if err == nil || m.receipt == nil {
		return err
	}
	e := wire.Errorf(wire.IOError, "", "the signature is made and recorded, and was not handed out: %s", wire.MessageOf(err))
	return e.With("seq", m.receipt.Head().Seq).With("signed", true)
}
