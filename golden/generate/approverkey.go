package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"math/big"
	"slices"
)

type testKey struct {
	Name       string `json:"name"`
	Scalar     string `json:"scalar"` // hex
	KID        string `json:"kid"`
	Pin        string `json:"pin"`
	SPKI       string `json:"spkiDer"` // base64
	PrivatePEM string `json:"privateKeyPem"`
	PublicPEM  string `json:"publicKeyPem"`
}

type keyVector struct {
	Name string `json:"name"`
	SPKI string `json:"spkiDer"` // base64
	outcome
	KID string `json:"kid,omitempty"`
}

// approverKeys is the keys of all vectors, and encodings of a public key that are taken or refused.
func approverKeys() any {
	var keys []testKey
	var v []keyVector
	for _, k := range []key{alice, bob, carol, dave, erin} {
		keys = append(keys, testKey{k.name, hexOf(k.scalar), k.kid(), k.pin(), b64(k.spki), k.privatePEM(), k.publicPEM()})
		v = append(v, keyVector{k.name, b64(k.spki), ok, k.kid()})
	}
	bad := func(name string, der []byte) { v = append(v, keyVector{name, b64(der), invalid, ""}) }
	x, y := alice.spki[27:59], alice.spki[59:]
	changed := func(at int, b ...byte) []byte {
		der := slices.Clone(alice.spki)
		copy(der[at:], b)
		return der
	}
	bad("nothing", nil)
	bad("compressed point", slices.Concat(unhex("3039301306072a8648ce3d020106082a8648ce3d030107032200"), []byte{2 + y[31]&1}, x))
	bad("hybrid point", changed(26, 6+y[31]&1))
	bad("point at infinity", unhex("3019301306072a8648ce3d020106082a8648ce3d0301070302000000"))
	bad("not on the curve", changed(90, y[31]^1))
	bad("zero point", append(unhex(spkiPrefix), make([]byte, 64)...))
	bad("x not reduced", append(unhex(spkiPrefix), unreducedPoint()...))
	bad("trailing byte", append(slices.Clone(alice.spki), 0))
	bad("leading byte", append([]byte{0}, alice.spki...))
	bad("a byte short", alice.spki[:90])
	bad("length in long form", slices.Concat(unhex("308159"), alice.spki[2:]))
	bad("unused bits", changed(25, 1))
	bad("the bare point", alice.spki[26:])
	bad("curve secp256k1 by its OID", slices.Concat(unhex("3056301006072a8648ce3d020106052b8104000a03420004"), x, y))
	bad("curve prime239v3 by its OID", changed(22, 6))
	bad("algorithm not id-ecPublicKey", changed(12, 2))
	p384 := must(ecdsa.ParseRawPrivateKey(elliptic.P384(), slices.Concat(make([]byte, 16), alice.scalar)))
	bad("P-384", must(x509.MarshalPKIXPublicKey(&p384.PublicKey)))
	bad("Ed25519", must(x509.MarshalPKIXPublicKey(ed25519.NewKeyFromSeed(alice.scalar).Public())))
	bad("the private key", must(x509.MarshalPKCS8PrivateKey(alice.priv)))
	return struct {
		Note    string      `json:"note"`
		Keys    []testKey   `json:"keys"`
		Vectors []keyVector `json:"vectors"`
	}{"The private keys are for tests only.", keys, v}
}

// unreducedPoint is a point of the curve with the field prime added to its x, which still has 32 bytes.
func unreducedPoint() []byte {
	p, b := elliptic.P256().Params().P, elliptic.P256().Params().B
	for x := int64(1); ; x++ {
		bx := big.NewInt(x)
		rhs := new(big.Int).Exp(bx, big.NewInt(3), p)
		rhs.Sub(rhs, new(big.Int).Mul(bx, big.NewInt(3))).Add(rhs, b).Mod(rhs, p)
		if y := new(big.Int).ModSqrt(rhs, p); y != nil {
			return slices.Concat(bx.Add(bx, p).FillBytes(make([]byte, 32)), y.FillBytes(make([]byte, 32)))
		}
	}
}
