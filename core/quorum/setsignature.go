package quorum

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/better-compute/approver/core/wire"
)

// A SetSignatureFile is the signature of one approver over an approver set at an epoch (WIRE.md §5). What it says was
// signed is only a claim until the signature verifies for a key of the set that is held.
type SetSignatureFile struct {
	Epoch       uint64 // 1 to 2^53-1
	TrustDomain string
	Set         *Set
	Signature   Signature
}

// NewSetSignatureFile gives the file of a signature over a change of the approver set; every field is read off the
// statement that was signed. It panics for a statement of another purpose.
func NewSetSignatureFile(s Statement, signature Signature) *SetSignatureFile {
	if s.purpose != PurposeApproverSet {
		panic("quorum: an approver-set signature is over a " + string(PurposeApproverSet))
	}
	return &SetSignatureFile{Epoch: binary.BigEndian.Uint64(s.parts[0]), TrustDomain: string(s.parts[2]), Set: s.set, Signature: signature}
}

// Verifies tells whether the file's signature is the key's over the set, its epoch and the trust domain of the file.
func (f *SetSignatureFile) Verifies(key PublicKey) bool {
	return key.KID() == f.Signature.KID && key.Verify(f.Set.changeStatement(f.Epoch, f.TrustDomain), f.Signature.Sig)
}

// ParseSetSignatureFile reads an approver-set signature strictly; setSha256 must be the digest of its set. The error is
// INVALID_INPUT; where a rule of the set or its epoch is broken its reason is malformed-set.
func ParseSetSignatureFile(data []byte) (*SetSignatureFile, error) {
	const what = "approver-set signature"
	var j struct {
		Epoch       *uint64             `json:"epoch"`
		TrustDomain *string             `json:"trustDomain"`
		SetSHA256   *string             `json:"setSha256"`
		Set         *setJSON            `json:"set"`
		Signature   *signatureEntryJSON `json:"signature"`
	}
	if err := wire.DecodeJSON(what, data, &j); err != nil {
		return nil, err
	}
	for _, member := range []struct {
		name   string
		absent bool
	}{
		{"epoch", j.Epoch == nil}, {"trustDomain", j.TrustDomain == nil}, {"setSha256", j.SetSHA256 == nil},
		{"set", j.Set == nil}, {"signature", j.Signature == nil},
	} {
		if member.absent {
			return nil, missing(what, member.name)
		}
	}
	f := &SetSignatureFile{Epoch: *j.Epoch, TrustDomain: *j.TrustDomain}
	if err := checkEpoch(f.Epoch); err != nil {
		return nil, err
	}
	if err := wire.CheckTrustDomain("trustDomain", f.TrustDomain); err != nil {
		return nil, err
	}
	declared, err := wire.ParseHex("setSha256", *j.SetSHA256, sha256.Size)
	if err != nil {
		return nil, err
	}
	if f.Set, err = j.Set.set(); err != nil {
		return nil, err
	}
	if digest := f.Set.Digest(); !bytes.Equal(declared, digest[:]) {
		return nil, wire.Errorf(wire.InvalidInput, "", "%s: the set gives digest %x, setSha256 is %x", what, digest, declared).
			With("computed", hex.EncodeToString(digest[:])).With("declared", *j.SetSHA256)
	}
	if f.Signature, err = j.Signature.parse(what); err != nil {
		return nil, err
	}
	return f, nil
}

// Encode gives the file: compact JSON, one key and one tier a line, with a final newline.
func (f *SetSignatureFile) Encode() []byte {
	digest := f.Set.Digest()
	var b bytes.Buffer
	b.WriteString(`{"epoch":` + strconv.FormatUint(f.Epoch, 10) + `,"trustDomain":"` + f.TrustDomain +
		`","setSha256":"` + hex.EncodeToString(digest[:]) + `","set":`)
	f.Set.encode(&b)
	b.WriteString(`,"signature":{"kid":"` + f.Signature.KID.String() + `","sig":"` + f.Signature.Sig.String() + `"}}` + "\n")
	return b.Bytes()
}
