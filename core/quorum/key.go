package quorum

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"math/big"

	"github.com/better-compute/approver/core/wire"
)

// SPKIBytes is the length of the one encoding of a P-256 public key that is taken (WIRE.md §1).
const SPKIBytes = 91

// spkiPrefix is SubjectPublicKeyInfo up to and with the 04 of an uncompressed point: id-ecPublicKey, prime256v1.
var spkiPrefix = []byte{
	0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
	0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
}

// A KID names a public key: base64url, unpadded, of the SHA-256 of its SPKI DER, 43 characters. The zero KID names none.
type KID struct{ s string }

// ParseKID reads a kid. The error is INVALID_INPUT.
func ParseKID(s string) (KID, error) {
	b, err := wire.ParseBase64URL("kid", s)
	if err != nil || len(b) != sha256.Size {
		return KID{}, wire.Errorf(wire.InvalidInput, "", "%q is not a kid; wanted: 43 characters of base64url", s)
	}
	return KID{s}, nil
}

// String gives the 43 characters.
func (k KID) String() string { return k.s }

// MarshalText gives the 43 characters.
func (k KID) MarshalText() ([]byte, error) { return []byte(k.s), nil }

// IsZero tells whether k names no key.
func (k KID) IsZero() bool { return k.s == "" }

// A PublicKey is an approver's P-256 public key: a point of the curve in its one encoding, and its kid. The zero
// PublicKey is no key and verifies nothing.
type PublicKey struct {
	key  *ecdsa.PublicKey
	spki [SPKIBytes]byte
	kid  KID
}

// ParsePublicKey reads SPKI DER, exactly the 91 bytes of WIRE.md §1 with the point on the curve. The error is
// INVALID_INPUT.
func ParsePublicKey(der []byte) (PublicKey, error) {
	if len(der) != SPKIBytes || !bytes.HasPrefix(der, spkiPrefix) {
		return PublicKey{}, wire.Errorf(wire.InvalidInput, "",
			"not a P-256 public key in SPKI DER with an uncompressed point (%d bytes; %d are wanted)", len(der), SPKIBytes)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), der[len(spkiPrefix)-1:])
	if err != nil {
		return PublicKey{}, wire.Errorf(wire.InvalidInput, "", "the public key's point is not on P-256")
	}
	p := PublicKey{key: key, spki: [SPKIBytes]byte(der)}
	sum := sha256.Sum256(der)
	p.kid = KID{wire.EncodeBase64URL(sum[:])}
	return p, nil
}

// NewPublicKey takes a public key of crypto/ecdsa. The error is INVALID_INPUT where it is not on P-256.
func NewPublicKey(key *ecdsa.PublicKey) (PublicKey, error) {
	if key == nil || key.Curve != elliptic.P256() {
		return PublicKey{}, wire.Errorf(wire.InvalidInput, "", "an approver key is on P-256")
	}
	point, err := key.Bytes()
	if err != nil {
		return PublicKey{}, wire.Errorf(wire.InvalidInput, "", "the public key's point is not on P-256")
	}
	return ParsePublicKey(append(spkiPrefix[:len(spkiPrefix)-1:len(spkiPrefix)-1], point...))
}

// ParsePublicPEM reads the form of a .pub file: exactly what PEM writes, lines of 64 characters, with either line end. PEM
// readers pass over what they do not know, each over something else, so a file with anything else in it may be two keys to
// two programs. The error is INVALID_INPUT.
func ParsePublicPEM(data []byte) (PublicKey, error) {
	text := bytes.TrimSuffix(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"))
	block, _ := pem.Decode(append(bytes.Clone(text), '\n'))
	if block == nil || block.Type != "PUBLIC KEY" ||
		!bytes.Equal(append(text, '\n'), pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})) {
		return PublicKey{}, wire.Errorf(wire.InvalidInput, "", "not a public key file; wanted: one PEM block PUBLIC KEY and nothing else")
	}
	return ParsePublicKey(block.Bytes)
}

// PEM gives the form of a .pub file.
func (p PublicKey) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: p.SPKI()})
}

// SPKI gives the 91 bytes of SPKI DER.
func (p PublicKey) SPKI() []byte { return bytes.Clone(p.spki[:]) }

// KID gives the key's name.
func (p PublicKey) KID() KID { return p.kid }

// IsZero tells whether p is no key.
func (p PublicKey) IsZero() bool { return p.key == nil }

// Equal tells whether both are the same point.
func (p PublicKey) Equal(q PublicKey) bool { return p.spki == q.spki }

// ECDSA gives a copy as crypto/ecdsa has it, or nil for the zero PublicKey.
func (p PublicKey) ECDSA() *ecdsa.PublicKey {
	if p.IsZero() {
		return nil
	}
	parsed, err := x509.ParsePKIXPublicKey(p.spki[:])
	if err != nil {
		panic("quorum: a parsed key does not parse: " + err.Error())
	}
	return parsed.(*ecdsa.PublicKey)
}

// Verify tells whether sig is this key's signature over the statement. r and s must lie in 1 to the group order - 1; both
// halves of s are accepted (WIRE.md §1).
func (p PublicKey) Verify(s Statement, sig Sig) bool {
	if p.IsZero() {
		return false
	}
	der, ok := sig.der()
	if !ok {
		return false
	}
	digest := s.Digest()
	return ecdsa.VerifyASN1(p.key, digest[:], der)
}

// SigBytes is the length of a signature, r ‖ s (IEEE P1363).
const SigBytes = 64

// A Sig is an ECDSA P-256 signature, r ‖ s. Two different Sigs of one key may be of one act of signing (s and its other
// half), so a Sig is no identity: approvals are counted by kid.
type Sig [SigBytes]byte

// ParseSig reads the base64url form. The error is INVALID_INPUT.
func ParseSig(s string) (Sig, error) {
	b, err := wire.ParseBase64URL("sig", s)
	if err != nil || len(b) != SigBytes {
		return Sig{}, wire.Errorf(wire.InvalidInput, "", "%q is not a signature; wanted: 64 bytes as 86 characters of base64url", s)
	}
	return Sig(b), nil
}

// String gives the base64url form, 86 characters.
func (s Sig) String() string { return wire.EncodeBase64URL(s[:]) }

// MarshalText gives the base64url form.
func (s Sig) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

var order = elliptic.P256().Params().N

// der gives ASN.1 SEQUENCE { r, s }, which crypto/ecdsa verifies; ok is false where r or s is out of range.
func (s Sig) der() (der []byte, ok bool) {
	r, t := new(big.Int).SetBytes(s[:32]), new(big.Int).SetBytes(s[32:])
	if r.Sign() == 0 || t.Sign() == 0 || r.Cmp(order) >= 0 || t.Cmp(order) >= 0 {
		return nil, false
	}
	body := append(appendInteger(nil, s[:32]), appendInteger(nil, s[32:])...)
	return append([]byte{0x30, byte(len(body))}, body...), true
}

// appendInteger appends a positive ASN.1 INTEGER from its big-endian bytes, at most 33 with the sign.
func appendInteger(b, magnitude []byte) []byte {
	magnitude = bytes.TrimLeft(magnitude, "\x00")
	if magnitude[0]&0x80 != 0 {
		return append(append(b, 0x02, byte(len(magnitude)+1), 0), magnitude...)
	}
	return append(append(b, 0x02, byte(len(magnitude))), magnitude...)
}

// A Signature is a Sig with the kid of the key that is said to have made it.
type Signature struct {
	KID KID `json:"kid"`
	Sig Sig `json:"sig"`
}
