package ledger_test

import (
	"bytes"
	"testing"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

func count(t testing.TB, b *golden.Balance, accepted bool) {
	if err := b.Count(accepted); err != nil {
		t.Fatal(err)
	}
}

// A dealer gives small numbers out of fuzz bytes, 0 once they are used up.
type dealer struct{ data []byte }

func (d *dealer) below(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	c := d.data[0]
	d.data = d.data[1:]
	return int(c) % n
}

// text gives a text of up to n bytes as they come.
func (d *dealer) text(n int) string {
	n = min(d.below(n+1), len(d.data))
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}

// record gives a record that a ledger could hold.
func (d *dealer) record() *ledger.Record {
	var e ledger.Entry
	b := batch("b"+string(rune('0'+d.below(10))), 1+d.below(200))
	switch d.below(4) {
	case 0:
		e = signing(alice, noon+uint64(d.below(200)), b)
	case 1:
		e = declining(bob, noon, b, "no: "+d.text(40))
	case 2:
		e = changing(carol, noon, 1+uint64(d.below(9)), d.text(3))
	case 3:
		e = refusing(uint64(d.below(200)), wire.InvalidInput, "usage")
	}
	if d.below(2) == 0 && e.Key != nil {
		e.Key.TokenLabel, e.Key.Module = d.text(30), nil
	}
	if d.below(2) == 0 {
		e.Policy = map[string]string{"a": d.text(30), "b": ""}
	}
	if d.below(2) == 0 {
		e.Findings, e.File = nil, nil
	}
	var on ledger.Subjects
	if e.Batch != nil {
		e.Batch.Unchecked = d.below(4) == 0
		on = subjects(0, d.below(3))
	}
	rec, err := ledger.NewRecord(e, on)
	if err != nil {
		panic(err)
	}
	if e.Outcome != ledger.Refused {
		rec.Signature = &quorum.Sig{1, 2, 3}
	}
	return rec
}

// vary changes one byte of a text, or drops or doubles one, where the bytes say so.
func (d *dealer) vary(text []byte) []byte {
	if d.below(2) == 0 || len(text) == 0 {
		return text
	}
	at := (d.below(256)<<8 | d.below(256)) % len(text)
	switch text = bytes.Clone(text); d.below(3) {
	case 0:
		text[at] = byte(d.below(256))
	case 1:
		text = append(text[:at], text[at+1:]...)
	case 2:
		text = append(text[:at+1], text[at:]...)
	}
	return text
}

// FuzzRecord reads records and receipts, damaged here and there: what is taken encodes to the same bytes.
func FuzzRecord(f *testing.F) {
	for i := range uint8(60) {
		f.Add(bytes.Repeat([]byte{i, 3 * i, 7, i + 1}, 12))
	}
	var records, receipts golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &dealer{data}
		rec := d.record()
		line := d.vary(rec.Encode())
		got, err := ledger.ParseRecord(line)
		count(t, &records, err == nil)
		if err == nil && !bytes.Equal(got.Encode(), line) {
			t.Fatalf("%s is written as %s", line, got.Encode())
		}
		if err != nil && wire.CodeOf(err) != wire.InvalidInput {
			t.Fatal(err)
		}
		file := []byte(`{"format":"better-compute-approver-receipt","version":1,"head":"` + rec.Head().Hash.String() + `","record":` + string(rec.Encode()) + "}\n")
		file = d.vary(file)
		r, err := ledger.ParseReceipt(file)
		count(t, &receipts, err == nil)
		if err == nil && !bytes.Equal(r.Encode(), file) {
			t.Fatalf("%s is written as %s", file, r.Encode())
		}
	})
}

// FuzzExport reads exports, damaged here and there: one that verifies with the head that was written down is the one that
// was written.
func FuzzExport(f *testing.F) {
	for i := range uint8(60) {
		f.Add(bytes.Repeat([]byte{i, 5 * i, 3, i + 1}, 40))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &dealer{data}
		var head ledger.Head
		var clock uint64
		export := bytes.NewBufferString(`{"format":"better-compute-approver-ledger","version":1}` + "\n")
		known := map[string]bool{}
		for range 1 + d.below(3) {
			rec := d.record()
			if id := idOf(rec); rec.Outcome != ledger.Refused {
				if known[id] || rec.At < clock {
					continue
				}
				known[id], clock = true, rec.At
			}
			rec.Seq, rec.Previous = head.Seq+1, head.Hash
			export.Write(append(rec.Encode(), '\n'))
			head = rec.Head()
		}
		damaged := d.vary(export.Bytes())
		c, err := ledger.VerifyExport(bytes.NewReader(damaged))
		count(t, &b, err == nil)
		if bytes.Equal(damaged, export.Bytes()) && err != nil {
			t.Fatalf("%v: %s", err, damaged)
		}
		if err == nil && c.Head() == head && !bytes.Equal(damaged, export.Bytes()) {
			t.Fatalf("%s has the head of %s", damaged, export)
		}
	})
}

// idOf names what no second record may speak of, so that a made-up chain holds together.
func idOf(rec *ledger.Record) string {
	if rec.Batch != nil {
		return rec.Batch.ID
	}
	if rec.Set != nil {
		return string(rune('0' + rec.Set.Epoch))
	}
	return ""
}
