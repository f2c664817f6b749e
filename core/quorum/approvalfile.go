package quorum

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// An ApprovalFile is a combined approval in its JSON form (WIRE.md §5): the BatchApproval and, what the protobuf form
// lacks, the trust domain that was signed for. Nothing of it is verified.
type ApprovalFile struct {
	Approval    Approval
	TrustDomain string
}

// NewApprovalFile combines signatures over one approval, in ascending order of kid; every other field is read off the
// statement that was signed. Whether the signatures verify is not looked at. It panics for a statement of another purpose.
// The error is INVALID_INPUT for a kid twice or more than 64 signatures.
func NewApprovalFile(s Statement, signatures []Signature) (*ApprovalFile, error) {
	if s.purpose != PurposeBatchApproval {
		panic("quorum: a combined approval is of signatures over a " + string(PurposeBatchApproval))
	}
	f := &ApprovalFile{TrustDomain: string(s.parts[4]), Approval: Approval{
		BatchID: string(s.parts[0]), ScopeRoot: bytes.Clone(s.parts[1]),
		ScopeSize: binary.BigEndian.Uint64(s.parts[2]), NotAfter: binary.BigEndian.Uint64(s.parts[3]),
	}}
	for _, signature := range signatures {
		f.Approval.Signatures = append(f.Approval.Signatures, UnverifiedSignature{signature.KID.String(), bytes.Clone(signature.Sig[:])})
	}
	slices.SortFunc(f.Approval.Signatures, func(a, b UnverifiedSignature) int { return cmp.Compare(a.KID, b.KID) })
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// check holds the file against its form: that of its approval, a trust domain, and kids that ascend.
func (f *ApprovalFile) check() error {
	if err := f.Approval.checkForm(); err != nil {
		return err
	}
	for i, s := range f.Approval.Signatures[min(1, len(f.Approval.Signatures)):] {
		if before := f.Approval.Signatures[i].KID; s.KID <= before {
			return wire.Errorf(wire.InvalidInput, "", "combined approval: kid %s comes after %s; kids ascend, each once", s.KID, before)
		}
	}
	return wire.CheckTrustDomain("trustDomain", f.TrustDomain)
}

type approvalJSON struct {
	Format      *string              `json:"format"`
	Version     *uint64              `json:"version"`
	BatchID     *string              `json:"batchId"`
	ScopeRoot   *string              `json:"scopeRoot"`
	ScopeSize   *uint64              `json:"scopeSize"`
	NotAfter    *uint64              `json:"notAfter"`
	TrustDomain *string              `json:"trustDomain"`
	Signatures  []signatureEntryJSON `json:"signatures"`
}

// A signatureEntryJSON is { kid, sig } of a list.
type signatureEntryJSON struct {
	KID *string `json:"kid"`
	Sig *string `json:"sig"`
}

func (j *signatureEntryJSON) parse(what string) (s Signature, err error) {
	switch {
	case j.KID == nil:
		return s, missing(what, "kid")
	case j.Sig == nil:
		return s, missing(what, "sig")
	}
	if s.KID, err = ParseKID(*j.KID); err != nil {
		return s, err
	}
	s.Sig, err = ParseSig(*j.Sig)
	return s, err
}

// ParseApprovalFile reads a combined approval in its JSON form strictly: every kid and signature is of its form, and kids
// ascend, so none is there twice. The error is INVALID_INPUT, malformed-approval where size or number of signatures is at
// fault.
func ParseApprovalFile(data []byte) (*ApprovalFile, error) {
	const what = "combined approval"
	var j approvalJSON
	if err := wire.DecodeJSON(what, data, &j); err != nil {
		return nil, err
	}
	if err := checkHeader(what, FormatBatchApproval, j.Format, j.Version); err != nil {
		return nil, err
	}
	for _, member := range []struct {
		name   string
		absent bool
	}{
		{"batchId", j.BatchID == nil}, {"scopeRoot", j.ScopeRoot == nil}, {"scopeSize", j.ScopeSize == nil},
		{"notAfter", j.NotAfter == nil}, {"trustDomain", j.TrustDomain == nil}, {"signatures", j.Signatures == nil},
	} {
		if member.absent {
			return nil, missing(what, member.name)
		}
	}
	root, err := wire.ParseHex("scopeRoot", *j.ScopeRoot, len(merkle.Hash{}))
	if err != nil {
		return nil, err
	}
	f := &ApprovalFile{TrustDomain: *j.TrustDomain, Approval: Approval{
		BatchID: *j.BatchID, ScopeRoot: root, ScopeSize: *j.ScopeSize, NotAfter: *j.NotAfter,
	}}
	for _, entry := range j.Signatures {
		s, err := entry.parse(what)
		if err != nil {
			return nil, err
		}
		f.Approval.Signatures = append(f.Approval.Signatures, UnverifiedSignature{s.KID.String(), s.Sig[:]})
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// Encode gives the JSON form, compact, one signature a line, with a final newline. What NewApprovalFile or
// ParseApprovalFile gave reads back from it.
func (f *ApprovalFile) Encode() []byte {
	type entry struct {
		KID string `json:"kid"`
		Sig string `json:"sig"`
	}
	var entries []entry
	for _, s := range f.Approval.Signatures {
		entries = append(entries, entry{s.KID, wire.EncodeBase64URL(s.Sig)})
	}
	head := encodeLine(struct {
		Format      string      `json:"format"`
		Version     uint64      `json:"version"`
		BatchID     string      `json:"batchId"`
		ScopeRoot   merkle.Hash `json:"scopeRoot"`
		ScopeSize   uint64      `json:"scopeSize"`
		NotAfter    uint64      `json:"notAfter"`
		TrustDomain string      `json:"trustDomain"`
	}{FormatBatchApproval, fileVersion, f.Approval.BatchID, merkle.Hash(f.Approval.ScopeRoot), f.Approval.ScopeSize, f.Approval.NotAfter, f.TrustDomain})
	return closeWithList(head, "signatures", encodeList(entries))
}

// formatOf gives the member "format" of a JSON object, or "" where it has none that reads.
func formatOf(data []byte) string {
	var j struct {
		Format string `json:"format"`
	}
	if json.Unmarshal(data, &j, jsontext.AllowInvalidUTF8(true)) != nil { // of free text it is no word
		return ""
	}
	return j.Format
}
