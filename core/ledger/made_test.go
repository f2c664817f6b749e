package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	return ledger.NewSubjects(0, func(yield func(string) bool) {
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
