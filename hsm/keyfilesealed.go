package hsm

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	encasn1 "encoding/asn1"
	"hash"

	"github.com/better-compute/approver/core/wire"
	"github.com/youmark/pkcs8"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/crypto/scrypt"
)

// The bounds of a key file's encryption (WIRE.md §5). OpenSSL and node:crypto write 2,048 iterations and a salt of 8 or
// 16 bytes, or scrypt with N 16,384, r 8, p 1, which takes 16 MiB.
const (
	maxIterations  = 10_000_000
	maxScryptBytes = 256 << 20 // 128 · N · r · p, which bounds memory and time
	maxSaltBytes   = 128
)

var (
	oidPBES2  = encasn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = encasn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
	oidScrypt = encasn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}
)

// The ciphers of PBES2 (RFC 8018, appendix B.2). The library's are used for what they do; its parser, which bounds
// nothing and panics on a wrong IV, is not.
var sealCiphers = []pkcs8.Cipher{pkcs8.AES128CBC, pkcs8.AES192CBC, pkcs8.AES256CBC, pkcs8.TripleDESCBC}

// The pseudo-random functions of PBKDF2 (RFC 8018, appendix B.1); the first is its default.
var prfs = []struct {
	oid  encasn1.ObjectIdentifier
	hash func() hash.Hash
}{
	{encasn1.ObjectIdentifier{1, 2, 840, 113549, 2, 7}, sha1.New},
	{encasn1.ObjectIdentifier{1, 2, 840, 113549, 2, 8}, sha256.New224},
	{encasn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}, sha256.New},
	{encasn1.ObjectIdentifier{1, 2, 840, 113549, 2, 10}, sha512.New384},
	{encasn1.ObjectIdentifier{1, 2, 840, 113549, 2, 11}, sha512.New},
}

// A pbes2Key is an EncryptedPrivateKeyInfo whose parameters are all within bounds.
type pbes2Key struct {
	derive     func(passphrase []byte, size int) ([]byte, error)
	work       int // iterations, or 128 · N · r · p
	cipher     pkcs8.Cipher
	iv         []byte // exactly as long as the cipher's block
	ciphertext []byte // a multiple of the block, not empty
}

// parsePBES2Key reads
//
//	EncryptedPrivateKeyInfo ::= SEQUENCE { SEQUENCE { id-PBES2, SEQUENCE { key derivation, encryption } }, OCTET STRING }
func parsePBES2Key(der []byte) (*pbes2Key, error) {
	var info, algorithm, parameters, derivation, encryption, ciphertext cryptobyte.String
	var scheme encasn1.ObjectIdentifier
	s := cryptobyte.String(der)
	if !s.ReadASN1(&info, asn1.SEQUENCE) || !s.Empty() || !info.ReadASN1(&algorithm, asn1.SEQUENCE) ||
		!info.ReadASN1(&ciphertext, asn1.OCTET_STRING) || !info.Empty() || !algorithm.ReadASN1ObjectIdentifier(&scheme) {
		return nil, badKeyFile("its content is not an encrypted PKCS#8 key in DER")
	}
	if !scheme.Equal(oidPBES2) {
		return nil, badKeyFile("it is encrypted with %v; only PBES2 is read; write it anew: openssl pkcs8 -topk8 -v2 aes-256-cbc", scheme)
	}
	if !algorithm.ReadASN1(&parameters, asn1.SEQUENCE) || !algorithm.Empty() || !parameters.ReadASN1(&derivation, asn1.SEQUENCE) ||
		!parameters.ReadASN1(&encryption, asn1.SEQUENCE) || !parameters.Empty() {
		return nil, badKeyFile("its PBES2 parameters are not in DER")
	}
	k := &pbes2Key{ciphertext: ciphertext}
	if err := k.readCipher(encryption); err != nil {
		return nil, err
	}
	if err := k.readDerivation(derivation); err != nil {
		return nil, err
	}
	return k, nil
}

// readCipher reads { cipher, IV OCTET STRING } and holds the lengths against it.
func (k *pbes2Key) readCipher(s cryptobyte.String) error {
	var oid encasn1.ObjectIdentifier
	var iv cryptobyte.String
	if !s.ReadASN1ObjectIdentifier(&oid) {
		return badKeyFile("its encryption scheme is not in DER")
	}
	for _, c := range sealCiphers {
		if c.OID().Equal(oid) {
			k.cipher = c
		}
	}
	switch {
	case k.cipher == nil:
		return badKeyFile("it is encrypted with the cipher %v; AES or triple DES in CBC mode is read", oid)
	case !s.ReadASN1(&iv, asn1.OCTET_STRING) || !s.Empty() || len(iv) != k.cipher.IVSize():
		return badKeyFile("its initialisation vector is not %d bytes", k.cipher.IVSize())
	case len(k.ciphertext) == 0 || len(k.ciphertext)%k.cipher.IVSize() != 0:
		return badKeyFile("its ciphertext of %d bytes is no multiple of the cipher's block of %d", len(k.ciphertext), k.cipher.IVSize())
	}
	k.iv = iv
	return nil
}

func (k *pbes2Key) readDerivation(s cryptobyte.String) error {
	var oid encasn1.ObjectIdentifier
	var parameters cryptobyte.String
	if !s.ReadASN1ObjectIdentifier(&oid) || !s.ReadASN1(&parameters, asn1.SEQUENCE) || !s.Empty() {
		return badKeyFile("its key derivation is not in DER")
	}
	switch {
	case oid.Equal(oidPBKDF2):
		return k.readPBKDF2(parameters)
	case oid.Equal(oidScrypt):
		return k.readScrypt(parameters)
	}
	return badKeyFile("its key derivation %v is neither PBKDF2 nor scrypt", oid)
}

// readPBKDF2 reads { salt OCTET STRING, iterations INTEGER, key length INTEGER OPTIONAL, PRF DEFAULT HMAC-SHA-1 }.
func (k *pbes2Key) readPBKDF2(s cryptobyte.String) error {
	var salt, prf, null cryptobyte.String
	var iterations int
	if !s.ReadASN1(&salt, asn1.OCTET_STRING) || !s.ReadASN1Integer(&iterations) || !k.readKeyLength(&s) {
		return badKeyFile("its PBKDF2 parameters are not in DER, or give a key length that is not the cipher's")
	}
	if len(salt) == 0 || len(salt) > maxSaltBytes || iterations < 1 || iterations > maxIterations {
		return badKeyFile("its PBKDF2 has a salt of %d bytes and %d iterations; at most %d and %d are taken", len(salt), iterations, maxSaltBytes, maxIterations)
	}
	oid := prfs[0].oid
	if !s.Empty() && (!s.ReadASN1(&prf, asn1.SEQUENCE) || !s.Empty() || !prf.ReadASN1ObjectIdentifier(&oid) ||
		!prf.ReadOptionalASN1(&null, nil, asn1.NULL) || len(null) != 0 || !prf.Empty()) {
		return badKeyFile("its pseudo-random function is not in DER")
	}
	for _, f := range prfs {
		if f.oid.Equal(oid) {
			k.work = iterations
			k.derive = func(passphrase []byte, size int) ([]byte, error) {
				return pbkdf2.Key(passphrase, salt, iterations, size, f.hash), nil
			}
			return nil
		}
	}
	return badKeyFile("its pseudo-random function %v is not HMAC with SHA-1 or SHA-2", oid)
}

// readScrypt reads { salt OCTET STRING, N INTEGER, r INTEGER, p INTEGER, key length INTEGER OPTIONAL } (RFC 7914).
func (k *pbes2Key) readScrypt(s cryptobyte.String) error {
	var salt cryptobyte.String
	var n, r, p int
	if !s.ReadASN1(&salt, asn1.OCTET_STRING) || !s.ReadASN1Integer(&n) || !s.ReadASN1Integer(&r) || !s.ReadASN1Integer(&p) ||
		!k.readKeyLength(&s) || !s.Empty() {
		return badKeyFile("its scrypt parameters are not in DER, or give a key length that is not the cipher's")
	}
	if len(salt) == 0 || len(salt) > maxSaltBytes || n < 2 || n&(n-1) != 0 || r < 1 || p < 1 ||
		p > maxScryptBytes/128/n/r { // which is 0 where N or r alone is too much
		return badKeyFile("its scrypt has N %d, r %d, p %d and a salt of %d bytes; N is a power of two, and 128·N·r·p at most %d", n, r, p, len(salt), maxScryptBytes)
	}
	k.work = 128 * n * r * p
	k.derive = func(passphrase []byte, size int) ([]byte, error) { return scrypt.Key(passphrase, salt, n, r, p, size) }
	return nil
}

// readKeyLength reads the optional key length, which must be the cipher's.
func (k *pbes2Key) readKeyLength(s *cryptobyte.String) bool {
	if !s.PeekASN1Tag(asn1.INTEGER) {
		return true
	}
	var n int
	return s.ReadASN1Integer(&n) && n == k.cipher.KeySize()
}

// open decrypts. That the passphrase is wrong shows in the padding, or in what comes out; both say the same.
func (k *pbes2Key) open(passphrase []byte) ([]byte, error) {
	key, err := k.derive(passphrase, k.cipher.KeySize())
	defer clear(key)
	if err != nil {
		return nil, badKeyFile("its key derivation failed: %w", err)
	}
	padded, err := k.cipher.Decrypt(key, k.iv, k.ciphertext)
	if err != nil {
		return nil, badKeyFile("its decryption failed: %w", err)
	}
	n := int(padded[len(padded)-1])
	if n < 1 || n > k.cipher.IVSize() || !bytes.HasSuffix(padded, bytes.Repeat([]byte{byte(n)}, n)) || padded[0] != 0x30 {
		clear(padded)
		return nil, wire.Errorf(wire.InvalidInput, "", "wrong passphrase, or the key file is damaged")
	}
	return padded[:len(padded)-n], nil
}
