package ledger_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A naive ledger: a list of what was recorded, looked through from end to end.
type naive struct{ done []noted }

type noted struct {
	entry    ledger.Entry
	subjects []int
	receipt  *ledger.Receipt
}

func (m *naive) clock() (newest uint64) {
	for _, d := range m.done {
		if ticks(d.entry) {
			newest = max(newest, d.entry.At)
		}
	}
	return newest
}

// ticks tells whether later times are held against that of an entry: not where its clock may be why it ended so.
func ticks(e ledger.Entry) bool {
	return e.Clock == ledger.ClockSystem && (e.Outcome == ledger.Signed || e.Outcome == ledger.Declined && e.At <= e.Batch.NotAfter)
}

// allows says which code and reason an entry is refused with.
func (m *naive) allows(e ledger.Entry) (code wire.Code, reason string) {
	if e.Outcome == ledger.Refused {
		return "", ""
	}
	if ticks(e) && e.At < m.clock() {
		return wire.InvalidState, "clock"
	}
	for _, d := range m.done {
		if d.entry.Outcome != ledger.Signed {
			continue
		}
		if a, b := d.entry.Batch, e.Batch; a != nil && b != nil && a.ID == b.ID && a.TrustDomain == b.TrustDomain && a.Root != b.Root {
			return wire.Conflict, ""
		}
		if a, b := d.entry.Set, e.Set; a != nil && b != nil && a.Epoch == b.Epoch && a.TrustDomain == b.TrustDomain && a.Digest != b.Digest {
			return wire.Conflict, ""
		}
	}
	for _, d := range m.done {
		if d.entry.Outcome != ledger.Signed || e.Outcome != ledger.Signed || d.entry.Key.KID != e.Key.KID {
			continue
		}
		if a, b := d.entry.Batch, e.Batch; a != nil && b != nil && a.ID == b.ID && a.TrustDomain == b.TrustDomain && a.Root == b.Root {
			return wire.InvalidState, "already-approved"
		}
		if a, b := d.entry.Set, e.Set; a != nil && b != nil && *a == *b {
			return wire.InvalidState, "already-approved"
		}
	}
	return "", ""
}

// others gives what was signed within 24 hours, of other batches of the trust domain, newest first by its time.
func (m *naive) others(b ledger.Batch, now uint64, clock ledger.Clock) (list []noted) {
	end := now
	if clock == ledger.ClockByHand && m.clock() > 0 {
		end = min(end, m.clock())
	}
	for i, d := range m.done {
		if signedBatch(d) && d.entry.Batch.ID != b.ID && d.entry.Batch.TrustDomain == b.TrustDomain && d.entry.At+24*hour >= end && (d.entry.At <= now || d.entry.Clock == ledger.ClockSystem) && !m.leftBehind(i) {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b noted) int { return cmp.Compare(a.entry.At, b.entry.At) })
	slices.Reverse(list)
	return list
}

func signedBatch(d noted) bool { return d.entry.Outcome == ledger.Signed && d.entry.Batch != nil }

// leftBehind tells whether a later batch by the same clock was signed over 24 hours after that one.
func (m *naive) leftBehind(i int) bool {
	for _, later := range m.done[i+1:] {
		if signedBatch(later) && later.entry.Clock == m.done[i].entry.Clock && later.entry.At > m.done[i].entry.At+24*hour {
			return true
		}
	}
	return false
}

func (m *naive) overlap(b ledger.Batch, subjects []int, now uint64, clock ledger.Clock) (o ledger.Overlap) {
	seen := map[int]bool{}
	approving := map[string]bool{}
	bySeq := m.others(b, now, clock) // the newest record of a subject is the one that is named
	slices.SortFunc(bySeq, func(a, b noted) int { return cmp.Compare(b.receipt.Head().Seq, a.receipt.Head().Seq) })
	for _, s := range subjects {
		for _, d := range bySeq {
			if !seen[s] && slices.Contains(d.subjects, s) {
				seen[s] = true
				approving[fmt.Sprint(d.receipt.Head().Seq)] = true
			}
		}
	}
	o.Subjects = len(seen)
	for _, d := range m.others(b, now, clock) {
		if approving[fmt.Sprint(d.receipt.Head().Seq)] && !slices.Contains(o.Batches, d.entry.Batch.ID) {
			o.Batches = append(o.Batches, d.entry.Batch.ID)
		}
	}
	o.BatchCount = len(o.Batches)
	return o
}

func (m *naive) splits(b ledger.Batch, set *quorum.Set, now uint64, clock ledger.Clock) (list []ledger.Split) {
	for _, tier := range set.Tiers() {
		bound := uint64(tier.MaxScopeSize)
		s := ledger.Split{Bound: tier.MaxScopeSize, Sum: b.Size}
		for _, d := range m.others(b, now, clock) {
			if d.entry.Batch.Size <= bound && !slices.Contains(s.Batches, d.entry.Batch.ID) {
				s.Batches = append(s.Batches, d.entry.Batch.ID)
				s.Sum += d.entry.Batch.Size
			}
		}
		s.BatchCount = len(s.Batches)
		s.Needed = set.RequiredApprovals(s.Sum)
		if b.Size <= bound && s.BatchCount > 0 && s.Sum > bound && s.Needed > tier.Threshold {
			list = append(list, s)
		}
	}
	return list
}

// earlier gives the newest of each kind.
func (m *naive) earlier(b ledger.Batch) (e ledger.Earlier) {
	for _, d := range m.done {
		is, rec := d.entry.Batch, d.receipt
		if is == nil || is.ID != b.ID || is.TrustDomain != b.TrustDomain || d.entry.Outcome == ledger.Refused {
			continue
		}
		switch same := is.Root == b.Root; {
		case d.entry.Outcome == ledger.Declined && same:
			e.Declined, e.Other = rec.Record(), nil
		case d.entry.Outcome == ledger.Declined:
			e.Other = rec.Record()
		case same:
			e.Approved = rec.Record()
		}
	}
	return e
}

// drawEntry draws a review from few values, so that they meet again.
func drawEntry(t *rapid.T, clock uint64) (ledger.Entry, []int) {
	kid := rapid.SampledFrom([]quorum.KID{alice, bob, carol}).Draw(t, "kid")
	at := clock + rapid.SampledFrom([]uint64{0, 1, hour, 11 * hour, 24 * hour, 25 * hour}).Draw(t, "later")
	if rapid.IntRange(0, 9).Draw(t, "clock") == 0 {
		at -= min(at, hour)
	}
	id := rapid.SampledFrom([]string{"b1", "b2", "b3", "b4", "b5", "b6", "b1/other", "b2/other"}).Draw(t, "batch")
	b := batch(id, 1+len(id)*int(id[1]-'0')%9)
	b.TrustDomain = rapid.SampledFrom([]string{domain, domain, domain, "staging.example.com"}).Draw(t, "domain")
	e, on := drawOutcome(t, kid, at, b)
	if rapid.IntRange(0, 3).Draw(t, "by hand") == 0 {
		e.Clock = ledger.ClockByHand
		e.At = noon + rapid.SampledFrom([]uint64{0, hour, 20 * hour, 30 * hour, 100 * hour}).Draw(t, "given")
	}
	return e, on
}

func drawOutcome(t *rapid.T, kid quorum.KID, at uint64, b ledger.Batch) (ledger.Entry, []int) {
	switch rapid.IntRange(0, 5).Draw(t, "entry") {
	case 0:
		return declining(kid, at, b, "because"), nil
	case 1:
		return changing(kid, at, rapid.Uint64Range(1, 3).Draw(t, "epoch"), rapid.SampledFrom([]string{"one", "two"}).Draw(t, "set")), nil
	case 2:
		return refusing(at, wire.InvalidState, "window-closed"), nil
	}
	return signing(kid, at, b), rapid.SliceOfN(rapid.IntRange(0, 30), 0, 12).Draw(t, "subjects")
}

func listed(subjects []int) ledger.Subjects {
	return ledger.NewSubjects(0, func(yield func(string) bool) {
		for _, s := range subjects {
			if !yield(fmt.Sprintf("node-%d", s)) {
				return
			}
		}
	})
}

// Whatever is recorded, asked and closed in between, the ledger answers as a list does that is looked through.
func TestLedgerIsAList(t *testing.T) {
	set := newSet(t, 3, quorum.Tier{MaxScopeSize: 4, Threshold: 1}, quorum.Tier{MaxScopeSize: 12, Threshold: 2})
	top := t.TempDir()
	seen := map[string]int{}
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(top, fmt.Sprint(n))
		defer os.RemoveAll(dir)
		l, err := ledger.Open(dir)
		require.NoError(t, err)
		defer func() { l.Close() }()
		m := &naive{}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			if rapid.IntRange(0, 7).Draw(t, "reopen") == 0 {
				require.NoError(t, l.Close())
				l, err = ledger.Open(dir)
				require.NoError(t, err)
			}
			e, on := drawEntry(t, max(m.clock(), noon))
			if e.Batch != nil {
				o, err := l.ApprovedSubjects(*e.Batch, listed(on), e.At, e.Clock)
				require.NoError(t, err)
				require.Equal(t, m.overlap(*e.Batch, on, e.At, e.Clock), o)
				s, err := l.SplitBatches(*e.Batch, set, e.At, e.Clock)
				require.NoError(t, err)
				require.Equal(t, m.splits(*e.Batch, set, e.At, e.Clock), s)
				earlier, err := l.Earlier(*e.Batch)
				require.NoError(t, err)
				require.Equal(t, m.earlier(*e.Batch), earlier)
				if earlier.Other != nil {
					seen["other"]++
				}
				seen["overlap"] += o.Subjects
				seen["splits"] += len(s)
			}
			code, reason := m.allows(e)
			p, err := l.Begin(e, listed(on))
			require.Equal(t, code, wire.CodeOf(err), "%v", err)
			require.Equal(t, reason, wire.ReasonOf(err), "%v", err)
			seen[string(code)+reason]++
			if err != nil {
				continue
			}
			var sig *quorum.Signature
			if e.Outcome != ledger.Refused {
				sig = signature(e.Key.KID)
			}
			r, err := p.Append(sig)
			require.NoError(t, err)
			m.done = append(m.done, noted{e, on, r})
		}
		c, err := l.Verify()
		require.NoError(t, err)
		require.Equal(t, uint64(len(m.done)), c.Head().Seq)
		var newest *ledger.Record
		for _, d := range m.done {
			require.NoError(t, c.VerifyReceipt(d.receipt))
			if rec := d.receipt.Record(); rec.Set != nil && rec.Outcome == ledger.Signed && (newest == nil || newest.Set.Epoch <= rec.Set.Epoch) {
				newest = rec
			}
		}
		rec, err := l.NewestSet(domain)
		require.NoError(t, err)
		require.Equal(t, newest, rec)
		if newest != nil {
			rec, err = l.SignedSet(domain, newest.Set.Epoch)
			require.NoError(t, err)
			require.Equal(t, newest.Set, rec.Set)
		}
	})
	for _, what := range []string{"", "INVALID_STATEclock", "INVALID_STATEalready-approved", "CONFLICT", "overlap", "splits", "other"} {
		require.Greater(t, seen[what], 4, "%q: %v", what, seen)
	}
}
