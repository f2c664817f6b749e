package golden

// A RootCertificate is X.509 DER that is taken for a command-signing root, or refused.
type RootCertificate struct {
	Name   string `json:"name"`
	DER    string `json:"der"`    // base64
	SHA256 string `json:"sha256"` // hex
	Outcome
}

// A BundleOffer is what a trust bundle says of the approver set.
type BundleOffer struct {
	Outcome
	Epoch      uint64 `json:"epoch"`
	SetSHA256  string `json:"setSha256"`  // hex
	Signatures int    `json:"signatures"` // how many
}

// A TrustBundle is the protobuf message TrustBundle.
type TrustBundle struct {
	Name  string `json:"name"`
	Binpb string `json:"binpb"` // base64
	Outcome
	Version       uint64       `json:"version"`
	Roots         []string     `json:"roots"`         // hex: the SHA-256 of each, in the order in which they stand
	Offer         *BundleOffer `json:"offer"`         // nil where the bundle says nothing of a set
	ContentSHA256 string       `json:"contentSha256"` // hex; empty where the offer is refused
}

// A SignedTrustBundle is the protobuf message SignedTrustBundle, and who reads it.
type SignedTrustBundle struct {
	Name        string `json:"name"`
	Binpb       string `json:"binpb"`       // base64
	SPKI        string `json:"spkiDer"`     // base64: the key that is held for the JoinService's
	TrustDomain string `json:"trustDomain"` // the reader's own
	Outcome
	Bundle       string `json:"bundle"`       // base64, of a good one
	SigningInput string `json:"signingInput"` // hex, of a good one
}

// A TrustBundleFile is all of trust-bundle.json.
type TrustBundleFile struct {
	Roots   []RootCertificate   `json:"roots"`
	Bundles []TrustBundle       `json:"bundles"`
	Signed  []SignedTrustBundle `json:"signed"`
}

// TrustBundles gives trust bundles and signed ones (WIRE.md §1 and §4).
func TrustBundles() TrustBundleFile { return load[TrustBundleFile]("trust-bundle.json") }
