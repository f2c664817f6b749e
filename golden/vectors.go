package golden

// A Key is a key pair for tests only.
type Key struct {
	Name       string `json:"name"` // alice, bob, carol, dave, erin
	Scalar     string `json:"scalar"`
	KID        string `json:"kid"`
	Pin        string `json:"pin"`
	SPKI       string `json:"spkiDer"`       // base64
	PrivatePEM string `json:"privateKeyPem"` // PKCS#8
	PublicPEM  string `json:"publicKeyPem"`
}

// A PublicKeyVector is SPKI DER that is taken, with its kid, or refused.
type PublicKeyVector struct {
	Name string `json:"name"`
	SPKI string `json:"spkiDer"` // base64
	Outcome
	KID string `json:"kid"`
}

type keyFile struct {
	Note    string            `json:"note"`
	Keys    []Key             `json:"keys"`
	Vectors []PublicKeyVector `json:"vectors"`
}

// Keys gives the key pairs that signed everything in the vectors (WIRE.md §1).
func Keys() []Key { return load[keyFile]("approver-key.json").Keys }

// PublicKeys gives encodings of public keys (WIRE.md §1).
func PublicKeys() []PublicKeyVector { return load[keyFile]("approver-key.json").Vectors }

// A SigningInput is a purpose and its parts, the bytes a signature covers, and a signature over them.
type SigningInput struct {
	Name    string   `json:"name"`
	Purpose string   `json:"purpose"`
	Parts   []string `json:"parts"`  // hex
	Input   string   `json:"input"`  // hex
	SHA256  string   `json:"sha256"` // hex
	Signer  string   `json:"signer"` // the name of a key
	KID     string   `json:"kid"`
	Sig     string   `json:"sig"` // base64url
}

// A SignatureVector is a signature that verifies with a key over an input, or does not.
type SignatureVector struct {
	Name  string `json:"name"`
	Input string `json:"input"` // hex
	Key   string `json:"key"`   // the name of a key
	Sig   string `json:"sig"`   // hex, of any length
	Want  string `json:"want"`  // "ok" or "refused"
}

type signingFile struct {
	Inputs     []SigningInput    `json:"inputs"`
	Signatures []SignatureVector `json:"signatures"`
}

// SigningInputs gives the signing input of every purpose of an approver's key (WIRE.md §1).
func SigningInputs() []SigningInput { return load[signingFile]("signing-input.json").Inputs }

// Signatures gives signatures over one signing input.
func Signatures() []SignatureVector { return load[signingFile]("signing-input.json").Signatures }

// A KeyProof is a PATH.proof file.
type KeyProof struct {
	Name string `json:"name"`
	Content
	Outcome
	KID string `json:"kid"`
}

// KeyProofs gives PATH.proof files (WIRE.md §5).
func KeyProofs() []KeyProof { return load[[]KeyProof]("key-proof.json") }

// A Proof is an inclusion proof.
type Proof struct {
	Index    uint64   `json:"index"`
	Siblings []string `json:"siblings"` // hex, from leaf to root
}

// A TreeLeaf is what a leaf hash covers, but for the batch id.
type TreeLeaf struct {
	Subject       string `json:"subject"`
	Kind          string `json:"kind"`
	PayloadSHA256 string `json:"payloadSha256"` // hex, or empty for an unbound leaf
}

// A Tree is a tree with the proof of every leaf.
type Tree struct {
	Name       string     `json:"name"`
	BatchID    string     `json:"batchId"`
	Leaves     []TreeLeaf `json:"leaves"`     // as listed
	LeafHashes []string   `json:"leafHashes"` // in hash order
	Order      []int      `json:"order"`      // of each place in hash order the leaf as listed
	Size       int        `json:"size"`
	Root       string     `json:"root"`
	Proofs     []Proof    `json:"proofs"` // in hash order
}

// A BadProof is a proof that must not verify.
type BadProof struct {
	Name     string `json:"name"`
	LeafHash string `json:"leafHash"`
	Size     uint64 `json:"size"`
	Root     string `json:"root"`
	Proof    Proof  `json:"proof"`
}

type merkleFile struct {
	Trees   []Tree     `json:"trees"`
	Refused []BadProof `json:"refused"`
}

// Trees gives trees of 1 to 33 leaves (WIRE.md §2).
func Trees() []Tree { return load[merkleFile]("merkle.json").Trees }

// BadProofs gives proofs that must not verify, each by one mutation.
func BadProofs() []BadProof { return load[merkleFile]("merkle.json").Refused }

// A Words is bytes and the PGP words they are read aloud as.
type Words struct {
	Name  string `json:"name"`
	Hex   string `json:"hex"`
	Words string `json:"words"` // with a space between
}

// PGPWords gives bytes with their words; the last vector has all 512.
func PGPWords() []Words { return load[[]Words]("pgp-words.json") }

// A TextForm is a text that has the form of its field, or not.
type TextForm struct {
	Name  string `json:"name"`
	Form  string `json:"form"` // id, kind, trustDomain, address, subject, hex, base64, base64url or kid
	Text  string `json:"text"`
	Want  string `json:"want"`  // "ok" or "refused"
	Size  int    `json:"size"`  // of hex: the bytes that are wanted
	Bytes string `json:"bytes"` // hex: what a good text of an encoding reads as
}

// TextForms gives texts of every form (WIRE.md §1 and §2).
func TextForms() []TextForm { return load[[]TextForm]("text-forms.json") }
