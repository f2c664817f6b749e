package main

import "slices"

// join is the JoinService's signing key.
var join = newKey("join")

// A signedBundleVector is a SignedTrustBundle and who reads it: the key that is held for the JoinService's, and the trust
// domain. The outcome is that of reading, verifying and reading the bundle.
type signedBundleVector struct {
	Name        string `json:"name"`
	Binpb       string `json:"binpb"`
	SPKI        string `json:"spkiDer"`
	TrustDomain string `json:"trustDomain"`
	outcome
	Bundle       string `json:"bundle,omitempty"`       // of a good one
	SigningInput string `json:"signingInput,omitempty"` // of a good one
}

type signedBundleList struct{ vectors []signedBundleVector }

func (l *signedBundleList) add(name string, want outcome, message []byte) {
	l.vectors = append(l.vectors, signedBundleVector{Name: name, Binpb: b64(message), SPKI: b64(join.spki), TrustDomain: domain, outcome: want})
}

func (l *signedBundleList) ok(name string, bundle, sig []byte) {
	l.add(name, ok, signedBundle(bundle, join.kid(), sig))
	last := &l.vectors[len(l.vectors)-1]
	last.Bundle, last.SigningInput = b64(bundle), hexOf(bundleInput(bundle, domain))
}

// bundleInput is what the JoinService signs: the bundle as it is sent, and the trust domain (WIRE.md §1).
func bundleInput(bundle []byte, trustDomain string) []byte {
	return signingInput("trust-bundle", bundle, []byte(trustDomain))
}

func signedBundle(bundle []byte, kid string, sig []byte) []byte {
	return msg(sub(1, bundle), sub(2, signatureMessage(kid, sig)))
}

func signedBundles() []signedBundleVector {
	l := &signedBundleList{}
	good := aBundle.message()
	sig := join.sign(bundleInput(good, domain))
	l.ok("signed by the JoinService", good, sig)
	l.ok("the other half of s", good, otherHalf(sig))
	two := bundleWith(func(b *bundle) { b.version, b.roots = 2, [][]byte{oldRoot, newRoot} }).message()
	l.ok("two roots", two, join.sign(bundleInput(two, domain)))
	l.signatures(good, sig)
	l.forms(good, sig)
	return l.vectors
}

// signatures is what the key did not sign.
func (l *signedBundleList) signatures(good, sig []byte) {
	denied := refused("ACCESS_DENIED bad-signature")
	two := bundleWith(func(b *bundle) { b.version = 2 }).message()
	for name, s := range named[[]byte](
		"signed for another trust domain", join.sign(bundleInput(good, "staging.example.com")),
		"signed without the trust domain", join.sign(signingInput("trust-bundle", good)),
		"signed as a join response", join.sign(signingInput("join-response", good, []byte(domain))),
		"signed without a purpose", join.sign(good),
		"the signature of another bundle", join.sign(bundleInput(two, domain)),
		"another key's signature under this key's kid", alice.sign(bundleInput(good, domain)),
		"a signature of 63 bytes", sig[:63], "a signature of 65 bytes", append(slices.Clone(sig), 0), "no signature bytes", []byte{},
		"r of zero", slices.Concat(make([]byte, 32), sig[32:]), "s of zero", slices.Concat(sig[:32], make([]byte, 32)),
		"r of the group order", slices.Concat(order.Bytes(), sig[32:]), "s of the group order", slices.Concat(sig[:32], order.Bytes()),
	) {
		l.add(name, denied, signedBundle(good, join.kid(), s))
	}
	l.add("read in another trust domain", denied, signedBundle(good, join.kid(), sig))
	l.vectors[len(l.vectors)-1].TrustDomain = "staging.example.com"
	untrusted := refused("ACCESS_DENIED untrusted-signer")
	l.add("signed by another key", untrusted, signedBundle(good, alice.kid(), alice.sign(bundleInput(good, domain))))
	l.add("this key's signature under another kid", untrusted, signedBundle(good, alice.kid(), sig))
	l.add("no kid", untrusted, signedBundle(good, "", sig))
}

// forms is messages that are no SignedTrustBundle, and one that holds no bundle.
func (l *signedBundleList) forms(good, sig []byte) {
	m := signedBundle(good, join.kid(), sig)
	signature := signatureMessage(join.kid(), sig)
	l.add("nothing", invalid, nil)
	l.add("a bundle without a signature", invalid, sub(1, good))
	l.add("a signature without a bundle", invalid, sub(2, signature))
	l.add("an empty bundle that is written", invalid, msg(sub(1), sub(2, signature)))
	l.add("fields in reverse order", invalid, msg(sub(2, signature), sub(1, good)))
	l.add("the signature twice", invalid, msg(m, sub(2, signature)))
	l.add("an unknown field", invalid, msg(m, vint(3, 1)))
	l.add("an unknown field of the signature", invalid, msg(sub(1, good), sub(2, signature, vint(3, 1))))
	l.add("cut short", invalid, m[:len(m)-1])
	l.add("the bundle alone", invalid, good)
	noRoots := bundleWith(func(b *bundle) { b.roots = nil }).message()
	l.add("a signed bundle without roots", invalid, signedBundle(noRoots, join.kid(), join.sign(bundleInput(noRoots, domain))))
	longer := msg(good, vint(9, 1))
	l.add("a signed bundle with an unknown field", invalid, signedBundle(longer, join.kid(), join.sign(bundleInput(longer, domain))))
}
