package main

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"slices"
)

// spkiPrefix is a P-256 SubjectPublicKeyInfo up to the X of its uncompressed point (WIRE.md §1).
const spkiPrefix = "3059301306072a8648ce3d020106082a8648ce3d03010703420004"

var order = elliptic.P256().Params().N

// A key is a key pair for tests. Its scalar is SHA-256("approver golden " ‖ name) modulo the group order.
type key struct {
	name   string
	scalar []byte
	priv   *ecdsa.PrivateKey
	spki   []byte
}

func newKey(name string) key {
	d := new(big.Int).SetBytes(sum([]byte("approver golden " + name)))
	return keyFromScalar(name, d.Mod(d, order).FillBytes(make([]byte, 32)))
}

func keyFromScalar(name string, scalar []byte) key {
	priv := must(ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar))
	point := must(priv.PublicKey.Bytes())
	return key{name, scalar, priv, append(unhex(spkiPrefix), point[1:]...)}
}

var (
	alice = newKey("alice")
	bob   = newKey("bob")
	carol = newKey("carol")
	dave  = newKey("dave")
	erin  = newKey("erin") // in no set
)

func (k key) kid() string { return b64url(sum(k.spki)) }
func (k key) pin() string { return "sha256/" + b64(sum(k.spki)) }

func (k key) privatePEM() string {
	der := must(x509.MarshalPKCS8PrivateKey(k.priv))
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (k key) publicPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: k.spki}))
}

// sign gives r ‖ s over the signing input, by RFC 6979 and so always the same.
func (k key) sign(input []byte) []byte {
	digest := sha256.Sum256(input)
	der := must(k.priv.Sign(nil, digest[:], crypto.SHA256))
	var rs struct{ R, S *big.Int }
	must(asn1.Unmarshal(der, &rs))
	return slices.Concat(rs.R.FillBytes(make([]byte, 32)), rs.S.FillBytes(make([]byte, 32)))
}

// signWithNonce signs with a nonce of our choice: r = (nonce × G).x, s = (digest + r × scalar) / nonce. Two keys that
// share a nonce share r, as no honest signer's signatures do.
func (k key) signWithNonce(input []byte, nonce string) []byte {
	n := new(big.Int).SetBytes(sum([]byte(nonce)))
	n.Mod(n, order)
	point := must(ecdh.P256().NewPrivateKey(n.FillBytes(make([]byte, 32)))).PublicKey().Bytes()
	r := new(big.Int).SetBytes(point[1:33])
	r.Mod(r, order)
	s := new(big.Int).Mul(r, new(big.Int).SetBytes(k.scalar))
	s.Add(s, new(big.Int).SetBytes(sum(input)))
	s.Mul(s, new(big.Int).ModInverse(n, order))
	s.Mod(s, order)
	return slices.Concat(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32)))
}

// otherHalf gives the signature with s replaced by order - s, which verifies as well.
func otherHalf(sig []byte) []byte {
	s := new(big.Int).SetBytes(sig[32:])
	return slices.Concat(sig[:32], s.Sub(order, s).FillBytes(make([]byte, 32)))
}
