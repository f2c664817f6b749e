package ledger_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

const (
	noon   = uint64(4102444800000)
	hour   = uint64(time.Hour / time.Millisecond)
	domain = "compute.example.com"
)

// kids are three keys' names; alice, bob and carol.
var alice, bob, carol = newKID("alice"), newKID("bob"), newKID("carol")

func newKID(name string) quorum.KID {
	sum := sha256.Sum256([]byte(name))
	kid, err := quorum.ParseKID(wire.EncodeBase64URL(sum[:]))
	if err != nil {
		panic(err)
	}
	return kid
}

func hashOf(text string) ledger.Hash { return sha256.Sum256([]byte(text)) }

// batch gives a batch of an id, whose root is that of the id's first letters up to a slash: "b1/other" is b1 with another root.
func batch(id string, size int) ledger.Batch {
	name, _, _ := strings.Cut(id, "/")
	return ledger.Batch{ID: name, Root: hashOf(id), Size: uint64(size), NotAfter: noon + 72*hour, TrustDomain: domain}
}

// signing gives the entry of a batch that is about to be signed.
func signing(kid quorum.KID, at uint64, b ledger.Batch) ledger.Entry {
	return ledger.Entry{
		At: at, Clock: ledger.ClockSystem, Outcome: ledger.Signed, What: ledger.WhatBatch, Command: "batch sign",
		File: &ledger.File{SHA256: hashOf("file"), Size: 1234}, Batch: &b,
		Findings: []string{"no-expect", "clock-by-hand"},
		Policy:   map[string]string{"trustDomain": domain, "max-hours": "72", "note": "a \"quoted\" \u202e text\n"},
		Key:      &ledger.Key{KID: kid, TokenLabel: "HSM \x1b[31m", TokenSerial: "0001", Module: new(hashOf("module"))},
		Program:  ledger.Program{Version: "1.0.0", SHA256: hashOf("binary")},
	}
}

func byHand(e ledger.Entry) ledger.Entry {
	e.Clock = ledger.ClockByHand
	return e
}

func declining(kid quorum.KID, at uint64, b ledger.Batch, reason string) ledger.Entry {
	e := signing(kid, at, b)
	e.Outcome, e.Command, e.Reason = ledger.Declined, "batch decline", reason
	return e
}

func changing(kid quorum.KID, at, epoch uint64, set string) ledger.Entry {
	e := signing(kid, at, batch("b", 1))
	e.What, e.Command, e.Batch = ledger.WhatSet, "batch sign-approvers", nil
	e.Set = &ledger.SetChange{Epoch: epoch, Digest: hashOf(set), TrustDomain: domain}
	return e
}

func refusing(at uint64, code wire.Code, reason string) ledger.Entry {
	e := signing(alice, at, batch("b", 1))
	e.Outcome, e.Refusal, e.Batch, e.Key, e.File = ledger.Refused, &ledger.Refusal{Code: code, Reason: reason}, nil, nil, nil
	return e
}

func signature(kid quorum.KID) *quorum.Signature {
	s := &quorum.Signature{KID: kid}
	copy(s.Sig[:], bytes.Repeat([]byte{7}, len(s.Sig)))
	return s
}

func subjects(from, to int) ledger.Subjects {
	return ledger.NewSubjects(func(yield func(string) bool) {
		for i := from; i < to && yield(fmt.Sprintf("node-%05d", i)); i++ {
		}
	})
}

func open(t testing.TB, dir string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func reopen(t testing.TB, l *ledger.Ledger, dir string) *ledger.Ledger {
	t.Helper()
	require.NoError(t, l.Close())
	return open(t, dir)
}

func home(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "approver") }

// add records an entry that must be taken.
func add(t testing.TB, l *ledger.Ledger, e ledger.Entry, s ledger.Subjects) *ledger.Receipt {
	t.Helper()
	p, err := l.Begin(e, s)
	require.NoError(t, err)
	var sig *quorum.Signature
	if e.Outcome != ledger.Refused {
		sig = signature(e.Key.KID)
	}
	r, err := p.Append(sig)
	require.NoError(t, err)
	return r
}

func requireCode(t testing.TB, err error, code wire.Code, reason string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
	require.Equal(t, reason, wire.ReasonOf(err), "%v", err)
}

func verified(t testing.TB, l *ledger.Ledger) *ledger.Chain {
	t.Helper()
	c, err := l.Verify()
	require.NoError(t, err)
	head, err := l.Head()
	require.NoError(t, err)
	require.Equal(t, head, c.Head())
	return c
}

func exported(t testing.TB, l *ledger.Ledger) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, l.Export(&b))
	return b.Bytes()
}

// A ledger of every kind of record.
func filled(t testing.TB, dir string) (*ledger.Ledger, []*ledger.Receipt) {
	t.Helper()
	l := open(t, dir)
	var receipts []*ledger.Receipt
	for i, e := range []ledger.Entry{
		signing(alice, noon, batch("b1", 3)),
		refusing(noon-5*hour, wire.InvalidState, "clock"),
		declining(bob, noon+1, batch("b2", 9), "not my machines \U0001f525 \u202e"),
		changing(alice, noon+2, 2, "set two"),
		refusing(noon+3, wire.IOError, ""),
		signing(bob, noon+4, batch("b1", 3)),
	} {
		s := ledger.Subjects{}
		if e.Outcome == ledger.Signed && e.Batch != nil {
			s = subjects(0, 3+i)
		}
		receipts = append(receipts, add(t, l, e, s))
	}
	return l, receipts
}

func TestRecordsComeBack(t *testing.T) {
	dir := home(t)
	l, receipts := filled(t, dir)
	l = reopen(t, l, dir)
	n := 0
	for rec, err := range l.Records(1) {
		require.NoError(t, err)
		require.Equal(t, receipts[n].Record().Encode(), rec.Encode())
		require.Equal(t, receipts[n].Head(), rec.Head())
		n++
	}
	require.Len(t, receipts, n)
	c := verified(t, l)
	require.Equal(t, receipts[n-1].Head(), c.Head())
	require.Len(t, c.Head().Words(), 32)
	for i, r := range receipts {
		require.NoError(t, c.VerifyReceipt(r))
		seq, err := c.VerifyHead(r.Head().Hash)
		require.NoError(t, err)
		require.Equal(t, uint64(i+1), seq)
		again, err := ledger.ParseReceipt(r.Encode())
		require.NoError(t, err)
		require.Equal(t, r, again)
	}
	for rec, err := range l.Records(4) {
		require.NoError(t, err)
		require.Equal(t, uint64(4), rec.Seq)
		require.Equal(t, "a \"quoted\" \u202e text\n", rec.Policy["note"])
		break
	}
}

// The folder is the user's own, and nobody else can write what is in it.
func TestFolderAndFileAreOurs(t *testing.T) {
	dir := home(t)
	l, _ := filled(t, dir)
	require.NoError(t, l.Close())
	at := func(name string) string { return filepath.Join(dir, name) }
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Dir(dir): 0o700, at("ledger.db"): 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), path)
	}
	for name, damage := range map[string]func(dir string) error{
		"folder others write": func(dir string) error { return os.Chmod(dir, 0o777) },
		"folder group writes": func(dir string) error { return os.Chmod(dir, 0o720) },
		"file others write":   func(dir string) error { return os.Chmod(filepath.Join(dir, "ledger.db"), 0o602) },
		"link": func(dir string) error {
			return errorsOf(os.Rename(filepath.Join(dir, "ledger.db"), filepath.Join(dir, "x")), os.Symlink("x", filepath.Join(dir, "ledger.db")))
		},
		"dangling link": func(dir string) error {
			return errorsOf(os.Remove(filepath.Join(dir, "ledger.db")), os.Symlink("x", filepath.Join(dir, "ledger.db")))
		},
		"two names": func(dir string) error { return os.Link(filepath.Join(dir, "ledger.db"), filepath.Join(dir, "x")) },
		"a folder": func(dir string) error {
			return errorsOf(os.Remove(filepath.Join(dir, "ledger.db")), os.Mkdir(filepath.Join(dir, "ledger.db"), 0o700))
		},
		"a FIFO": func(dir string) error {
			return errorsOf(os.Remove(filepath.Join(dir, "ledger.db")), unix.Mkfifo(filepath.Join(dir, "ledger.db"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "copy")
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			require.NoError(t, os.Chmod(copied, 0o700))
			require.NoError(t, os.Chmod(filepath.Join(copied, "ledger.db"), 0o600))
			require.NoError(t, damage(copied))
			for _, open := range []func(string) (*ledger.Ledger, error){ledger.Open, ledger.OpenReadOnly} {
				_, err := open(copied)
				require.Error(t, err)
				require.Contains(t, []wire.Code{wire.InvalidState, wire.IOError}, wire.CodeOf(err), "%v", err)
			}
		})
	}
	_, err := ledger.OpenReadOnly(filepath.Join(dir, "absent"))
	requireCode(t, err, wire.NotFound, "")
	empty := t.TempDir()
	require.NoError(t, os.Chmod(empty, 0o700))
	_, err = ledger.OpenReadOnly(empty)
	requireCode(t, err, wire.NotFound, "")
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// Whoever has it open is alone, or shares it with others that read.
func TestOneWriterOrReaders(t *testing.T) {
	dir := home(t)
	l, _ := filled(t, dir)
	start := time.Now()
	_, err := ledger.Open(dir)
	requireCode(t, err, wire.InvalidState, "ledger-in-use")
	_, err = ledger.OpenReadOnly(dir)
	requireCode(t, err, wire.InvalidState, "ledger-in-use")
	require.Less(t, time.Since(start), 20*time.Second)
	require.NoError(t, l.Close())

	one, err := ledger.OpenReadOnly(dir)
	require.NoError(t, err)
	two, err := ledger.OpenReadOnly(dir)
	require.NoError(t, err)
	verified(t, one)
	verified(t, two)
	_, err = ledger.Open(dir)
	requireCode(t, err, wire.InvalidState, "ledger-in-use")
	_, err = one.Begin(signing(carol, noon+hour, batch("b9", 1)), subjects(0, 1))
	requireCode(t, err, wire.IOError, "")
	require.NoError(t, one.Close())
	require.NoError(t, two.Close())
	open(t, dir)
}

// What cannot be recorded is refused before anything is signed.
func TestBeginHoldsTheRules(t *testing.T) {
	l := open(t, home(t))
	for name, change := range map[string]func(e *ledger.Entry){
		"outcome":        func(e *ledger.Entry) { e.Outcome = "" },
		"clock":          func(e *ledger.Entry) { e.Clock = "sundial" },
		"what":           func(e *ledger.Entry) { e.What = "" },
		"command":        func(e *ledger.Entry) { e.Command = "batch sign; rm" },
		"no batch":       func(e *ledger.Entry) { e.Batch = nil },
		"no key":         func(e *ledger.Entry) { e.Key = nil },
		"both":           func(e *ledger.Entry) { e.Set = &ledger.SetChange{Epoch: 1, TrustDomain: domain} },
		"refusal":        func(e *ledger.Entry) { e.Refusal = &ledger.Refusal{Code: wire.IOError} },
		"reason":         func(e *ledger.Entry) { e.Reason = "x" },
		"no reason":      func(e *ledger.Entry) { e.Outcome = ledger.Declined },
		"long reason":    func(e *ledger.Entry) { e.Outcome, e.Reason = ledger.Declined, strings.Repeat("\U0001f525", 251) },
		"batch id":       func(e *ledger.Entry) { e.Batch.ID = "-b" },
		"size":           func(e *ledger.Entry) { e.Batch.Size = 50_001 },
		"trust domain":   func(e *ledger.Entry) { e.Batch.TrustDomain = "" },
		"time":           func(e *ledger.Entry) { e.At = 1 << 53 },
		"finding":        func(e *ledger.Entry) { e.Findings = []string{"No"} },
		"setting":        func(e *ledger.Entry) { e.Policy = map[string]string{"1": "x"} },
		"a large policy": func(e *ledger.Entry) { e.Policy = map[string]string{"x": strings.Repeat("y", ledger.MaxRecordBytes)} },
		"epoch": func(e *ledger.Entry) {
			e.What, e.Batch, e.Set = ledger.WhatSet, nil, &ledger.SetChange{TrustDomain: domain}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := signing(alice, noon, batch("b1", 1))
			change(&e)
			_, err := l.Begin(e, ledger.Subjects{})
			requireCode(t, err, wire.InvalidInput, "")
		})
	}
	p, err := l.Begin(signing(alice, noon, batch("b1", 1)), ledger.Subjects{})
	require.NoError(t, err)
	for _, sig := range []*quorum.Signature{nil, signature(bob)} {
		_, err = p.Append(sig)
		requireCode(t, err, wire.InvalidInput, "")
	}
	head, err := l.Head()
	require.NoError(t, err)
	require.Zero(t, head)
	_, err = p.Append(signature(alice))
	require.NoError(t, err)
	_, err = p.Append(signature(alice))
	requireCode(t, err, wire.InvalidState, "already-approved")
	verified(t, l)
}

func TestWhatWasSignedBefore(t *testing.T) {
	dir := home(t)
	l, _ := filled(t, dir)
	l = reopen(t, l, dir)
	staging := batch("b1/other", 3)
	staging.TrustDomain = "staging.example.com"
	for name, c := range map[string]struct {
		err    error
		code   wire.Code
		reason string
	}{
		"signed":                   {l.CheckBatch(alice, batch("b1", 3)), wire.InvalidState, "already-approved"},
		"by another key":           {l.CheckBatch(carol, batch("b1", 3)), "", ""},
		"another root":             {l.CheckBatch(carol, batch("b1/other", 3)), wire.Conflict, ""},
		"another trust domain":     {l.CheckBatch(alice, staging), "", ""},
		"another batch":            {l.CheckBatch(alice, batch("b3", 3)), "", ""},
		"declined":                 {l.CheckBatch(alice, batch("b2", 9)), "", ""},
		"declined by this key":     {l.CheckBatch(bob, batch("b2", 9)), "", ""},
		"declined, another root":   {l.CheckBatch(alice, batch("b2/other", 9)), wire.Conflict, ""},
		"refused":                  {l.CheckBatch(alice, batch("b/other", 1)), "", ""},
		"decline what was signed":  {l.CheckDecline(batch("b1", 3)), "", ""},
		"decline another root":     {l.CheckDecline(batch("b1/other", 3)), wire.Conflict, ""},
		"set signed":               {l.CheckSet(alice, ledger.SetChange{Epoch: 2, Digest: hashOf("set two"), TrustDomain: domain}), wire.InvalidState, "already-approved"},
		"set, by another key":      {l.CheckSet(bob, ledger.SetChange{Epoch: 2, Digest: hashOf("set two"), TrustDomain: domain}), "", ""},
		"another set":              {l.CheckSet(bob, ledger.SetChange{Epoch: 2, Digest: hashOf("x"), TrustDomain: domain}), wire.Conflict, ""},
		"another epoch":            {l.CheckSet(alice, ledger.SetChange{Epoch: 3, Digest: hashOf("set two"), TrustDomain: domain}), "", ""},
		"another domain's set":     {l.CheckSet(alice, ledger.SetChange{Epoch: 2, Digest: hashOf("x"), TrustDomain: "x"}), "", ""},
		"the clock of the last":    {l.CheckClock(noon + 4), "", ""},
		"a clock before the last":  {l.CheckClock(noon + 3), wire.InvalidState, "clock"},
		"begin with such a clock":  {begin(l, signing(carol, noon, batch("b9", 1))), wire.InvalidState, "clock"},
		"by hand, before the last": {begin(l, byHand(signing(carol, noon, batch("b9", 1)))), "", ""},
		"refuse with such a clock": {begin(l, refusing(noon, wire.InvalidState, "clock")), "", ""},
		"begin a conflict":         {begin(l, declining(carol, noon+9, batch("b1/other", 1), "x")), wire.Conflict, ""},
		"begin what was signed":    {begin(l, signing(alice, noon+9, batch("b1", 3))), wire.InvalidState, "already-approved"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.code == "" {
				require.NoError(t, c.err)
				return
			}
			requireCode(t, c.err, c.code, c.reason)
		})
	}
}

func begin(l *ledger.Ledger, e ledger.Entry) error {
	_, err := l.Begin(e, ledger.Subjects{})
	return err
}

func TestSubjectsWithin24Hours(t *testing.T) {
	l := open(t, home(t))
	add(t, l, signing(alice, noon, batch("old", 10)), subjects(0, 10))
	add(t, l, signing(alice, noon+2*hour, batch("b1", 10)), subjects(5, 15))
	add(t, l, signing(bob, noon+3*hour, batch("b1", 10)), subjects(5, 15))
	staging := batch("b3", 10)
	staging.TrustDomain = "staging.example.com"
	add(t, l, signing(alice, noon+3*hour, staging), subjects(0, 50))
	found := func(id string, s ledger.Subjects, now uint64) ledger.Overlap {
		o, err := l.ApprovedSubjects(batch(id, 10), s, now)
		require.NoError(t, err)
		return o
	}
	require.Equal(t, ledger.Overlap{Subjects: 15, Batches: []string{"b1", "old"}, BatchCount: 2}, found("b2", subjects(0, 40), noon+4*hour))
	require.Equal(t, ledger.Overlap{Subjects: 10, Batches: []string{"b1"}, BatchCount: 1}, found("b2", subjects(0, 40), noon+24*hour+1))
	require.Equal(t, ledger.Overlap{Subjects: 15, Batches: []string{"b1", "old"}, BatchCount: 2}, found("b2", subjects(0, 40), noon+24*hour))
	require.Equal(t, ledger.Overlap{Subjects: 10, Batches: []string{"old"}, BatchCount: 1}, found("b1", subjects(0, 40), noon+4*hour), "behind the batch itself")
	require.Zero(t, found("b2", subjects(15, 40), noon+4*hour))
	require.Zero(t, found("b2", subjects(0, 40), noon+27*hour+1))
	require.Zero(t, found("b2", ledger.Subjects{}, noon+4*hour))

	add(t, l, signing(alice, noon+25*hour, batch("b4", 1)), subjects(0, 1)) // lets go of "old"
	verified(t, l)
	require.Equal(t, ledger.Overlap{Subjects: 11, Batches: []string{"b4", "b1"}, BatchCount: 2}, found("b2", subjects(0, 40), noon+25*hour))
	for i := range 30 {
		add(t, l, signing(alice, noon+26*hour, batch(fmt.Sprintf("many%d", i), 1)), subjects(i, i+1))
	}
	o := found("b2", subjects(0, 40), noon+26*hour)
	require.Equal(t, 30, o.BatchCount)
	require.Len(t, o.Batches, 20)
	require.Equal(t, "many29", o.Batches[0])
}

func newSet(t testing.TB, threshold uint32, tiers ...quorum.Tier) *quorum.Set {
	t.Helper()
	d := quorum.SetDraft{Threshold: threshold, Tiers: tiers}
	for range 3 {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		public, err := quorum.NewPublicKey(&key.PublicKey)
		require.NoError(t, err)
		d.Keys = append(d.Keys, public)
	}
	set, err := quorum.NewSet(d)
	require.NoError(t, err)
	return set
}

func TestSplitBatches(t *testing.T) {
	l := open(t, home(t))
	set := newSet(t, 3, quorum.Tier{MaxScopeSize: 5, Threshold: 1}, quorum.Tier{MaxScopeSize: 7, Threshold: 1}, quorum.Tier{MaxScopeSize: 50, Threshold: 2})
	splits := func(b ledger.Batch, now uint64) []ledger.Split {
		s, err := l.SplitBatches(b, set, now)
		require.NoError(t, err)
		return s
	}
	require.Empty(t, splits(batch("b0", 5), noon))
	add(t, l, signing(alice, noon, batch("b1", 4)), ledger.Subjects{})
	add(t, l, signing(bob, noon, batch("b1", 4)), ledger.Subjects{}) // counts once
	four := []ledger.Split{
		{Bound: 5, Needed: 2, Sum: 8, Batches: []string{"b1"}, BatchCount: 1},
		{Bound: 7, Needed: 2, Sum: 8, Batches: []string{"b1"}, BatchCount: 1},
	}
	require.Equal(t, four, splits(batch("b2", 4), noon))
	require.Empty(t, splits(batch("b2", 1), noon), "5, and one approval is enough for it")
	require.Empty(t, splits(batch("b2", 3), noon), "7, for which one approval is enough too")
	require.Empty(t, splits(batch("b1", 4), noon), "with itself")
	require.Empty(t, splits(batch("b2", 40), noon), "44 would need no more")
	require.Empty(t, splits(batch("b2", 4), noon+24*hour+1))
	add(t, l, signing(alice, noon+1, batch("b3", 45)), ledger.Subjects{})
	require.Equal(t, append(four, ledger.Split{Bound: 50, Needed: 3, Sum: 53, Batches: []string{"b3", "b1"}, BatchCount: 2}), splits(batch("b2", 4), noon+1))
	require.Empty(t, splits(batch("b2", 51), noon+1), "it is over every bound by itself")
	none, err := l.SplitBatches(batch("b2", 4), nil, noon)
	require.NoError(t, err)
	require.Empty(t, none)
	elsewhere := batch("b2", 4)
	elsewhere.TrustDomain = "staging.example.com"
	require.Empty(t, splits(elsewhere, noon+1))
}

func TestHeadsAreReadAsTheyAreWrittenDown(t *testing.T) {
	h := ledger.Head{Hash: hashOf("x")}
	words := h.Words()
	for _, text := range []string{h.Hash.String(), "\n" + h.Hash.String() + " ", strings.Join(words, " "), strings.ToUpper(strings.Join(words, ", ")), strings.Join(words, "\n")} {
		got, err := ledger.ParseHash(text)
		require.NoError(t, err, text)
		require.Equal(t, h.Hash, got)
	}
	swapped := slices.Clone(words)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	for _, text := range []string{"", "x", strings.ToUpper(h.Hash.String()), h.Hash.String()[1:], strings.Join(words[1:], " "), strings.Join(swapped, " ")} {
		_, err := ledger.ParseHash(text)
		requireCode(t, err, wire.InvalidInput, "")
	}
}

func TestThisProgram(t *testing.T) {
	p, err := ledger.ThisProgram("1.2.3")
	require.NoError(t, err)
	data, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.Equal(t, ledger.Program{Version: "1.2.3", SHA256: sha256.Sum256(data)}, p)
}
