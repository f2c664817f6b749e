package hsm

import (
	"bytes"

	"github.com/better-compute/approver/core/quorum"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// p256Params is CKA_EC_PARAMS of P-256 as a named curve: the object identifier 1.2.840.10045.3.1.7.
var p256Params = []byte{0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07}

// spkiHead is a SubjectPublicKeyInfo of P-256 up to its point (WIRE.md §1).
var spkiHead = []byte{
	0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
	0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
}

// pointBytes is the length of an uncompressed point: 04 ‖ X ‖ Y.
const pointBytes = 65

// parseECPoint reads CKA_EC_POINT of a P-256 key. The standard wants the point in an OCTET STRING; modules also give it
// raw, in a BIT STRING, or as a whole SubjectPublicKeyInfo. ok is false for anything else and for a point off the curve.
func parseECPoint(value []byte) (key quorum.PublicKey, ok bool) {
	point := value
	s := cryptobyte.String(value)
	var inner cryptobyte.String
	switch {
	case len(value) == pointBytes:
	case bytes.HasPrefix(value, spkiHead):
		point = value[len(spkiHead):]
	case s.PeekASN1Tag(asn1.OCTET_STRING):
		if !s.ReadASN1(&inner, asn1.OCTET_STRING) || !s.Empty() {
			return key, false
		}
		point = inner
	case s.PeekASN1Tag(asn1.BIT_STRING):
		if !s.ReadASN1BitStringAsBytes((*[]byte)(&point)) || !s.Empty() {
			return key, false
		}
	}
	if len(point) != pointBytes {
		return key, false
	}
	key, err := quorum.ParsePublicKey(append(bytes.Clone(spkiHead), point...))
	return key, err == nil
}
