package hsm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	encasn1 "encoding/asn1"
	"encoding/pem"

	"github.com/better-compute/approver/core/wire"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

const (
	plainBlock     = "PRIVATE KEY"
	encryptedBlock = "ENCRYPTED PRIVATE KEY"
)

var (
	oidECPublicKey = encasn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}
	oidP256        = encasn1.ObjectIdentifier{1, 2, 840, 10045, 3, 1, 7}
	tagAttributes  = asn1.Tag(0).ContextSpecific().Constructed()
	tagParameters  = asn1.Tag(0).ContextSpecific().Constructed()
	tagPublicKey   = asn1.Tag(1).ContextSpecific().Constructed()
	tagPublicKeyV2 = asn1.Tag(1).ContextSpecific() // PKCS#8 v2 has it IMPLICIT, ECPrivateKey EXPLICIT
)

// ParseKeyFile reads a key file's content: one PEM block, PRIVATE KEY (PKCS#8, RFC 5958) or ENCRYPTED PRIVATE KEY (PBES2,
// RFC 8018), with a P-256 key (RFC 5915) in DER and nothing besides. Every parameter of the encryption is bounded before
// any work is done. A public half in the file must be the private key's. Errors are INVALID_INPUT, for a wrong passphrase
// too, and MISSING_ENV where the file is encrypted and p is nil; p's own error comes back as it is.
func ParseKeyFile(ctx context.Context, data []byte, p Passphrase) (*FileKey, error) {
	block, err := onePEMBlock(data)
	if err != nil {
		return nil, err
	}
	defer clear(block.Bytes)
	if block.Type == plainBlock {
		return parsePlainKey(block.Bytes)
	}
	sealed, err := parsePBES2Key(block.Bytes)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, wire.Errorf(wire.MissingEnv, "", "the key file is encrypted and no passphrase was given")
	}
	passphrase, err := p(ctx)
	defer clear(passphrase)
	if err != nil {
		return nil, err
	}
	der, err := sealed.open(passphrase)
	defer clear(der)
	if err != nil {
		return nil, err
	}
	return parsePlainKey(der)
}

// onePEMBlock reads a file that is one PEM block of a type that holds a private key, and perhaps white space after it.
func onePEMBlock(data []byte) (*pem.Block, error) {
	if len(data) > MaxKeyFileBytes {
		return nil, badKeyFile("it is longer than %d bytes", MaxKeyFileBytes)
	}
	block, rest := pem.Decode(data)
	if block == nil || !bytes.HasPrefix(data, []byte("-----BEGIN "+block.Type+"-----")) || bytes.Count(data, []byte("-----BEGIN")) != 1 ||
		len(bytes.TrimSpace(rest)) != 0 {
		return nil, badKeyFile("it is not one PEM block and nothing else")
	}
	switch {
	case len(block.Headers) != 0:
		return nil, badKeyFile("its PEM block has headers, as the encryption of old OpenSSL has; write it anew: openssl pkcs8 -topk8")
	case block.Type == "EC PRIVATE KEY":
		return nil, badKeyFile("it is SEC 1, not PKCS#8; write it anew: openssl pkcs8 -topk8")
	case block.Type != plainBlock && block.Type != encryptedBlock:
		return nil, badKeyFile("its PEM block is %q; wanted: %s or %s", block.Type, plainBlock, encryptedBlock)
	}
	return block, nil
}

func badKeyFile(format string, args ...any) error {
	return wire.Errorf(wire.InvalidInput, "", "not a key file that can be used: "+format, args...)
}

// parsePlainKey reads
//
//	PrivateKeyInfo ::= SEQUENCE { version INTEGER (0 | 1), SEQUENCE { id-ecPublicKey, prime256v1 },
//	                              OCTET STRING { ECPrivateKey }, publicKey [1] IMPLICIT BIT STRING OPTIONAL -- version 1 -- }
func parsePlainKey(der []byte) (*FileKey, error) {
	var info, algorithm, inner cryptobyte.String
	var version int
	var kind, curve encasn1.ObjectIdentifier
	s := cryptobyte.String(der)
	if !s.ReadASN1(&info, asn1.SEQUENCE) || !s.Empty() || !info.ReadASN1Integer(&version) || version < 0 || version > 1 ||
		!info.ReadASN1(&algorithm, asn1.SEQUENCE) || !algorithm.ReadASN1ObjectIdentifier(&kind) {
		return nil, badKeyFile("its content is not PKCS#8 in DER")
	}
	if !kind.Equal(oidECPublicKey) || !algorithm.ReadASN1ObjectIdentifier(&curve) || !algorithm.Empty() || !curve.Equal(oidP256) {
		return nil, badKeyFile("its key is not on P-256 as a named curve")
	}
	if !info.ReadASN1(&inner, asn1.OCTET_STRING) {
		return nil, badKeyFile("its content is not PKCS#8 in DER")
	}
	if info.PeekASN1Tag(tagAttributes) {
		return nil, badKeyFile("it has attributes beside the key")
	}
	key, err := parseECKey(inner)
	if err != nil {
		return nil, err
	}
	if version == 1 && info.PeekASN1Tag(tagPublicKeyV2) {
		var bits cryptobyte.String
		if !info.ReadASN1(&bits, tagPublicKeyV2) || !isPublicHalf(key, bits) {
			return nil, errForeignHalf()
		}
	}
	if !info.Empty() {
		return nil, badKeyFile("it has more beside the key")
	}
	return newFileKey(key)
}

// parseECKey reads
//
//	ECPrivateKey ::= SEQUENCE { version INTEGER (1), privateKey OCTET STRING (SIZE (32)),
//	                            parameters [0] OBJECT IDENTIFIER OPTIONAL, publicKey [1] BIT STRING OPTIONAL }
func parseECKey(s cryptobyte.String) (*ecdsa.PrivateKey, error) {
	var sequence, scalar, parameters, half, bits cryptobyte.String
	var version int
	var hasParameters, hasHalf bool
	if !s.ReadASN1(&sequence, asn1.SEQUENCE) || !s.Empty() || !sequence.ReadASN1Integer(&version) || version != 1 ||
		!sequence.ReadASN1(&scalar, asn1.OCTET_STRING) || !sequence.ReadOptionalASN1(&parameters, &hasParameters, tagParameters) ||
		!sequence.ReadOptionalASN1(&half, &hasHalf, tagPublicKey) || !sequence.Empty() {
		return nil, badKeyFile("its key is not an ECPrivateKey in DER")
	}
	var curve encasn1.ObjectIdentifier
	if hasParameters && (!parameters.ReadASN1ObjectIdentifier(&curve) || !parameters.Empty() || !curve.Equal(oidP256)) {
		return nil, badKeyFile("its key names another curve than the file does")
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		return nil, badKeyFile("its private key is not 32 bytes of a number from 1 to the group order - 1")
	}
	if hasHalf && (!half.ReadASN1(&bits, asn1.BIT_STRING) || !half.Empty() || !isPublicHalf(key, bits)) {
		return nil, errForeignHalf()
	}
	return key, nil
}

func errForeignHalf() error {
	return badKeyFile("the public half in it is not the private key's; somebody joined two keys, or the file is damaged")
}

// isPublicHalf tells whether the content of a BIT STRING is key's point, uncompressed or compressed.
func isPublicHalf(key *ecdsa.PrivateKey, bits []byte) bool {
	point, err := key.PublicKey.Bytes()
	if err != nil || len(bits) == 0 || bits[0] != 0 {
		return false
	}
	compressed := append([]byte{2 + point[64]&1}, point[1:33]...)
	return bytes.Equal(bits[1:], point) || bytes.Equal(bits[1:], compressed)
}
