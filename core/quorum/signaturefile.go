package quorum

import (
	"encoding/binary"
	"slices"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// A SignatureFile is a batch signature as batch sign prints it (WIRE.md §5). What it says was signed is only a claim
// until the signature verifies for a key of the set.
type SignatureFile struct {
	KID         KID
	Sig         Sig
	BatchID     string
	ScopeRoot   merkle.Hash
	ScopeSize   uint64
	NotAfter    uint64 // Unix milliseconds
	TrustDomain string
	Unchecked   bool // signed without a scope that was reviewed
}

// NewSignatureFile gives the file of a signature over an approval; every field is read off the statement that was signed.
// It panics for a statement of another purpose.
func NewSignatureFile(s Statement, signature Signature) *SignatureFile {
	if s.purpose != PurposeBatchApproval {
		panic("quorum: a batch signature is over a " + string(PurposeBatchApproval))
	}
	return &SignatureFile{
		KID: signature.KID, Sig: signature.Sig,
		BatchID: string(s.parts[0]), ScopeRoot: merkle.Hash(s.parts[1]), ScopeSize: binary.BigEndian.Uint64(s.parts[2]),
		NotAfter: binary.BigEndian.Uint64(s.parts[3]), TrustDomain: string(s.parts[4]), Unchecked: s.unchecked,
	}
}

// Verifies tells whether the file's signature is the key's over what the file says was signed.
func (f *SignatureFile) Verifies(key PublicKey) bool {
	return key.KID() == f.KID && key.Verify(approvalStatement(f.BatchID, f.ScopeRoot, f.ScopeSize, f.NotAfter, f.TrustDomain), f.Sig)
}

type signatureJSON struct {
	Format      *string `json:"format"`
	Version     *uint64 `json:"version"`
	KID         *string `json:"kid"`
	Sig         *string `json:"sig"`
	BatchID     *string `json:"batchId"`
	ScopeRoot   *string `json:"scopeRoot"`
	ScopeSize   *uint64 `json:"scopeSize"`
	NotAfter    *uint64 `json:"notAfter"`
	TrustDomain *string `json:"trustDomain"`
	Unchecked   *bool   `json:"unchecked,omitempty"`
}

// ParseSignatureFile reads a batch signature strictly. The error is INVALID_INPUT.
func ParseSignatureFile(data []byte) (*SignatureFile, error) {
	const what = "batch signature"
	var j signatureJSON
	if err := wire.DecodeJSON(what, data, &j); err != nil {
		return nil, err
	}
	if err := checkHeader(what, FormatBatchSignature, j.Format, j.Version); err != nil {
		return nil, err
	}
	f, err := j.parse(what)
	if err != nil {
		return nil, err
	}
	f.Unchecked = j.Unchecked != nil && *j.Unchecked
	return f, nil
}

// parse reads the members that an approval's file and a decline's share.
func (j *signatureJSON) parse(what string) (*SignatureFile, error) {
	for _, member := range []struct {
		name   string
		absent bool
	}{
		{"kid", j.KID == nil}, {"sig", j.Sig == nil}, {"batchId", j.BatchID == nil}, {"scopeRoot", j.ScopeRoot == nil},
		{"scopeSize", j.ScopeSize == nil}, {"notAfter", j.NotAfter == nil}, {"trustDomain", j.TrustDomain == nil},
	} {
		if member.absent {
			return nil, missing(what, member.name)
		}
	}
	f := &SignatureFile{BatchID: *j.BatchID, ScopeSize: *j.ScopeSize, NotAfter: *j.NotAfter, TrustDomain: *j.TrustDomain}
	if err := f.parseFields(j); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *SignatureFile) parseFields(j *signatureJSON) (err error) {
	if f.KID, err = ParseKID(*j.KID); err != nil {
		return err
	}
	if f.Sig, err = ParseSig(*j.Sig); err != nil {
		return err
	}
	root, err := wire.ParseHex("scopeRoot", *j.ScopeRoot, len(merkle.Hash{}))
	if err != nil {
		return err
	}
	f.ScopeRoot = merkle.Hash(root)
	if f.ScopeSize < 1 || f.ScopeSize > wire.MaxLeaves {
		return wire.Errorf(wire.InvalidInput, "", "scopeSize is %d; wanted: 1 to %d", f.ScopeSize, wire.MaxLeaves)
	}
	if err := wire.CheckID("batchId", f.BatchID); err != nil {
		return err
	}
	return wire.CheckTrustDomain("trustDomain", f.TrustDomain)
}

// Encode gives the file: one line of compact JSON with a final newline.
func (f *SignatureFile) Encode() []byte {
	j := signatureJSON{
		Format: new(FormatBatchSignature), Version: new(uint64(fileVersion)), KID: new(f.KID.String()), Sig: new(f.Sig.String()),
		BatchID: &f.BatchID, ScopeRoot: new(f.ScopeRoot.String()), ScopeSize: &f.ScopeSize, NotAfter: &f.NotAfter,
		TrustDomain: &f.TrustDomain,
	}
	if f.Unchecked {
		j.Unchecked = &f.Unchecked
	}
	return encodeLine(j)
}

// Signature gives the signature as an approval carries it.
func (f *SignatureFile) Signature() UnverifiedSignature {
	return UnverifiedSignature{KID: f.KID.String(), Sig: slices.Clone(f.Sig[:])}
}
