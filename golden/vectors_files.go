package golden

// A SignatureEntry is a signature as an approval carries it.
type SignatureEntry struct {
	KID string `json:"kid"`
	Sig string `json:"sig"` // base64url, of any length
}

// An Approval is a BatchApproval as it comes from outside.
type Approval struct {
	BatchID    string           `json:"batchId"`
	ScopeRoot  string           `json:"scopeRoot"` // hex, of any length
	ScopeSize  uint64           `json:"scopeSize"`
	NotAfter   uint64           `json:"notAfter"` // Unix milliseconds
	Signatures []SignatureEntry `json:"signatures"`
}

// An ApprovalVector is an approval that holds for a set under a trust domain at a time, or not.
type ApprovalVector struct {
	Name        string   `json:"name"`
	Set         string   `json:"set"` // the name of a NamedSet
	TrustDomain string   `json:"trustDomain"`
	Now         uint64   `json:"now"` // Unix milliseconds
	Approval    Approval `json:"approval"`
	Want        string   `json:"want"`      // "ok" or "refused"
	Reason      string   `json:"reason"`    // malformed-approval, expired or too-few-approvals
	Required    int      `json:"required"`  // approvals that the size requires
	Approvers   []string `json:"approvers"` // the kids that count, in the order of their first valid signatures
}

// A NamedSet is an approver set that ApprovalVectors refer to.
type NamedSet struct {
	Name string `json:"name"`
	File string `json:"file"` // an approver set file, unsigned
}

// A RequiredVector is how many approvals a scope of a size requires.
type RequiredVector struct {
	Set      string `json:"set"`
	Size     int    `json:"size"`
	Required int    `json:"required"`
}

// An ApprovalFile is all of batch-approval.json.
type ApprovalFile struct {
	Sets     []NamedSet       `json:"sets"`
	Required []RequiredVector `json:"required"`
	Vectors  []ApprovalVector `json:"vectors"`
}

// Approvals gives approvals with the sets they are for (WIRE.md §3).
func Approvals() ApprovalFile { return load[ApprovalFile]("batch-approval.json") }

// An ApproverSetFile is an approver set file, unsigned.
type ApproverSetFile struct {
	Name string `json:"name"`
	Content
	Outcome
	Epoch     uint64 `json:"epoch"`
	SetSHA256 string `json:"setSha256"` // hex: approver_set_digest, WIRE.md §4
	Keys      int    `json:"keys"`
	Threshold int    `json:"threshold"`
	Removal   bool   `json:"removal"`
}

// ApproverSetFiles gives approver set files by the rules of WIRE.md §3 and §5.
func ApproverSetFiles() []ApproverSetFile { return load[[]ApproverSetFile]("approver-set-file.json") }

// A SignatureFile is a batch signature file.
type SignatureFile struct {
	Name string `json:"name"`
	Content
	Outcome
	Input     string `json:"input"` // hex: the signing input of what the file says
	Unchecked bool   `json:"unchecked"`
	Verifies  bool   `json:"verifies"` // the signature is alice's over Input
}

// SignatureFiles gives batch signature files (WIRE.md §5).
func SignatureFiles() []SignatureFile { return load[[]SignatureFile]("batch-signature-file.json") }

// A DeclineFile is the decline of a batch by one approver.
type DeclineFile struct {
	Name string `json:"name"`
	Content
	Outcome
	Canonical  bool   `json:"canonical"`  // it is laid out as it is written
	ReasonText string `json:"reasonText"` // of a good file
	Input      string `json:"input"`      // hex: the signing input of what the file says
	Verifies   bool   `json:"verifies"`   // the signature is alice's over Input
}

// DeclineFiles gives declines (WIRE.md §5).
func DeclineFiles() []DeclineFile { return load[[]DeclineFile]("batch-decline-file.json") }

// A ScopeFile is a scope file or a bare array of leaves, and what reading it and verifying its leaves must come to: the
// checks of WIRE.md §5 from syntax to root.
type ScopeFile struct {
	Name  string `json:"name"`
	Batch string `json:"batch"` // the batch id that is given with a bare array
	Content
	Outcome
	Root    string            `json:"root"` // hex
	Size    int               `json:"size"`
	Order   []int             `json:"order"`   // of each place in hash order the leaf as listed; none for large files
	Opaque  int               `json:"opaque"`  // bound leaves without payload, or of a kind no table knows
	Unbound int               `json:"unbound"` // leaves that admit any payload
	Texts   map[string]string `json:"texts"`   // by member, free texts as they read
}

// ScopeFiles gives scope files.
func ScopeFiles() []ScopeFile { return load[[]ScopeFile]("scope-file.json") }

// A Given is what a person gives beside a scope file, on the command line or by configuration.
type Given struct {
	Root         string `json:"root"`
	TrustDomain  string `json:"trustDomain"`
	NotAfter     uint64 `json:"notAfter"` // Unix milliseconds, or 0 for none
	MaxHours     int    `json:"maxHours"` // or 0 for the default, 72
	AllowOpaque  bool   `json:"allowOpaque"`
	AllowUnbound bool   `json:"allowUnbound"`
	Now          uint64 `json:"now"` // Unix milliseconds
}

// A ScopePolicy is a scope file that verifies, and what the checks after the root must come to, from --root to unbound.
type ScopePolicy struct {
	Name string `json:"name"`
	Content
	Given Given `json:"given"`
	Outcome
}

// ScopePolicies gives scope files with what is given beside them.
func ScopePolicies() []ScopePolicy { return load[[]ScopePolicy]("scope-policy.json") }

// A PayloadVector is a payload of a kind for a subject, clear or refused by one rule of WIRE.md §7.
type PayloadVector struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Value   string `json:"value"` // base64
	Outcome
}

// A KindRow is a row of the table of WIRE.md §7.
type KindRow struct {
	Kind        string   `json:"kind"`
	TypeURL     string   `json:"typeUrl"`
	Destructive bool     `json:"destructive"`
	Roles       []string `json:"roles"`
}

// A RichKind is a kind of an installation, whose message has a field of every type.
type RichKind struct {
	Kind          string `json:"kind"`
	TypeURL       string `json:"typeUrl"`
	Proto         string `json:"proto"`         // its text
	DescriptorSet string `json:"descriptorSet"` // base64: a FileDescriptorSet, with imports
}

// A PayloadFile is all of payload.json.
type PayloadFile struct {
	Kinds   []KindRow       `json:"kinds"`
	Rich    RichKind        `json:"rich"`
	Vectors []PayloadVector `json:"vectors"` // of the built-in kinds and of Rich
}

// Payloads gives payloads with the kinds they are of.
func Payloads() PayloadFile { return load[PayloadFile]("payload.json") }

// A NamedScope is a scope file that ExpectedLists refer to.
type NamedScope struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// An ExpectedList is a list for --expect and how a scope differs from it.
type ExpectedList struct {
	Name  string `json:"name"`
	Scope string `json:"scope"` // the name of a NamedScope
	Content
	Outcome
	Missing    []string `json:"missing"`    // subjects, sorted
	Unexpected []string `json:"unexpected"` // subjects, sorted
	Doubled    []string `json:"doubled"`    // subjects, sorted
}

// An ExpectedFile is all of expected-list.json.
type ExpectedFile struct {
	Scopes  []NamedScope   `json:"scopes"`
	Vectors []ExpectedList `json:"vectors"`
}

// ExpectedLists gives expected lists with the scopes they are held against (WIRE.md §5).
func ExpectedLists() ExpectedFile { return load[ExpectedFile]("expected-list.json") }
