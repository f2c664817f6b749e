package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
)

// otherKey names the kind of the public key in a file that is no approver's: "an Ed25519 key"; "" where there is none in it, or one
// on P-256.
func otherKey(file []byte) string {
	block, _ := pem.Decode(file)
	if block == nil || block.Type != "PUBLIC KEY" {
		return ""
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return ""
	}
	switch k := key.(type) {
	case ed25519.PublicKey:
		return "an Ed25519 key"
	case *rsa.PublicKey:
		return "an RSA key"
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return "a " + k.Curve.Params().Name + " key"
		}
	}
	return ""
}
