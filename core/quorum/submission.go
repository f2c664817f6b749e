package quorum

import (
	"bytes"

	"github.com/better-compute/approver/core/wire"
)

// A Submission is signatures as one file hands them over, and what it says they are over. Nothing of it is verified: it is
// what Verified.Judge of package scope takes.
type Submission struct {
	Approval    Approval
	TrustDomain string // "" where the form says none, which is the protobuf form alone
	Combined    bool   // a combined approval; otherwise one signature
	Unchecked   bool   // a signature file that says nobody saw the batch; a combined approval can't say so
}

// ParseSubmission reads a batch signature, or a combined approval in either form, told apart by their content. The error
// is INVALID_INPUT.
func ParseSubmission(data []byte) (*Submission, error) {
	switch {
	case len(data) == 0:
		return nil, wire.Errorf(wire.InvalidInput, "", "the file is empty")
	case !isJSONObject(data) && data[0] != approvalTag:
		return nil, wire.Errorf(wire.InvalidInput, "", "the file is neither a JSON object, as signatures and combined approvals are, nor a BatchApproval in protobuf")
	case !isJSONObject(data):
		a, err := ParseApproval(data)
		if err != nil {
			return nil, err
		}
		return &Submission{Approval: *a, Combined: true}, nil
	case formatOf(data) == FormatBatchApproval:
		f, err := ParseApprovalFile(data)
		if err != nil {
			return nil, err
		}
		return &Submission{Approval: f.Approval, TrustDomain: f.TrustDomain, Combined: true}, nil
	}
	f, err := ParseSignatureFile(data)
	if err != nil {
		return nil, err
	}
	return f.Submission(), nil
}

// approvalTag is the byte that every BatchApproval begins with: the tag of its batch id.
const approvalTag = 0x0a

// isJSONObject tells a JSON object from a protobuf message. A BatchApproval begins with the tag 0a, a line feed, and the
// length of its batch id, which is "{" for one of 123 bytes; but then comes a letter or digit, and after the "{" of an
// object comes none.
func isJSONObject(data []byte) bool {
	const space = " \t\r\n"
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(data, space), []byte("{"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(space+`"}`), rest[0]) >= 0)
}

// Submission gives the file as it is handed over to be judged.
func (f *SignatureFile) Submission() *Submission {
	return &Submission{TrustDomain: f.TrustDomain, Unchecked: f.Unchecked, Approval: Approval{
		BatchID: f.BatchID, ScopeRoot: bytes.Clone(f.ScopeRoot[:]), ScopeSize: f.ScopeSize, NotAfter: f.NotAfter,
		Signatures: []UnverifiedSignature{f.Signature()},
	}}
}
