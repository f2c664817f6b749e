package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

func verifyExport(data []byte) (*ledger.Chain, error) {
	return ledger.VerifyExport(bytes.NewReader(data))
}

func TestExportVerifies(t *testing.T) {
	l, receipts := filled(t, home(t))
	c, err := verifyExport(exported(t, l))
	require.NoError(t, err)
	require.Equal(t, verified(t, l), c)
	require.Equal(t, receipts[len(receipts)-1].Head(), c.Head())

	empty := open(t, home(t))
	c, err = verifyExport(exported(t, empty))
	require.NoError(t, err)
	require.Zero(t, c.Head())
}

// Every single byte that is changed, dropped or doubled is found.
func TestEveryByteOfAnExportCounts(t *testing.T) {
	l, _ := filled(t, home(t))
	whole := exported(t, l)
	want := verified(t, l).Head()
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for i := range whole {
		for what, damaged := range map[string][]byte{
			"flipped": slices.Replace(slices.Clone(whole), i, i+1, whole[i]^1),
			"other":   slices.Replace(slices.Clone(whole), i, i+1, whole[i]^0x20),
			"dropped": slices.Delete(slices.Clone(whole), i, i+1),
			"doubled": slices.Insert(slices.Clone(whole), i, whole[i]),
		} {
			c, err := verifyExport(damaged)
			if err == nil { // of the newest record the chain has nothing that follows: the head tells
				require.GreaterOrEqual(t, i, last, "%s at byte %d: %q", what, i, damaged)
				require.NotEqual(t, want, c.Head(), "%s at byte %d", what, i)
				_, err = c.VerifyHead(want.Hash)
				requireCode(t, err, wire.AuditTampered, "")
				continue
			}
			require.Contains(t, []wire.Code{wire.AuditTampered, wire.InvalidInput}, wire.CodeOf(err))
		}
	}
}

func TestRecordsThatAreNotWhereTheyWere(t *testing.T) {
	l, receipts := filled(t, home(t))
	whole := exported(t, l)
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	n := len(lines) - 1
	fails := func(list [][]byte, seq int) {
		t.Helper()
		_, err := verifyExport(bytes.Join(list, nil))
		requireCode(t, err, wire.AuditTampered, "")
		require.Equal(t, uint64(seq), detail(t, err, "seq"))
		require.NotEmpty(t, detail(t, err, "differs"))
	}
	for i := 1; i < n; i++ {
		fails(slices.Delete(slices.Clone(lines), i, i+1), i)
		fails(slices.Insert(slices.Clone(lines), i, lines[i]), i+1)
		swapped := slices.Clone(lines)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		fails(swapped, i)
	}
	for cut := 1; cut <= n; cut++ { // a cut tail is a chain too: only what was written down tells
		c, err := verifyExport(bytes.Join(lines[:cut], nil))
		require.NoError(t, err)
		require.Equal(t, uint64(cut-1), c.Head().Seq)
		_, err = c.VerifyHead(receipts[n-1].Head().Hash)
		requireCode(t, err, wire.AuditTampered, "")
		requireCode(t, c.VerifyReceipt(receipts[n-1]), wire.AuditTampered, "")
		if cut > 1 {
			require.NoError(t, c.VerifyReceipt(receipts[cut-2]))
		}
	}
	for _, data := range []string{"", "{}\n", string(whole[1:]), strings.Replace(string(whole), `"version":1`, `"version":2`, 1), string(bytes.Join(lines[1:], nil))} {
		_, err := verifyExport([]byte(data))
		requireCode(t, err, wire.InvalidInput, "")
	}
	long := append(bytes.Clone(whole), bytes.Repeat([]byte("x"), ledger.MaxRecordBytes+5)...)
	_, err := verifyExport(long)
	requireCode(t, err, wire.AuditTampered, "")
}

func detail(t testing.TB, err error, name string) any {
	t.Helper()
	e, ok := err.(*wire.Error)
	require.True(t, ok)
	return e.Details[name]
}

// A chain that was forged as a whole, with heads that fit, still cannot hold what this program never writes.
func TestForgedChains(t *testing.T) {
	forge := func(entries ...ledger.Entry) []byte {
		var b bytes.Buffer
		b.WriteString(`{"format":"better-compute-approver-ledger","version":1}` + "\n")
		var head ledger.Head
		for _, e := range entries {
			l := open(t, home(t)) // each record from a ledger of its own, moved into one chain
			rec := *add(t, l, e, ledger.Subjects{}).Record()
			rec.Seq, rec.Previous = head.Seq+1, head.Hash
			b.Write(rec.Encode())
			b.WriteByte('\n')
			head = rec.Head()
		}
		return b.Bytes()
	}
	skipping := mustParse(t, exampleRecord)
	skipping.Seq = 2
	_, err := verifyExport([]byte(`{"format":"better-compute-approver-ledger","version":1}` + "\n" + string(skipping.Encode()) + "\n"))
	requireCode(t, err, wire.AuditTampered, "")
	require.Equal(t, "seq", detail(t, err, "differs"))
	_, err = verifyExport(forge(signing(alice, noon, batch("b1", 1)), signing(bob, noon, batch("b1", 1)), refusing(1, wire.IOError, "")))
	require.NoError(t, err)
	for name, entries := range map[string][]ledger.Entry{
		"signed twice": {signing(alice, noon, batch("b1", 1)), signing(alice, noon, batch("b1", 1))},
		"two roots":    {signing(alice, noon, batch("b1", 1)), declining(bob, noon, batch("b1/other", 1), "x")},
		"two sets":     {changing(alice, noon, 2, "one"), changing(bob, noon, 2, "other")},
		"time":         {signing(alice, noon, batch("b1", 1)), signing(alice, noon-1, batch("b2", 1))},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := verifyExport(forge(entries...))
			requireCode(t, err, wire.AuditTampered, "")
			require.Equal(t, uint64(2), detail(t, err, "seq"))
		})
	}
}

// What was changed in the store itself, by whoever knows bbolt.
func TestStoreThatWasChanged(t *testing.T) {
	dir := home(t)
	l, _ := filled(t, dir)
	require.NoError(t, l.Close())
	var names []string
	require.NoError(t, boltView(filepath.Join(dir, "ledger.db"), func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				names = append(names, string(name)+"\x00"+string(k))
				return nil
			})
		})
	}))
	require.Greater(t, len(names), 15)
	damages := map[string]func(b *bolt.Bucket, k []byte) error{
		"deleted": func(b *bolt.Bucket, k []byte) error { return b.Delete(k) },
		"changed": func(b *bolt.Bucket, k []byte) error {
			v := bytes.Clone(b.Get(k))
			if len(v) == 0 {
				return b.Put(k, []byte{1})
			}
			v[len(v)-1] ^= 1
			return b.Put(k, v)
		},
		"moved": func(b *bolt.Bucket, k []byte) error {
			other, v := bytes.Clone(k), bytes.Clone(b.Get(k))
			other[len(other)-1] ^= 1
			if b.Get(other) != nil {
				other = append(other, 'x')
			}
			return errorsOf(b.Delete(k), b.Put(other, v))
		},
		"renamed": func(b *bolt.Bucket, k []byte) error {
			other, v := bytes.Clone(k), bytes.Clone(b.Get(k))
			other[0] ^= 1
			return errorsOf(b.Delete(k), b.Put(other, v))
		},
		"added": func(b *bolt.Bucket, k []byte) error {
			return b.Put(append(bytes.Clone(k), 'x'), b.Get(k))
		},
	}
	for _, at := range names {
		bucket, key, _ := strings.Cut(at, "\x00")
		for what, damage := range damages {
			copied := t.TempDir()
			require.NoError(t, os.Chmod(copied, 0o700))
			data, err := os.ReadFile(filepath.Join(dir, "ledger.db"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(copied, "ledger.db"), data, 0o600))
			db, err := bolt.Open(filepath.Join(copied, "ledger.db"), 0o600, &bolt.Options{NoSync: true})
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bolt.Tx) error { return damage(tx.Bucket([]byte(bucket)), []byte(key)) }))
			require.NoError(t, db.Close())
			l, err := ledger.OpenReadOnly(copied)
			if err == nil {
				_, err = l.Verify()
				require.NoError(t, l.Close())
			}
			require.Error(t, err, "%s %q was %s", bucket, key, what)
			require.Equal(t, wire.AuditTampered, wire.CodeOf(err), "%s %q was %s: %v", bucket, key, what, err)
		}
	}
}

func boltView(path string, view func(tx *bolt.Tx) error) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errorsOf(db.View(view), db.Close())
}

// A store that was cut, emptied or overwritten is said to be that, and never taken for a new one.
func TestStoreThatIsNone(t *testing.T) {
	dir := home(t)
	l, _ := filled(t, dir)
	require.NoError(t, l.Close())
	whole, err := os.ReadFile(filepath.Join(dir, "ledger.db"))
	require.NoError(t, err)
	for name, data := range map[string][]byte{
		"empty":           {},
		"a page":          whole[:4096],
		"two pages":       whole[:8192],
		"no pages behind": append(bytes.Clone(whole[:8192]), make([]byte, len(whole)-8192)...),
		"zeros":           make([]byte, len(whole)),
		"text":            bytes.Repeat([]byte("no ledger\n"), 4096),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "ledger.db"), data, 0o600))
			for range 2 { // and the first attempt changes nothing
				l, err := ledger.Open(dir)
				if err == nil {
					_, err = l.Verify()
					l.Close()
				}
				requireCode(t, err, wire.AuditTampered, "")
				left, err := os.ReadFile(filepath.Join(dir, "ledger.db"))
				require.NoError(t, err)
				require.True(t, bytes.Equal(data, left), "it was changed")
			}
		})
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ledger.db"), whole, 0o600))
	verified(t, open(t, dir))
}

// An independent program in another language, written from the format page alone, agrees about exports.
func TestVerifiedByAnotherProgram(t *testing.T) {
	node, err := exec.LookPath("node")
	require.NoError(t, err, "run ./softhsm-test.sh, which installs what these tests need")
	l, receipts := filled(t, home(t))
	whole := exported(t, l)
	verify := func(data []byte) (string, error) {
		cmd := exec.Command(node, "testdata/verify-export.mjs")
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := verify(whole)
	require.NoError(t, err, out)
	head := receipts[len(receipts)-1].Head()
	require.Equal(t, fmt.Sprintf("%d %s\n", head.Seq, head.Hash), out)
	_, err = verify(bytes.Replace(whole, []byte("batch decline"), []byte("batch declinf"), 1))
	require.Error(t, err)
	_, err = verify(bytes.Replace(whole, []byte(`"max-hours":"72"`), []byte(`"max-hours":"99"`), 1))
	require.Error(t, err)
}

// A bit that flips anywhere in the store is either found or stands where nothing is kept.
func TestBitsOfTheStore(t *testing.T) {
	dir := home(t)
	l, receipts := filled(t, dir)
	require.NoError(t, l.Close())
	path := filepath.Join(dir, "ledger.db")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	found, head := 0, receipts[len(receipts)-1].Head()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer file.Close()
	put := func(i int, c byte) {
		_, err := file.WriteAt([]byte{c}, int64(i))
		require.NoError(t, err)
	}
	for i := 0; i < len(whole); i += 89 {
		put(i, whole[i]^1<<(i%8))
		l, err := ledger.OpenReadOnly(dir)
		if err == nil {
			var c *ledger.Chain
			if c, err = l.Verify(); err == nil && c.Head() != head { // the other switch, to the state before
				_, err = c.VerifyHead(head.Hash)
			}
			require.NoError(t, l.Close())
		}
		if err != nil {
			require.Equal(t, wire.AuditTampered, wire.CodeOf(err), "byte %d: %v", i, err)
			found++
		}
		put(i, whole[i])
	}
	t.Logf("%d of %d found", found, len(whole)/89)
	require.Greater(t, found, 50)
	verified(t, open(t, dir))
}
