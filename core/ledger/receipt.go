package ledger

import "github.com/better-compute/approver/core/wire"

// FormatReceipt is the format of a receipt, and FormatExport that of an export.
const (
	FormatReceipt = "better-compute-approver-receipt"
	FormatExport  = "better-compute-approver-ledger"
)

// A Receipt is a record and the head after it: what an approver hands on to show later that the ledger held it.
type Receipt struct {
	record *Record
	head   Head
}

// Receipt gives the receipt of a record.
func (rec *Record) Receipt() *Receipt { return &Receipt{rec, rec.Head()} }

// Record gives the record.
func (r *Receipt) Record() *Record { return r.record }

// Head gives the head after the record.
func (r *Receipt) Head() Head { return r.head }

// members walks the file of a receipt. This is its layout.
func (r *Receipt) members(f form) {
	f.literal(`{"format":"` + FormatReceipt + `","version":1,"head":`)
	f.hash(&r.head.Hash)
	f.literal(`,"record":`)
	r.record.members(f)
	f.literal("}\n")
}

// Encode gives the file of the receipt, one line.
func (r *Receipt) Encode() []byte {
	f := &writer{make([]byte, 0, 1024)}
	r.members(f)
	return f.b
}

// ParseReceipt reads a receipt: exactly the bytes that Encode gives for it. Errors are INVALID_INPUT, and AUDIT_TAMPERED
// where the head is not the one after the record.
func ParseReceipt(data []byte) (*Receipt, error) {
	if len(data) > 2*MaxRecordBytes {
		return nil, wire.Errorf(wire.InvalidInput, "", "receipt: %d bytes; at most %d are taken", len(data), 2*MaxRecordBytes)
	}
	r, f := &Receipt{record: &Record{}}, &reader{data: data}
	r.members(f)
	err := f.end()
	if err == nil {
		err = r.record.check()
	}
	if err != nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "receipt: %s", wire.MessageOf(err))
	}
	if head := r.record.Head(); head.Hash != r.head.Hash {
		return nil, tampered(r.record.Seq, "head", "the receipt's head is %s, and the one after its record is %s", r.head.Hash, head.Hash)
	}
	r.head.Seq = r.record.Seq
	return r, nil
}

// tampered is the refusal of what is not as this program wrote it: at which record, and what differs.
func tampered(seq uint64, differs, format string, args ...any) *wire.Error {
	return wire.Errorf(wire.AuditTampered, "", format, args...).With("seq", seq).With("differs", differs)
}
