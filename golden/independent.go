package golden

import "path"

// Independent gives a file of the folder independent, such as "batch-scope.json" or "scopes/ok-2.json"; its README.md says
// what they hold. It panics where there is none.
func Independent(name string) []byte {
	data, err := files.ReadFile(path.Join("independent", name))
	if err != nil {
		panic("golden: " + err.Error())
	}
	return data
}

// A Case is a scope file and how approver batch sign --scope FILE --key KEY --yes ends on it.
type Case struct {
	File   string `json:"file"`
	Exit   int    `json:"exit"`
	Code   string `json:"code"`
	Reason string `json:"reason"` // or empty, and then not to be compared
	Note   string `json:"note"`
}

// Content gives the scope file.
func (c Case) Content() []byte { return Independent("scopes/" + c.File) }

type caseFile struct {
	Now   uint64 `json:"now"`
	Run   string `json:"run"`
	Cases []Case `json:"cases"`
}

// Cases gives the independent scope files, and the clock they are for in Unix milliseconds.
func Cases() (now uint64, cases []Case) {
	f := load[caseFile]("independent/scopes.json")
	return f.Now, f.Cases
}

// An IndependentSet is an approver set as the independent vectors write one. It may break the rules of sets.
type IndependentSet struct {
	Keys                        []IndependentKey `json:"keys"`
	Threshold                   uint32           `json:"threshold"`
	Tiers                       []Tier           `json:"tiers"`
	UnbatchedDestructivePerHour uint32           `json:"unbatchedDestructivePerHour"`
}

// An IndependentKey is an approver's key beside a kid, which may be another's.
type IndependentKey struct {
	KID  string `json:"kid"`
	SPKI []byte `json:"spkiDer"`
}

// A Tier is the approvals that a batch of at most MaxScopeSize leaves requires.
type Tier struct {
	MaxScopeSize uint32 `json:"maxScopeSize"`
	Threshold    uint32 `json:"threshold"`
}

// An Offer is a holder of an approver set, or of none, and a set that it is offered.
type Offer struct {
	Name   string `json:"name"`
	Holder struct {
		Set         *IndependentSet `json:"set"` // nil, or without keys, for a holder of none
		Epoch       uint64          `json:"epoch"`
		TrustDomain *string         `json:"trustDomain"`
		Pin         *string         `json:"pinSha256"` // hex
	} `json:"holder"`
	Offer struct {
		Set        IndependentSet   `json:"set"`
		Epoch      uint64           `json:"epoch"`
		Signatures []SignatureEntry `json:"signatures"`
	} `json:"offer"`
	Outcome string `json:"outcome"` // "taken", "kept", or the reason of the refusal
}

// Offers gives what holders do with sets they are offered (WIRE.md §4).
func Offers() []Offer { return load[[]Offer]("independent/approver-set-offers.json") }

// An ApprovalCheck is an approval that holds for a set under its trust domain at a time, or not.
type ApprovalCheck struct {
	Name        string         `json:"name"`
	Set         IndependentSet `json:"set"`
	TrustDomain string         `json:"trustDomain"`
	Now         uint64         `json:"now"` // Unix milliseconds
	Approval    Approval       `json:"approval"`
	Want        string         `json:"want"` // "holds", or the reason of the refusal
}

// ApprovalChecks gives approvals that hold or do not (WIRE.md §3).
func ApprovalChecks() []ApprovalCheck {
	return load[[]ApprovalCheck]("independent/batch-approval-checks.json")
}
