package ledger

import (
	"bufio"
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
	chain    *Chain
	facts    map[Hash]told // what the index must hold, by place
	clock    uint64        // newest time of what ticks
	clockSeq uint64
	recent   []recentBatch // every signed batch, by seq
}

func newReplay() *replay { return &replay{chain: &Chain{make([]Hash, 1)}, facts: make(map[Hash]told)} }

// take verifies the next record. The error is AUDIT_TAMPERED.
func (p *replay) take(line []byte) (*Record, error) {
	head := p.chain.Head()
	seq := head.Seq + 1
	rec, err := ParseRecord(line)
	switch {
	case err != nil:
		return nil, tampered(seq, "record", "record %d: %s", seq, wire.MessageOf(err))
	case rec.Seq != seq:
		return nil, tampered(seq, "seq", "where record %d is due stands record %d: one was dropped, inserted or moved", seq, rec.Seq)
	case rec.Previous != head.Hash:
		return nil, tampered(seq, "previous", "record %d follows the head %s, and that after record %d is %s: record %d was changed, or what record %d says of it",
			seq, rec.Previous, seq-1, head.Hash, seq-1, seq)
	case rec.ticks() && rec.At < p.clock:
		return nil, tampered(seq, "at", "record %d is of %s, before one that it follows", seq, wire.Stamp(rec.At))
	}
	if err := p.learn(rec); err != nil {
		return nil, err
	}
	p.chain.heads = append(p.chain.heads, head.after(line).Hash)
	return rec, nil
}

// learn notes what the indexes gain by a record. A record that contradicts one before it was not written by this program.
func (p *replay) learn(rec *Record) error {
	if rec.ticks() {
		p.clock, p.clockSeq = rec.At, rec.Seq
	}
	for _, f := range rec.facts() {
		place := f.place()
		before, ok := p.facts[place]
		if f.contradicts(before, ok) {
			return tampered(rec.Seq, string(f.kind), "record %d contradicts record %d (%s)", rec.Seq, before.seq, f.kind)
		}
		if f.replaces(before, ok) {
			p.facts[place] = told{rec.Seq, f.value}
		}
	}
	if r, ok := rec.recentOf(); ok {
		p.recent = append(p.recent, r)
	}
	return nil
}

// VerifyExport verifies an export, and gives each record that was verified, of a chain that may not hold from there on. Errors are AUDIT_TAMPERED with the seq of the first record that is not as it was written
// and what differs, INVALID_INPUT for what is no export, and IO_ERROR. That records are missing at the end shows only against
// a head (Chain.VerifyHead, Chain.VerifyReceipt).
func VerifyExport(r io.Reader, each ...func(*Record) error) (*Chain, error) {
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
		rec, err := p.take(line[:len(line)-1])
		for _, do := range each {
			if err == nil {
				err = do(rec)
			}
		}
		if err != nil {
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
