package main

import (
	"encoding/asn1"
	"math/big"
	"slices"
)

type signingVector struct {
	Name    string   `json:"name"`
	Purpose string   `json:"purpose"`
	Parts   []string `json:"parts"` // hex
	Input   string   `json:"input"` // hex
	SHA256  string   `json:"sha256"`
	Signer  string   `json:"signer"`
	KID     string   `json:"kid"`
	Sig     string   `json:"sig"`
}

type signatureVector struct {
	Name  string `json:"name"`
	Input string `json:"input"` // hex
	Key   string `json:"key"`   // the name of the key it is verified with
	Sig   string `json:"sig"`   // hex, of any length
	Want  string `json:"want"`
}

const (
	domain   = "compute.example.com"
	notAfter = 4102444800000 // 2100-01-01T00:00:00Z
	now      = 4102358400000 // 24 hours before
)

func approvalInput(batchID string, root []byte, size int, notAfter uint64, domain string) []byte {
	return signingInput("batch-approval", []byte(batchID), root, u64(uint64(size)), u64(notAfter), []byte(domain))
}

// signingInputs is a signing input for every purpose an approver key signs for, and signatures that verify or do not.
func signingInputs() any {
	var v []signingVector
	add := func(name string, k key, purpose string, parts ...[]byte) []byte {
		input := signingInput(purpose, parts...)
		s := signingVector{name, purpose, []string{}, hexOf(input), hexOf(sum(input)), k.name, k.kid(), b64url(k.sign(input))}
		for _, p := range parts {
			s.Parts = append(s.Parts, hexOf(p))
		}
		v = append(v, s)
		return input
	}
	root := sum([]byte("a root"))
	approval := add("batch-approval", alice, "batch-approval", []byte("batch_01k0"), root, u64(412), u64(notAfter), []byte(domain))
	decline := add("batch-decline", alice, "batch-decline", []byte("batch_01k0"), root, u64(412), u64(notAfter), []byte(domain),
		[]byte("wrong image on node_0417 – ask the site"))
	add("approver-set", bob, "approver-set", u64(2), sum([]byte("a set")), []byte(domain))
	add("approver-key", bob, "approver-key", []byte(bob.kid()))
	add("key-trial", carol, "key-trial", []byte(carol.kid()), sum([]byte("32 random bytes")))
	add("no parts", alice, "key-trial")
	add("an empty part", alice, "batch-approval", []byte{})
	add("bytes moved into the next part: ab, c", alice, "batch-approval", []byte("ab"), []byte("c"))
	add("bytes moved into the next part: a, bc", alice, "batch-approval", []byte("a"), []byte("bc"))
	add("the largest u64", alice, "batch-approval", []byte("b"), root, u64(1), u64(1<<64-1), []byte("d"))
	return struct {
		Inputs     []signingVector   `json:"inputs"`
		Signatures []signatureVector `json:"signatures"`
	}{v, signatures(approval, decline)}
}

func signatures(approval, decline []byte) (v []signatureVector) {
	add := func(name string, k key, sig []byte, want string) {
		v = append(v, signatureVector{name, hexOf(approval), k.name, hexOf(sig), want})
	}
	good := alice.sign(approval)
	r, s := good[:32], good[32:]
	zero, n := make([]byte, 32), order.Bytes()
	flipped := slices.Clone(good)
	flipped[63] ^= 1
	rs := struct{ R, S *big.Int }{new(big.Int).SetBytes(r), new(big.Int).SetBytes(s)}
	add("good", alice, good, "ok")
	add("the other half of s", alice, otherHalf(good), "ok")
	add("a nonce of another kind", alice, alice.signWithNonce(approval, "nonce"), "ok")
	add("another key", bob, good, "refused")
	add("another purpose", alice, alice.sign(decline), "refused")
	add("a bit flipped", alice, flipped, "refused")
	add("r and s exchanged", alice, slices.Concat(s, r), "refused")
	add("r zero", alice, slices.Concat(zero, s), "refused")
	add("s zero", alice, slices.Concat(r, zero), "refused")
	add("r the group order", alice, slices.Concat(n, s), "refused")
	add("s the group order", alice, slices.Concat(r, n), "refused")
	add("all ones", alice, slices.Repeat([]byte{0xff}, 64), "refused")
	add("63 bytes", alice, good[:63], "refused")
	add("65 bytes", alice, append(slices.Clone(good), 0), "refused")
	add("no bytes", alice, nil, "refused")
	add("DER", alice, must(asn1.Marshal(rs)), "refused")
	return v
}
