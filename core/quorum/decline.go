package quorum

import (
	"encoding/binary"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// Decline is the statement that this scope is not approved, and why: the parts of an approval and the reason, under a
// purpose of its own, so neither is ever the other (WIRE.md §1). notAfter is the batch's, Unix milliseconds. The error is
// INVALID_INPUT where a field is not of its form; the reason is 1 to 500 UTF-16 units.
func (s *Scope) Decline(notAfter uint64, trustDomain, reason string) (Statement, error) {
	if _, err := s.Approval(notAfter, trustDomain); err != nil {
		return Statement{}, err
	}
	if err := wire.CheckReason(reason); err != nil {
		return Statement{}, err
	}
	return declineStatement(s.batchID, s.Root(), uint64(s.Size()), notAfter, trustDomain, reason), nil
}

func declineStatement(batchID string, root merkle.Hash, size, notAfter uint64, trustDomain, reason string) Statement {
	s := approvalStatement(batchID, root, size, notAfter, trustDomain)
	return Statement{purpose: PurposeBatchDecline, parts: append(s.parts, []byte(reason))}
}

// A DeclineFile is the decline of one approver as batch decline prints it (WIRE.md §5). It counts for nothing: it tells
// the others why. What it says was signed is only a claim until the signature verifies for a key of the set. Reason is
// text from outside, as it came.
type DeclineFile struct {
	KID         KID
	Sig         Sig
	BatchID     string
	ScopeRoot   merkle.Hash
	ScopeSize   uint64
	NotAfter    uint64 // Unix milliseconds
	TrustDomain string
	Reason      string
}

// NewDeclineFile gives the file of a signature over a decline; every field is read off the statement that was signed. It
// panics for a statement of another purpose.
func NewDeclineFile(s Statement, signature Signature) *DeclineFile {
	if s.purpose != PurposeBatchDecline {
		panic("quorum: a decline is over a " + string(PurposeBatchDecline))
	}
	return &DeclineFile{
		KID: signature.KID, Sig: signature.Sig,
		BatchID: string(s.parts[0]), ScopeRoot: merkle.Hash(s.parts[1]), ScopeSize: binary.BigEndian.Uint64(s.parts[2]),
		NotAfter: binary.BigEndian.Uint64(s.parts[3]), TrustDomain: string(s.parts[4]), Reason: string(s.parts[5]),
	}
}

// Verifies tells whether the file's signature is the key's over what the file says was declined.
func (f *DeclineFile) Verifies(key PublicKey) bool {
	return key.KID() == f.KID &&
		key.Verify(declineStatement(f.BatchID, f.ScopeRoot, f.ScopeSize, f.NotAfter, f.TrustDomain, f.Reason), f.Sig)
}

// IsDeclineFile tells whether data is a JSON object that calls itself a decline; ParseDeclineFile then says whether it is
// one.
func IsDeclineFile(data []byte) bool { return formatOf(data) == FormatBatchDecline }

type declineJSON struct {
	Format      *string `json:"format"`
	Version     *uint64 `json:"version"`
	KID         *string `json:"kid"`
	Sig         *string `json:"sig"`
	BatchID     *string `json:"batchId"`
	ScopeRoot   *string `json:"scopeRoot"`
	ScopeSize   *uint64 `json:"scopeSize"`
	NotAfter    *uint64 `json:"notAfter"`
	TrustDomain *string `json:"trustDomain"`
	Reason      *string `json:"reason"`
}

// ParseDeclineFile reads a decline strictly; its reason alone may hold escapes, of which a lone surrogate becomes U+FFFD.
// The error is INVALID_INPUT.
func ParseDeclineFile(data []byte) (*DeclineFile, error) {
	const what = "batch decline"
	var j declineJSON
	if err := wire.DecodeJSON(what, data, &j, "reason"); err != nil {
		return nil, err
	}
	if err := checkHeader(what, FormatBatchDecline, j.Format, j.Version); err != nil {
		return nil, err
	}
	signed := signatureJSON{KID: j.KID, Sig: j.Sig, BatchID: j.BatchID, ScopeRoot: j.ScopeRoot, ScopeSize: j.ScopeSize,
		NotAfter: j.NotAfter, TrustDomain: j.TrustDomain}
	s, err := signed.parse(what)
	switch {
	case err != nil:
		return nil, err
	case j.Reason == nil:
		return nil, missing(what, "reason")
	}
	if err := wire.CheckReason(*j.Reason); err != nil {
		return nil, err
	}
	return &DeclineFile{s.KID, s.Sig, s.BatchID, s.ScopeRoot, s.ScopeSize, s.NotAfter, s.TrustDomain, *j.Reason}, nil
}

// Encode gives the file: one line of compact JSON with a final newline.
func (f *DeclineFile) Encode() []byte {
	return encodeLine(declineJSON{
		Format: new(FormatBatchDecline), Version: new(uint64(fileVersion)), KID: new(f.KID.String()), Sig: new(f.Sig.String()),
		BatchID: &f.BatchID, ScopeRoot: new(f.ScopeRoot.String()), ScopeSize: &f.ScopeSize, NotAfter: &f.NotAfter,
		TrustDomain: &f.TrustDomain, Reason: &f.Reason,
	})
}
