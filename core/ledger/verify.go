package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/better-compute/approver/core/wire"
)

// exportHeader is the first line of an export.
const exportHeader = `{"format":"` + FormatExport + `","version":1}`

// A Chain is a ledger or an export whose every record was verified. It holds the heads, for what was written down to be
// held against.
type Chain struct{ heads []Hash } // after 0, 1, 2 … records

// Head gives the last head.
func (c *Chain) Head() Head {
	seq := len(c.heads) - 1
	return Head{uint64(seq), c.heads[seq]}
}

// VerifyHead finds a head that was written down and gives its seq: everything up to there is as it was then. The error is
// AUDIT_TAMPERED where it is nowhere in the chain: records were cut off, changed or replaced since, or it was written down
// wrongly.
func (c *Chain) VerifyHead(head Hash) (seq uint64, err error) {
	if i := slices.Index(c.heads, head); i >= 0 {
		return uint64(i), nil
	}
	last := c.Head()
	return 0, tampered(last.Seq, "head", "the head %s is none of this ledger of %d records, whose head is %s: records were cut off or replaced since it was written down",
		head, last.Seq, last.Hash)
}

// VerifyReceipt holds a receipt against the chain: its record is there, and all before it are those it followed. The error
// is AUDIT_TAMPERED.
func (c *Chain) VerifyReceipt(r *Receipt) error {
	if r.head.Seq < uint64(len(c.heads)) && c.heads[r.head.Seq] == r.head.Hash {
		return nil
	}
	return tampered(r.head.Seq, "head", "record %d of the receipt is none of this ledger of %d records", r.head.Seq, c.Head().Seq)
}

// A replay takes records in their order and verifies each against all before it.
type replay struct {
	chain  *Chain
	facts  map[string]map[string][]byte // what the indexes must hold
	clock  uint64                       // newest time of what was signed or declined by the system's clock
	recent []recentBatch                // every signed batch, by seq
	lists  map[uint64]*SubjectList      // of those, by seq
}

func newReplay() *replay {
	return &replay{
		chain: &Chain{make([]Hash, 1)},
		facts: map[string]map[string][]byte{factRoots: {}, factEpochs: {}, factSigned: {}},
		lists: map[uint64]*SubjectList{},
	}
}

// take verifies the next record. The error is AUDIT_TAMPERED.
func (p *replay) take(line []byte) error {
	head := p.chain.Head()
	seq := head.Seq + 1
	rec, err := ParseRecord(line)
	switch {
	case err != nil:
		return tampered(seq, "record", "record %d: %s", seq, wire.MessageOf(err))
	case rec.Seq != seq:
		return tampered(seq, "seq", "where record %d is due stands record %d: one was dropped, inserted or moved", seq, rec.Seq)
	case rec.Previous != head.Hash:
		return tampered(seq, "previous", "record %d follows the head %s, and the head before it is %s: a record before it was changed, or it was itself",
			seq, rec.Previous, head.Hash)
	case rec.ticks() && rec.At < p.clock:
		return tampered(seq, "at", "record %d is of %s, before one that it follows", seq, wire.Stamp(rec.At))
	}
	if err := p.learn(rec); err != nil {
		return err
	}
	p.chain.heads = append(p.chain.heads, head.after(line).Hash)
	return nil
}

// learn notes what the indexes gain by a record. A record that contradicts one before it was not written by this program.
func (p *replay) learn(rec *Record) error {
	if rec.ticks() {
		p.clock = rec.At
	}
	for _, f := range rec.facts() {
		said, before, ok := f.told(func(bucket string, key []byte) []byte { return p.facts[bucket][string(key)] })
		if ok && (f.value == nil || !bytes.Equal(said, f.value)) {
			return tampered(rec.Seq, f.bucket, "record %d contradicts record %d (%s)", rec.Seq, before, f.bucket)
		}
		if !ok {
			p.facts[f.bucket][string(f.key)] = f.stored(rec.Seq)
		}
	}
	if r, ok := rec.recentOf(); ok {
		p.recent = append(p.recent, r)
		p.lists[rec.Seq] = rec.Subjects
	}
	return nil
}

// VerifyExport verifies an export. Errors are AUDIT_TAMPERED with the seq of the first record that is not as it was written
// and what differs, INVALID_INPUT for what is no export, and IO_ERROR. That records are missing at the end shows only against
// a head (Chain.VerifyHead, Chain.VerifyReceipt).
func VerifyExport(r io.Reader) (*Chain, error) {
	lines := bufio.NewReaderSize(r, MaxRecordBytes+1)
	header, err := lines.ReadSlice('\n')
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, ioError(err)
	}
	if string(header) != exportHeader+"\n" {
		return nil, wire.Errorf(wire.InvalidInput, "", "not an export of a ledger; its first line is %s", exportHeader)
	}
	p := newReplay()
	for {
		line, err := lines.ReadSlice('\n')
		switch seq := p.chain.Head().Seq + 1; {
		case err == io.EOF && len(line) == 0:
			return p.chain, nil
		case err == io.EOF:
			return nil, tampered(seq, "record", "record %d does not end its line", seq)
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, tampered(seq, "record", "record %d is over %d bytes", seq, MaxRecordBytes)
		case err != nil:
			return nil, ioError(err)
		}
		if err := p.take(line[:len(line)-1]); err != nil {
			return nil, err
		}
	}
}

// Export writes the ledger: the header line, and then a record a line. Errors are AUDIT_TAMPERED where a record is missing,
// and IO_ERROR. It verifies nothing.
func (l *Ledger) Export(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString(exportHeader + "\n")
	for line, err := range l.lines(1) {
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return wire.Errorf(wire.IOError, "", "writing the export: %w", err)
	}
	return nil
}
