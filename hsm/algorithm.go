package hsm

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	casn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// An Algorithm is what kind of key an object holds, in words: the two below can be made and can sign here; "P-384",
// "RSA 2048" and others are shown; "unknown" is what the token does not tell.
type Algorithm string

// The algorithms that this package makes keys of and signs with.
const (
	AlgorithmP256    Algorithm = "P-256"
	AlgorithmEd25519 Algorithm = "Ed25519"

	algorithmUnknown Algorithm = "unknown"
)

// ed25519Params are the forms of CKA_EC_PARAMS of Ed25519 that modules take and give: the curve's name as a
// PrintableString (PKCS#11 v3.0, section 2.3.5, and the only one beside the next that SoftHSM takes), id-Ed25519 (RFC
// 8410), and the older identifier of GnuPG and OpenSC.
var ed25519Params = [][]byte{
	append([]byte{0x13, 0x0c}, "edwards25519"...),
	{0x06, 0x03, 0x2b, 0x65, 0x70},
	{0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01},
}

// curves are the named curves that a token may show, by object identifier; those with an elliptic.Curve have an SPKI.
var curves = map[string]struct {
	name  Algorithm
	curve elliptic.Curve
}{
	"1.2.840.10045.3.1.7":   {AlgorithmP256, elliptic.P256()},
	"1.3.132.0.33":          {"P-224", elliptic.P224()},
	"1.3.132.0.34":          {"P-384", elliptic.P384()},
	"1.3.132.0.35":          {"P-521", elliptic.P521()},
	"1.3.132.0.10":          {"secp256k1", nil},
	"1.3.36.3.3.2.8.1.1.7":  {"brainpoolP256r1", nil},
	"1.3.36.3.3.2.8.1.1.11": {"brainpoolP384r1", nil},
	"1.3.36.3.3.2.8.1.1.13": {"brainpoolP512r1", nil},
}

// curveOf gives the algorithm of CKA_EC_PARAMS and, where Go has it, the curve.
func curveOf(params []byte) (Algorithm, elliptic.Curve) {
	for _, p := range ed25519Params {
		if string(params) == string(p) {
			return AlgorithmEd25519, nil
		}
	}
	var id asn1.ObjectIdentifier
	if rest, err := asn1.Unmarshal(params, &id); err != nil || len(rest) > 0 {
		return algorithmUnknown, nil
	}
	if c, known := curves[id.String()]; known {
		return c.name, c.curve
	}
	return Algorithm("EC " + id.String()), nil
}

// ecKey makes a public key of CKA_EC_PARAMS and CKA_EC_POINT; nil is one that is not shown or not to be made.
func ecKey(params, point []byte) (Algorithm, crypto.PublicKey) {
	algorithm, curve := curveOf(params)
	switch {
	case algorithm == AlgorithmEd25519:
		if p := unwrapPoint(point, ed25519.PublicKeySize); p != nil {
			return algorithm, ed25519.PublicKey(p)
		}
	case algorithm == AlgorithmP256:
		if key, ok := parseECPoint(point); ok {
			return algorithm, key.ECDSA()
		}
	case curve != nil:
		p := unwrapPoint(point, 1+2*((curve.Params().BitSize+7)/8))
		if key, err := ecdsa.ParseUncompressedPublicKey(curve, p); err == nil {
			return algorithm, key
		}
	}
	return algorithm, nil
}

// unwrapPoint gives a point of n bytes that stands raw, in an OCTET STRING or in a BIT STRING; nil is none.
func unwrapPoint(value []byte, n int) []byte {
	if len(value) == n {
		return value
	}
	s := cryptobyte.String(value)
	var inner cryptobyte.String
	if s.PeekASN1Tag(casn1.BIT_STRING) {
		if !s.ReadASN1BitStringAsBytes((*[]byte)(&inner)) {
			return nil
		}
	} else if !s.ReadASN1(&inner, casn1.OCTET_STRING) {
		return nil
	}
	if !s.Empty() || len(inner) != n {
		return nil
	}
	return inner
}

// rsaKey makes a public key of CKA_MODULUS and CKA_PUBLIC_EXPONENT.
func rsaKey(modulus, exponent []byte) (Algorithm, crypto.PublicKey) {
	n, e := new(big.Int).SetBytes(modulus), new(big.Int).SetBytes(exponent)
	if n.Sign() == 0 {
		return "RSA", nil
	}
	algorithm := Algorithm(fmt.Sprintf("RSA %d", n.BitLen()))
	if e.Sign() == 0 || e.BitLen() > 31 {
		return algorithm, nil
	}
	return algorithm, &rsa.PublicKey{N: n, E: int(e.Int64())}
}

// algorithmOf names the algorithm of a public key of the standard library.
func algorithmOf(key crypto.PublicKey) Algorithm {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return Algorithm(k.Curve.Params().Name)
	case ed25519.PublicKey:
		return AlgorithmEd25519
	case *rsa.PublicKey:
		return Algorithm(fmt.Sprintf("RSA %d", k.N.BitLen()))
	}
	return algorithmUnknown
}

// spkiOf gives SPKI DER in its one form, or nil for a key that has none.
func spkiOf(key crypto.PublicKey) []byte {
	if key == nil {
		return nil
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil
	}
	return der
}

// pointOf gives what stands in the BIT STRING of the SPKI: 04 ‖ X ‖ Y, or the 32 bytes of Ed25519; nil for other keys.
func pointOf(key crypto.PublicKey) []byte {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if p, err := k.Bytes(); err == nil {
			return p
		}
	case ed25519.PublicKey:
		return k
	}
	return nil
}
