package ledger

import (
	"crypto/sha256"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// MaxRecordBytes bounds a record.
const MaxRecordBytes = 1 << 18

// maxElements bounds the findings and the settings of a record.
const maxElements = 256

// A Record is a review that ended, as the ledger holds it: an Entry with its place in the chain and what was computed. A
// Record that was parsed or appended obeys every rule of the package comment. How it may change: never; a new member is a
// new version, and this build reads version 1.
type Record struct {
	Seq      uint64 // from 1
	Previous Hash   // the head before
	Entry
	Subjects     *SubjectList // of a batch whose leaves were read, else nil
	PolicySHA256 Hash         // of the settings as they stand in the record
	Signature    *quorum.Sig  // of Signed and Declined and only there
}

// A SubjectList stands for the subjects of a batch (Subjects.List).
type SubjectList struct {
	Count  uint64 // distinct subjects, 1 to 50,000
	SHA256 Hash
}

// ParseRecord reads a record: exactly the bytes that Encode gives for it. The error is INVALID_INPUT.
func ParseRecord(line []byte) (*Record, error) {
	if len(line) > MaxRecordBytes {
		return nil, wire.Errorf(wire.InvalidInput, "", "record: %d bytes; at most %d are taken", len(line), MaxRecordBytes)
	}
	rec, f := &Record{}, &reader{data: line}
	rec.members(f)
	err := f.end()
	if err == nil {
		err = rec.check()
	}
	if err != nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "record: %s", wire.MessageOf(err))
	}
	return rec, nil
}

// Encode gives the record's bytes, one line without its end. They are what the chain covers.
func (rec *Record) Encode() []byte {
	f := &writer{make([]byte, 0, 1024)}
	rec.members(f)
	return f.b
}

// Head gives the head after the record.
func (rec *Record) Head() Head { return Head{rec.Seq - 1, rec.Previous}.after(rec.Encode()) }

// members walks a record. This is its layout.
func (rec *Record) members(f form) {
	f.literal(`{"version":1,"seq":`)
	f.integer(&rec.Seq)
	f.literal(`,"previous":`)
	f.hash(&rec.Previous)
	f.literal(`,"at":`)
	f.integer(&rec.At)
	f.literal(`,"clock":`)
	f.text((*string)(&rec.Clock))
	f.literal(`,"outcome":`)
	f.text((*string)(&rec.Outcome))
	f.literal(`,"what":`)
	f.text((*string)(&rec.What))
	f.literal(`,"command":`)
	f.text(&rec.Command)
	rec.reviewed(f)
	rec.judged(f)
	if optional(f, `,"signature":`, &rec.Signature) {
		f.sig(rec.Signature)
	}
	if f.present(`,"reason":`, rec.Reason != "") {
		f.filled(&rec.Reason)
	}
	f.literal(`}`)
}

// reviewed walks what was reviewed.
func (rec *Record) reviewed(f form) {
	if optional(f, `,"refusal":{"code":`, &rec.Refusal) {
		f.text((*string)(&rec.Refusal.Code))
		f.literal(`,"reason":`)
		f.text(&rec.Refusal.Reason)
		f.literal(`}`)
	}
	if optional(f, `,"file":{"sha256":`, &rec.File) {
		f.hash(&rec.File.SHA256)
		f.literal(`,"size":`)
		f.integer(&rec.File.Size)
		f.literal(`}`)
	}
	if optional(f, `,"batch":{"batchId":`, &rec.Batch) {
		rec.Batch.members(f)
	}
	if optional(f, `,"approverSet":{"epoch":`, &rec.Set) {
		f.integer(&rec.Set.Epoch)
		f.literal(`,"setSha256":`)
		f.hash(&rec.Set.Digest)
		f.literal(`,"trustDomain":`)
		f.text(&rec.Set.TrustDomain)
		f.literal(`}`)
	}
	if optional(f, `,"subjects":{"count":`, &rec.Subjects) {
		f.integer(&rec.Subjects.Count)
		f.literal(`,"sha256":`)
		f.hash(&rec.Subjects.SHA256)
		f.literal(`}`)
	}
}

func (b *Batch) members(f form) {
	f.text(&b.ID)
	f.literal(`,"scopeRoot":`)
	f.hash(&b.Root)
	f.literal(`,"scopeSize":`)
	f.integer(&b.Size)
	f.literal(`,"notAfter":`)
	f.integer(&b.NotAfter)
	f.literal(`,"trustDomain":`)
	f.text(&b.TrustDomain)
	b.Unchecked = f.present(`,"unchecked":true`, b.Unchecked)
	f.literal(`}`)
}

// judged walks how it was judged, and by whom.
func (rec *Record) judged(f form) {
	f.literal(`,"findings":`)
	list(f, &rec.Findings)
	f.literal(`,"policy":{"sha256":`)
	f.hash(&rec.PolicySHA256)
	f.literal(`,"settings":`)
	f.settings(&rec.Policy)
	f.literal(`}`)
	if optional(f, `,"key":{"kid":`, &rec.Key) {
		f.kid(&rec.Key.KID)
		f.literal(`,"tokenLabel":`)
		f.text(&rec.Key.TokenLabel)
		f.literal(`,"tokenSerial":`)
		f.text(&rec.Key.TokenSerial)
		if optional(f, `,"moduleSha256":`, &rec.Key.Module) {
			f.hash(rec.Key.Module)
		}
		f.literal(`}`)
	}
	f.literal(`,"program":{"version":`)
	f.text(&rec.Program.Version)
	f.literal(`,"sha256":`)
	f.hash(&rec.Program.SHA256)
	f.literal(`}`)
}

// policyDigest gives the SHA-256 of the settings as they stand in a record.
func policyDigest(policy map[string]string) Hash {
	f := &writer{}
	f.settings(&policy)
	return sha256.Sum256(f.b)
}
