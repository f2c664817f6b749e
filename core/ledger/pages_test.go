package ledger_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

const stored = 60 // batches that alice signed, b0 of the subjects 0 to 2 and so on

// storeOf gives the file of a ledger of many records, and where the pages of a kind begin: 1 branches, 2 leaves, 16 lists of
// free ones.
func storeOf(t *testing.T, kind uint16) (path string, whole []byte, pages []int) {
	t.Helper()
	dir := home(t)
	l := open(t, dir)
	for i := range stored {
		add(t, l, signing(alice, noon+uint64(i), batch(fmt.Sprintf("b%d", i), 3)), subjects(i, i+3))
	}
	require.NoError(t, l.Close())
	path = filepath.Join(dir, "ledger.db")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	size := os.Getpagesize()
	for at := 0; at+size <= len(whole); at += size {
		if binary.NativeEndian.Uint16(whole[at+8:]) == kind && binary.NativeEndian.Uint64(whole[at:]) == uint64(at/size) {
			pages = append(pages, at)
		}
	}
	require.NotEmpty(t, pages)
	return path, whole, pages
}

// askAll asks a damaged store everything, and records. What it answers is true, or AUDIT_TAMPERED: it never forgets what was
// signed. It gives how much it would not answer.
func askAll(t *testing.T, path string, whole []byte, what string) (found int) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	watch := time.AfterFunc(20*time.Second, func() { panic(what + ": it does not end") })
	defer watch.Stop()
	tampered := func(err error) bool {
		if wire.CodeOf(err) != wire.AuditTampered {
			return false
		}
		found++
		return true
	}
	for _, openIt := range []func(string) (*ledger.Ledger, error){ledger.OpenReadOnly, ledger.Open} {
		l, err := openIt(filepath.Dir(path))
		if err != nil {
			require.True(t, tampered(err), "%s: %v", what, err)
			continue
		}
		for i := range stored {
			b := batch(fmt.Sprintf("b%d", i), 3)
			if err := l.CheckBatch(alice, b); !tampered(err) {
				requireCode(t, err, wire.InvalidState, "already-approved")
			}
			if err := l.CheckBatch(bob, batch(fmt.Sprintf("b%d/other", i), 3)); !tampered(err) {
				requireCode(t, err, wire.Conflict, "")
			}
			e, err := l.Earlier(b)
			require.True(t, tampered(err) || e.Approved != nil, what)
		}
		if err := l.CheckClock(noon + stored - 2); !tampered(err) {
			requireCode(t, err, wire.InvalidState, "clock")
		}
		o, err := l.ApprovedSubjects(batch("other", 62), subjects(0, 62), noon+hour, ledger.ClockSystem)
		require.True(t, tampered(err) || o.Subjects == 62, what)
		for _, err := range l.Records(1) {
			require.True(t, err == nil || tampered(err), "%s: %v", what, err)
		}
		_, err = l.Verify()
		require.True(t, err == nil || tampered(err), "%s: %v", what, err)
		require.NoError(t, l.Close())
	}
	return found + recordIn(t, path, what)
}

// recordIn records in a damaged store: refused, or what was there is there still.
func recordIn(t *testing.T, path, what string) (refused int) {
	t.Helper()
	l, err := ledger.Open(filepath.Dir(path))
	if err != nil {
		return 0
	}
	defer l.Close()
	_, err = l.Verify()
	whole := err == nil
	p, err := l.Begin(signing(bob, noon+hour, batch("after", 3)), subjects(0, 3))
	if err == nil {
		_, err = p.Append(signature(bob))
	}
	if err != nil {
		requireCode(t, err, wire.AuditTampered, "")
		return 1
	}
	if whole {
		require.Equal(t, uint64(stored+1), verified(t, l).Head().Seq, what)
	}
	return 0
}

// A page that leads to itself, or to one above it, is found: followed, it would end the process.
func TestPagesThatLeadInACircle(t *testing.T) {
	path, whole, branches := storeOf(t, 1)
	found := 0
	for _, at := range branches {
		for _, to := range branches {
			damaged := bytes.Clone(whole)
			for i := range int(binary.NativeEndian.Uint16(whole[at+10:])) {
				binary.NativeEndian.PutUint64(damaged[at+16+16*i+8:], uint64(to/os.Getpagesize()))
			}
			found += askAll(t, path, damaged, fmt.Sprintf("page at %d leads to %d", at, to))
		}
	}
	require.Greater(t, found, 100)
}

// A leaf that says it is a branch, or anything else, is none.
func TestPagesOfAnotherKind(t *testing.T) {
	path, whole, leaves := storeOf(t, 2)
	found := 0
	for _, at := range leaves {
		for _, kind := range []uint16{0, 1, 3, 4, 16} {
			damaged := bytes.Clone(whole)
			binary.NativeEndian.PutUint16(damaged[at+8:], kind)
			found += askAll(t, path, damaged, fmt.Sprintf("page at %d is of kind %d", at, kind))
		}
	}
	require.Greater(t, found, 100)
}

// A page in use that is said to be free is found before a record is written over it.
func TestPagesInUseThatAreSaidToBeFree(t *testing.T) {
	path, whole, lists := storeOf(t, 16)
	found := 0
	for page := 2; page < len(whole)/os.Getpagesize(); page++ {
		damaged := bytes.Clone(whole)
		for _, at := range lists { // the list ascends; its first is what is taken first
			binary.NativeEndian.PutUint64(damaged[at+16:], uint64(page))
		}
		found += askAll(t, path, damaged, fmt.Sprintf("page %d is said to be free", page))
	}
	require.Greater(t, found, 10)
}

// Bytes that changed anywhere: every answer is true or none.
func TestDamagedStoresForgetNothing(t *testing.T) {
	path, whole, _ := storeOf(t, 1)
	random := rand.New(rand.NewPCG(1, 2))
	found, page := 0, os.Getpagesize()
	const rounds = 120
	for range rounds {
		damaged := bytes.Clone(whole)
		at := random.IntN(len(whole)/page) * page
		var what string
		for range 1 + random.IntN(4) {
			i := at + random.IntN(page)
			if random.IntN(2) == 0 {
				i = at + random.IntN(256) // headers and elements
			}
			damaged[i] ^= 1 << random.IntN(8)
			what += fmt.Sprintf("byte %d ", i)
		}
		if askAll(t, path, damaged, what) > 0 {
			found++
		}
	}
	t.Logf("%d of %d found", found, rounds)
	require.Greater(t, found, rounds/20)
}

// A day of large batches is looked up, recorded and let go of without growing: the room of a record is that of its own batch.
func TestADayOfLargeBatches(t *testing.T) {
	dir := home(t)
	l := open(t, dir)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "ledger.db"))
		require.NoError(t, err)
		return info.Size()
	}
	const batches, each = 20, 50_000
	longest := time.Duration(0)
	for i := range batches + 2 {
		at := noon + uint64(i)
		if i >= batches {
			at += 30 * hour // lets go of the day before
		}
		start := time.Now()
		add(t, l, signing(alice, at, batch(fmt.Sprintf("b%d", i), each)), subjects(each*i, each*(i+1)))
		longest = max(longest, time.Since(start))
	}
	require.Less(t, size(), int64(4*batches*each*32))
	t.Logf("the longest took %v; the store has %d bytes", longest, size())
	require.Less(t, longest, 10*time.Second)

	before := size()
	refused := refusing(noon, wire.InvalidInput, "")
	refused.Batch = new(batch("other", each))
	declined := declining(bob, noon+31*hour, batch("other", each), "no")
	for _, e := range []ledger.Entry{refused, declined} {
		p, err := l.Begin(e, subjects(each, 2*each))
		require.NoError(t, err)
		require.Equal(t, before, size(), "%s", e.Outcome)
		var sig *quorum.Signature
		if e.Outcome == ledger.Declined {
			sig = signature(bob)
		}
		_, err = p.Append(sig)
		require.NoError(t, err)
	}
	verified(t, l)
}
