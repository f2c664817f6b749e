package main

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"time"
)

// A rootCertificate is a certificate for the place of a command-signing root.
type rootCertificate struct {
	Name   string `json:"name"`
	DER    string `json:"der"` // base64
	SHA256 string `json:"sha256"`
	outcome
	raw []byte
}

// certificate makes a self-signed certificate of a key of its own, always the same.
func certificate(name string, change func(*x509.Certificate)) []byte {
	k := newKey("certificate " + name)
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(sum([]byte(name))[:8]),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC),
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign, SubjectKeyId: sum(k.spki)[:20],
	}
	change(template)
	return must(x509.CreateCertificate(nil, template, template, k.priv.Public(), k.priv))
}

func rootOf(name string) []byte { return certificate(name, func(*x509.Certificate) {}) }

func manyRoots(n int) (roots [][]byte) {
	for i := range n {
		roots = append(roots, rootOf("root of many "+string(rune('a'+i))))
	}
	return roots
}

var oldRoot, newRoot = rootOf("old root"), rootOf("new root")

func rootCertificates() (v []rootCertificate) {
	add := func(name string, want outcome, der []byte) {
		v = append(v, rootCertificate{name, b64(der), hexOf(sum(der)), want, der})
	}
	add("a root", ok, oldRoot)
	add("a certificate authority whose key usage is not said", ok, certificate("no key usage", func(c *x509.Certificate) { c.KeyUsage = 0 }))
	add("a leaf", invalid, certificate("leaf", func(c *x509.Certificate) { c.IsCA, c.KeyUsage = false, x509.KeyUsageDigitalSignature }))
	add("a certificate that does not say what it is", invalid, certificate("bare", func(c *x509.Certificate) { c.BasicConstraintsValid, c.IsCA = false, false }))
	add("a certificate authority that may not sign certificates", invalid, certificate("no signing", func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCRLSign }))
	add("something after the certificate", invalid, append(oldRoot[:len(oldRoot):len(oldRoot)], 0))
	add("a certificate cut short", invalid, oldRoot[:len(oldRoot)-1])
	add("a public key", invalid, alice.spki)
	add("nothing", invalid, nil)
	return v
}
