package quorum

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

type proofJSON struct {
	Format        *string  `json:"format"`
	Version       *uint64  `json:"version"`
	BatchID       *string  `json:"batchId"`
	ScopeRoot     *string  `json:"scopeRoot"`
	ScopeSize     *uint64  `json:"scopeSize"`
	Subject       *string  `json:"subject"`
	Kind          *string  `json:"kind"`
	PayloadSHA256 *string  `json:"payloadSha256"`
	LeafHash      *string  `json:"leafHash"`
	Index         *uint64  `json:"index"`
	Siblings      []string `json:"siblings,omitempty"` // which are written by themselves, one a line
}

// Encode gives the file: compact JSON, one sibling a line, with a final newline.
func (f *ProofFile) Encode() []byte {
	head := encodeLine(proofJSON{
		Format: new(FormatBatchProof), Version: new(uint64(fileVersion)), BatchID: &f.BatchID, ScopeRoot: new(f.ScopeRoot.String()),
		ScopeSize: &f.ScopeSize, Subject: &f.Entry.Subject, Kind: &f.Entry.Kind, PayloadSHA256: new(hex.EncodeToString(f.Entry.PayloadSHA256)),
		LeafHash: new(f.LeafHash().String()), Index: new(uint64(f.Proof.Index)),
	})
	return closeWithList(head, "siblings", encodeList(f.Proof.Siblings))
}

// ParseProofFile reads the file strictly. leafHash must be that of the leaf's fields, and the proof must lead from it to
// the root and size that the file claims. Errors are INVALID_INPUT, and ACCESS_DENIED (not-in-scope) for a proof that does
// not.
func ParseProofFile(data []byte) (*ProofFile, error) {
	const what = "inclusion proof"
	var j proofJSON
	if err := wire.DecodeJSON(what, data, &j); err != nil {
		return nil, err
	}
	if err := checkHeader(what, FormatBatchProof, j.Format, j.Version); err != nil {
		return nil, err
	}
	for _, member := range []struct {
		name   string
		absent bool
	}{
		{"batchId", j.BatchID == nil}, {"scopeRoot", j.ScopeRoot == nil}, {"scopeSize", j.ScopeSize == nil},
		{"subject", j.Subject == nil}, {"kind", j.Kind == nil}, {"payloadSha256", j.PayloadSHA256 == nil},
		{"leafHash", j.LeafHash == nil}, {"index", j.Index == nil}, {"siblings", j.Siblings == nil},
	} {
		if member.absent {
			return nil, missing(what, member.name)
		}
	}
	f := &ProofFile{BatchID: *j.BatchID, ScopeSize: *j.ScopeSize, Entry: Entry{Subject: *j.Subject, Kind: *j.Kind}}
	if err := f.parseFields(&j); err != nil {
		return nil, err
	}
	claimed := &Approval{BatchID: f.BatchID, ScopeRoot: f.ScopeRoot[:], ScopeSize: f.ScopeSize}
	if err := claimed.checkForm(); err != nil {
		return nil, err
	}
	if err := f.VerifyIn(f.ScopeRoot, f.ScopeSize); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *ProofFile) parseFields(j *proofJSON) error {
	root, err := wire.ParseHex("scopeRoot", *j.ScopeRoot, len(merkle.Hash{}))
	if err != nil {
		return err
	}
	f.ScopeRoot = merkle.Hash(root)
	if *j.PayloadSHA256 != "" {
		if f.Entry.PayloadSHA256, err = wire.ParseHex("payloadSha256", *j.PayloadSHA256, sha256.Size); err != nil {
			return err
		}
	}
	if !f.Entry.isWellFormed() {
		return wire.Errorf(wire.InvalidInput, "", "inclusion proof: subject %q or kind %q is not of its form", f.Entry.Subject, f.Entry.Kind)
	}
	if leaf := f.LeafHash().String(); leaf != *j.LeafHash {
		return wire.Errorf(wire.InvalidInput, "", "leafHash is %q; the leaf's fields give %s", *j.LeafHash, leaf)
	}
	if len(j.Siblings) > maxSiblings {
		return wire.Errorf(wire.InvalidInput, "", "inclusion proof: %d siblings; at most %d are taken", len(j.Siblings), maxSiblings)
	}
	siblings := make([][]byte, len(j.Siblings))
	for i, s := range j.Siblings {
		if siblings[i], err = wire.ParseHex("sibling", s, len(merkle.Hash{})); err != nil {
			return err
		}
	}
	f.Proof, err = newProof(*j.Index, siblings)
	return err
}
