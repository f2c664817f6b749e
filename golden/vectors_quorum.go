package golden

// A CombinedApproval is a combined approval in JSON, as its Content, or in protobuf.
type CombinedApproval struct {
	Name  string `json:"name"`
	Binpb string `json:"binpb"` // base64: the protobuf form; of a good file the same approval
	Content
	Outcome
	Canonical   bool      `json:"canonical"`   // the JSON is laid out as it is written
	TrustDomain string    `json:"trustDomain"` // of a good file
	Approval    *Approval `json:"approval"`    // what a good one says
}

// A CombinedApprovalFile is all of combined-approval.json.
type CombinedApprovalFile struct {
	Messages []CombinedApproval `json:"messages"` // in protobuf
	Files    []CombinedApproval `json:"files"`    // in JSON
}

// CombinedApprovals gives combined approvals (WIRE.md §5).
func CombinedApprovals() CombinedApprovalFile {
	return load[CombinedApprovalFile]("combined-approval.json")
}

// A ProofMessage is the protobuf message BatchProof.
type ProofMessage struct {
	Name  string `json:"name"`
	Binpb string `json:"binpb"` // base64
	Outcome
	Proof *Proof `json:"proof"` // what a good one says
}

// A ProofFile is an inclusion proof as batch prove prints it.
type ProofFile struct {
	Name string `json:"name"`
	Content
	Outcome
	Canonical bool   `json:"canonical"` // it is laid out as it is written
	Binpb     string `json:"binpb"`     // base64: the proof alone, in protobuf
}

// A BatchProofFile is all of batch-proof.json.
type BatchProofFile struct {
	Messages []ProofMessage `json:"messages"`
	Files    []ProofFile    `json:"files"`
}

// BatchProofs gives inclusion proofs (WIRE.md §2).
func BatchProofs() BatchProofFile { return load[BatchProofFile]("batch-proof.json") }

// A SetDigest is an approver set, what its digest covers, and what its approvers sign at an epoch.
type SetDigest struct {
	Name         string `json:"name"`
	File         string `json:"file"`      // an approver set file, unsigned
	Input        string `json:"input"`     // hex: approver_set_input
	SetSHA256    string `json:"setSha256"` // hex: approver_set_digest
	Epoch        uint64 `json:"epoch"`
	TrustDomain  string `json:"trustDomain"`
	SigningInput string `json:"signingInput"` // hex
}

// A SetSignature is an approver-set signature file.
type SetSignature struct {
	Name string `json:"name"`
	Content
	Outcome
	Canonical bool   `json:"canonical"` // it is laid out as it is written
	Epoch     uint64 `json:"epoch"`
	SetSHA256 string `json:"setSha256"` // hex
	KID       string `json:"kid"`
	Verifies  bool   `json:"verifies"` // the signature is alice's over what the file says
}

// A SetDigestFile is all of approver-set-digest.json.
type SetDigestFile struct {
	Digests    []SetDigest    `json:"digests"`
	Signatures []SetSignature `json:"signatures"`
}

// SetDigests gives approver sets with their digests, and signatures over them (WIRE.md §4 and §5).
func SetDigests() SetDigestFile { return load[SetDigestFile]("approver-set-digest.json") }
