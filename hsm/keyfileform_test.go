package hsm

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	encasn1 "encoding/asn1"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/pbkdf2"
)

// A plainForm is a PrivateKeyInfo with every part of it open to change.
type plainForm struct {
	version, ecVersion int64
	algorithm, curve   encasn1.ObjectIdentifier
	scalar             []byte
	parameters         encasn1.ObjectIdentifier // none where nil
	half, halfV2       []byte                   // content of the BIT STRING, none where nil
	attributes         bool
	tail, innerTail    []byte
}

func newPlainForm(key *ecdsa.PrivateKey) plainForm {
	scalar, _ := key.Bytes()
	point, _ := key.PublicKey.Bytes()
	return plainForm{version: 0, ecVersion: 1, algorithm: oidECPublicKey, curve: oidP256, scalar: scalar,
		half: append([]byte{0}, point...)}
}

func (f plainForm) der() []byte {
	b := cryptobyte.NewBuilder(nil)
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(f.version)
		b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(f.algorithm)
			b.AddASN1ObjectIdentifier(f.curve)
		})
		b.AddASN1(asn1.OCTET_STRING, func(b *cryptobyte.Builder) {
			b.AddASN1(asn1.SEQUENCE, f.addECKey)
			b.AddBytes(f.innerTail)
		})
		if f.attributes {
			b.AddASN1(tagAttributes, func(*cryptobyte.Builder) {})
		}
		if f.halfV2 != nil {
			b.AddASN1(tagPublicKeyV2, func(b *cryptobyte.Builder) { b.AddBytes(f.halfV2) })
		}
	})
	b.AddBytes(f.tail)
	return b.BytesOrPanic()
}

func (f plainForm) addECKey(b *cryptobyte.Builder) {
	b.AddASN1Int64(f.ecVersion)
	b.AddASN1OctetString(f.scalar)
	if f.parameters != nil {
		b.AddASN1(tagParameters, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(f.parameters) })
	}
	if f.half != nil {
		b.AddASN1(tagPublicKey, func(b *cryptobyte.Builder) {
			b.AddASN1(asn1.BIT_STRING, func(b *cryptobyte.Builder) { b.AddBytes(f.half) })
		})
	}
}

// A sealForm is an EncryptedPrivateKeyInfo with every parameter open to change. Its ciphertext is right where the
// parameters are PBKDF2-HMAC-SHA1 ones that can be computed quickly.
type sealForm struct {
	plain             []byte
	scheme            encasn1.ObjectIdentifier
	derivation        encasn1.ObjectIdentifier
	salt              []byte
	iterations        *big.Int
	n, r, p           *big.Int
	keyLength         int64 // none where 0
	prf               encasn1.ObjectIdentifier
	cipher            int // of sealCiphers
	cipherOID         encasn1.ObjectIdentifier
	iv, ciphertext    []byte
	padding           func([]byte) []byte
	tail, schemeExtra []byte
}

const testPassphrase = "correct horse"

func newSealForm(plain []byte) sealForm {
	return sealForm{plain: plain, scheme: oidPBES2, derivation: oidPBKDF2, salt: []byte("8 octets"), iterations: big.NewInt(2),
		n: big.NewInt(16), r: big.NewInt(1), p: big.NewInt(1), cipher: 2}
}

func (f sealForm) der() []byte {
	c := sealCiphers[f.cipher]
	if f.iv == nil {
		f.iv = bytes.Repeat([]byte{7}, c.IVSize())
	}
	if f.cipherOID == nil {
		f.cipherOID = c.OID()
	}
	switch {
	case f.ciphertext != nil:
	case f.iterations.Sign() > 0 && f.iterations.Cmp(big.NewInt(1000)) < 0:
		f.ciphertext = f.encrypt()
	default: // too slow to compute, and not needed: it is the iterations that are refused
		f.ciphertext = make([]byte, 144)
	}
	b := cryptobyte.NewBuilder(nil)
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(f.scheme)
			b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1(asn1.SEQUENCE, f.addDerivation)
				b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1ObjectIdentifier(f.cipherOID)
					b.AddASN1OctetString(f.iv)
				})
				b.AddBytes(f.schemeExtra)
			})
		})
		b.AddASN1OctetString(f.ciphertext)
	})
	b.AddBytes(f.tail)
	return b.BytesOrPanic()
}

func (f sealForm) addDerivation(b *cryptobyte.Builder) {
	b.AddASN1ObjectIdentifier(f.derivation)
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1OctetString(f.salt)
		if f.derivation.Equal(oidScrypt) {
			b.AddASN1BigInt(f.n)
			b.AddASN1BigInt(f.r)
			b.AddASN1BigInt(f.p)
		} else {
			b.AddASN1BigInt(f.iterations)
		}
		if f.keyLength != 0 {
			b.AddASN1Int64(f.keyLength)
		}
		if f.prf != nil {
			b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(f.prf)
				b.AddASN1NULL()
			})
		}
	})
}

func (f sealForm) encrypt() []byte {
	c := sealCiphers[f.cipher]
	key := pbkdf2.Key([]byte(testPassphrase), f.salt, int(f.iterations.Int64()), c.KeySize(), sha1.New)
	n := c.IVSize()
	padded := append(bytes.Clone(f.plain), bytes.Repeat([]byte{byte(n - len(f.plain)%n)}, n-len(f.plain)%n)...)
	if f.padding != nil {
		padded = f.padding(padded)
	}
	// The library pads by itself: a block more, which is cut off again.
	sealed, err := c.Encrypt(key, f.iv, padded)
	if err != nil {
		panic(err)
	}
	return sealed[:len(padded)]
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func generate(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}
