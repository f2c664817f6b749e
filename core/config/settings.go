package config

import (
	"crypto/sha256"
	"crypto/x509"
	"path/filepath"

	"github.com/better-compute/approver/core/quorum"
)

// Settings are what is configured, by the file and by the environment, checked: what is set is of its form, what it names
// could be read, and all of it holds together. Load makes them. The zero Settings are those of a machine where nothing is
// configured.
type Settings struct {
	File    string // path of the configuration file as it was named, or ""
	NamedBy string // --config, or the environment variable that led to it
	Passed  string // the file in the default place, which is there and is passed over for another that is named, or ""

	TrustDomain    Setting[string]
	Key            Setting[string] // as it is written: a path (Resolve makes it one to open) or a pkcs11: URI
	PublicKey      Setting[PublicKey]
	MaxHours       Setting[int]    // 1 to 720
	Kinds          Setting[string] // path of the table
	ExpectedLists  Setting[string] // path of the folder
	State          Setting[string] // path of the folder of the ledger, which need not be there yet
	Module         Setting[Module]
	CommandSigning Setting[[]*x509.Certificate]
	TrustVersion   Setting[uint64]       // 1 to 2^53-1
	SetFile        Setting[*ApproverSet] // of the key "approvers"
	Published      Setting[*ApproverSet] // of [pki.approvers] or the environment
	written        map[string]Written    // by the name of its key
}

// A PublicKey is the public half that is expected of the approver's key.
type PublicKey struct {
	Path string
	Key  quorum.PublicKey
}

// A Module is a PKCS#11 module and the digest its file must have.
type Module struct {
	Path   string // absolute
	SHA256 [sha256.Size]byte
}

// An ApproverSet is a configured approver set with at least one key.
type ApproverSet struct {
	Paths      []string // what it was read from
	Set        *quorum.Set
	Epoch      uint64 // 1 to 2^53-1
	Signatures []SetSignature
}

// A Written is a key that is configured, as it is written.
type Written struct {
	Value  any // a string, an int64, or a list of strings or tiers
	Origin Origin
}

// Written gives what is written for a key, for whoever shows the configuration. ok is false where the key is absent.
func (s *Settings) Written(key string) (w Written, ok bool) {
	w, ok = s.written[key]
	return w, ok
}

// ApproverSet gives the configured approver set, from whichever place, or the zero Setting. Where two places have one, Load
// saw that they are the same.
func (s *Settings) ApproverSet() Setting[*ApproverSet] {
	if s.SetFile.IsSet() {
		return s.SetFile
	}
	return s.Published
}

// Resolve gives a path of the configuration file as one to open: a relative one starts at the file's folder. No path stays
// none.
func (s *Settings) Resolve(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(s.File), path)
}
