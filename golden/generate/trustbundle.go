package main

import (
	"bytes"
	"slices"
)

// A bundle is a TrustBundle, good or bad, field by field (WIRE.md §1, §4).
type bundle struct {
	version    uint64
	roots      [][]byte
	set        setDraft
	keys       [][]byte // messages ApproverKey that stand for those of the set, or nil
	epoch      uint64
	signatures []setEntry
}

// A setEntry is a signature of a bundle's set as it stands there.
type setEntry struct {
	kid string
	sig []byte
}

// An offerVector is what a bundle says of the approver set.
type offerVector struct {
	outcome
	Epoch      uint64 `json:"epoch,omitempty"`
	SetSHA256  string `json:"setSha256,omitempty"`
	Signatures int    `json:"signatures,omitempty"`
}

// A bundleVector is a TrustBundle. The outcome is that of the bundle; the offer has its own.
type bundleVector struct {
	Name  string `json:"name"`
	Binpb string `json:"binpb"`
	outcome
	Version       uint64       `json:"version,omitempty"`
	Roots         []string     `json:"roots,omitempty"` // SHA-256 of each, in the order in which they stand
	Offer         *offerVector `json:"offer,omitempty"` // null: the bundle says nothing of a set
	ContentSHA256 string       `json:"contentSha256,omitempty"`
}

// trustBundles is roots, bundles and signed bundles (WIRE.md §1, §4, §7).
func trustBundles() any {
	l := &bundleList{}
	l.good()
	l.badSets()
	l.bad()
	l.badForms()
	return struct {
		Roots   []rootCertificate    `json:"roots"`
		Bundles []bundleVector       `json:"bundles"`
		Signed  []signedBundleVector `json:"signed"`
	}{rootCertificates(), l.vectors, signedBundles()}
}

// vintIf is a varint field as it is written without presence: not at all at 0.
func vintIf(number int, n uint64) []byte {
	if n == 0 {
		return nil
	}
	return vint(number, int64(n))
}

func keyMessage(kid string, spki []byte) []byte { return msg(str(1, kid), sub(2, spki)) }

func (b bundle) keyMessages() [][]byte {
	if b.keys != nil {
		return b.keys
	}
	var messages [][]byte
	for _, k := range b.set.keys {
		messages = append(messages, keyMessage(k.kid(), k.spki))
	}
	return messages
}

// fields is the bundle field by field.
func (b bundle) fields() [][]byte {
	f := [][]byte{vintIf(1, b.version)}
	for _, r := range b.roots {
		f = append(f, sub(2, r))
	}
	for _, k := range b.keyMessages() {
		f = append(f, sub(3, k))
	}
	f = append(f, vintIf(4, uint64(b.set.threshold)))
	for _, t := range b.set.tiers {
		f = append(f, sub(5, vintIf(1, uint64(t.MaxScopeSize)), vintIf(2, uint64(t.Threshold))))
	}
	f = append(f, vintIf(6, uint64(b.set.unbatched)))
	for _, s := range b.signatures {
		f = append(f, sub(7, signatureMessage(s.kid, s.sig)))
	}
	return append(f, vintIf(8, b.epoch))
}

func (b bundle) message() []byte { return msg(b.fields()...) }

// contentDigest is the SHA-256 over what the version follows: the hashes of the roots, ascending; approver_set_input; the
// epoch; and the set's signatures, each lp(kid) ‖ lp(sig), ascending.
func (b bundle) contentDigest() []byte {
	var hashes, signatures [][]byte
	for _, r := range b.roots {
		hashes = append(hashes, sum(r))
	}
	slices.SortFunc(hashes, bytes.Compare)
	for _, s := range b.signatures {
		signatures = append(signatures, slices.Concat(lp([]byte(s.kid)), lp(s.sig)))
	}
	slices.SortFunc(signatures, bytes.Compare)
	input := slices.Concat(u32(len(hashes)), slices.Concat(hashes...), lp(b.set.input()), u64(b.epoch), u32(len(signatures)))
	return sum(append(input, slices.Concat(signatures...)...))
}

// signedSet gives signatures of keys over the bundle's set at its epoch.
func (b bundle) signedSet(keys ...key) bundle {
	b.signatures = nil
	for _, k := range keys {
		b.signatures = append(b.signatures, setEntry{k.kid(), k.sign(b.set.signingInput(b.epoch, domain))})
	}
	return b
}

type bundleList struct{ vectors []bundleVector }

func (b bundle) vector(name string, offer *offerVector) bundleVector {
	return bundleVector{name, b64(b.message()), ok, b.version, hexesOfRoots(b.roots), offer, hexOf(b.contentDigest())}
}

func hexesOfRoots(roots [][]byte) (hexes []string) {
	for _, r := range roots {
		hexes = append(hexes, hexOf(sum(r)))
	}
	return hexes
}

func (l *bundleList) ok(name string, b bundle) {
	offer := &offerVector{ok, b.epoch, hexOf(b.set.digest()), len(b.signatures)}
	if b.epoch == 0 {
		offer = nil
	}
	l.vectors = append(l.vectors, b.vector(name, offer))
}

func (l *bundleList) refused(name string, message []byte) {
	l.vectors = append(l.vectors, bundleVector{Name: name, Binpb: b64(message), outcome: invalid})
}

// aBundle is of one root and the first set.
var aBundle = bundle{version: 1, roots: [][]byte{oldRoot}, set: twoOfThree, epoch: 1}

func bundleWith(change func(*bundle)) bundle {
	b := aBundle
	b.roots = slices.Clone(b.roots)
	change(&b)
	return b
}

func (l *bundleList) good() {
	l.ok("the first set", aBundle)
	l.ok("the largest version", bundleWith(func(b *bundle) { b.version = 1<<53 - 1 }))
	l.ok("two roots", bundleWith(func(b *bundle) { b.version, b.roots = 2, [][]byte{oldRoot, newRoot} }))
	l.ok("two roots in another order: the same content", bundleWith(func(b *bundle) { b.version, b.roots = 2, [][]byte{newRoot, oldRoot} }))
	l.ok("keys in another order: the same content", bundleWith(func(b *bundle) { b.set.keys = reversed(b.set.keys) }))
	l.ok("16 roots", bundleWith(func(b *bundle) { b.roots = manyRoots(16) }))
	l.ok("no quorum", bundleWith(func(b *bundle) { b.set, b.epoch = setDraft{}, 0 }))
	second := bundleWith(func(b *bundle) { b.version, b.epoch, b.set = 3, 2, set(1, nil, dave, alice) })
	l.ok("a set without signatures", second)
	l.ok("a set that two approvers signed", second.signedSet(alice, bob))
	l.ok("the same signatures in another order: the same content", second.signedSet(bob, alice))
	l.ok("a removal that two approvers signed", bundleWith(func(b *bundle) { b.epoch, b.set = 2, setDraft{} }).signedSet(alice, bob))
	l.ok("a removal that nobody signed", bundleWith(func(b *bundle) { b.epoch, b.set = 2, setDraft{} }))
	l.ok("an unbatched cap", bundleWith(func(b *bundle) { b.set = cappedSet }))
	l.ok("64 keys and 64 tiers", bundleWith(func(b *bundle) { b.set = set(64, manyTiers(64, 1), manyKeys(64)...) }))
	l.ok("the largest epoch", bundleWith(func(b *bundle) { b.epoch = 1<<53 - 1 }))
	l.ok("a signature of no form", bundleWith(func(b *bundle) { b.signatures = []setEntry{{}, {"alice", []byte{1}}} }))
}

func reversed[T any](s []T) []T {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// badSets is bundles whose set breaks a rule: the rest of them stands.
func (l *bundleList) badSets() {
	keys := func(messages ...[]byte) func(*bundle) {
		return func(b *bundle) { b.keys, b.set.threshold, b.set.tiers = messages, 1, nil }
	}
	for name, change := range named[func(*bundle)](
		"epoch 0", func(b *bundle) { b.epoch = 0 }, "epoch 2^53", func(b *bundle) { b.epoch = 1 << 53 },
		"a threshold of 0", func(b *bundle) { b.set.threshold, b.set.tiers = 0, nil },
		"a threshold above the number of keys", func(b *bundle) { b.set.threshold = 4 },
		"tiers that do not ascend", func(b *bundle) { b.set.tiers = []tier{{5, 1}, {5, 1}} },
		"a tier that needs nobody", func(b *bundle) { b.set.tiers = []tier{{5, 0}} },
		"an empty tier", func(b *bundle) { b.set.tiers = []tier{{0, 0}} },
		"65 tiers", func(b *bundle) { b.set.tiers = manyTiers(65, 1) },
		"65 keys", func(b *bundle) { b.set = set(1, nil, manyKeys(65)...) },
		"a key twice", func(b *bundle) { b.set = set(1, nil, alice, alice) },
		"a threshold without keys", func(b *bundle) { b.set = set(1, nil) },
		"an unbatched cap without keys", func(b *bundle) { b.set = setDraft{unbatched: 3} },
		"signatures alone", func(b *bundle) {
			b.set, b.epoch, b.signatures = setDraft{}, 0, []setEntry{{alice.kid(), alice.sign(nil)}}
		},
		"a key under the kid of another", keys(keyMessage(bob.kid(), alice.spki)),
		"a key without its kid", keys(sub(2, alice.spki)), "a kid without its key", keys(str(1, alice.kid())),
		"a key in its compressed form", keys(keyMessage(alice.kid(), append(unhex("3039301306072a8648ce3d020106082a8648ce3d030107032200"), append([]byte{2}, alice.spki[27:59]...)...))),
		"a point that is not on the curve", keys(keyMessage(alice.kid(), append(slices.Clone(alice.spki[:90]), alice.spki[90]^1))),
	) {
		b := bundleWith(change)
		v := b.vector("a set that breaks a rule: "+name, &offerVector{outcome: refused("INVALID_INPUT malformed-set")})
		v.ContentSHA256 = "" // of no use: nobody publishes it
		l.vectors = append(l.vectors, v)
	}
}

// bad is bundles of their form that break a rule of the rest.
func (l *bundleList) bad() {
	l.refused("no version", bundleWith(func(b *bundle) { b.version = 0 }).message())
	l.refused("version 2^53", bundleWith(func(b *bundle) { b.version = 1 << 53 }).message())
	l.refused("no roots", bundleWith(func(b *bundle) { b.roots = nil }).message())
	l.refused("17 roots", bundleWith(func(b *bundle) { b.roots = manyRoots(17) }).message())
	l.refused("a root twice", bundleWith(func(b *bundle) { b.roots = [][]byte{oldRoot, newRoot, oldRoot} }).message())
	for _, r := range rootCertificates() {
		if r.outcome != ok {
			l.refused("for a root "+r.Name, bundleWith(func(b *bundle) { b.roots = append(b.roots, r.raw) }).message())
		}
	}
}

// badForms is bundles that are no canonical encoding of a message, in either part.
func (l *bundleList) badForms() {
	good := aBundle.message()
	fields := aBundle.fields()
	l.refused("nothing", nil)
	l.refused("cut short", good[:len(good)-1])
	l.refused("fields in reverse order", msg(reversed(fields)...))
	l.refused("an unknown field", msg(good, vint(9, 1)))
	l.refused("field 15, which is none", msg(good, str(15, "x")))
	l.refused("the version twice", msg(fields[0], good))
	l.refused("the version in one byte more than it needs", msg(tag(1, wireVarint), overlong(1), msg(fields[1:]...)))
	l.refused("the version as bytes", msg(str(1, "\x01"), msg(fields[1:]...)))
	l.refused("the epoch twice", msg(good, vint(8, 1)))
	l.refused("an epoch of 0 that is written", msg(msg(fields[:len(fields)-1]...), vint(8, 0)))
	noSet := bundleWith(func(b *bundle) { b.set, b.epoch = setDraft{}, 0 }).message()
	l.refused("a threshold of 0 that is written", msg(noSet, vint(4, 0)))
	l.refused("a threshold of 2^32 + 1", msg(noSet, vint(4, 1<<32+1)))
	l.refused("a threshold of ten bytes", msg(noSet, vint(4, -1)))
	l.refused("an unknown field of a key", msg(noSet, sub(3, keyMessage(alice.kid(), alice.spki), vint(3, 1))))
	l.refused("an empty kid that is written", msg(noSet, sub(3, str(1, ""), sub(2, alice.spki))))
	l.refused("a kid that is not UTF-8", msg(noSet, sub(3, keyMessage("\xff", alice.spki))))
	l.refused("the fields of a key in reverse order", msg(noSet, sub(3, sub(2, alice.spki), str(1, alice.kid()))))
	l.refused("an unknown field of a tier", msg(noSet, sub(5, vint(1, 5), vint(2, 1), vint(3, 1))))
	l.refused("an unknown field of a signature", msg(noSet, sub(7, signatureMessage(alice.kid(), []byte{1}), vint(3, 1))))
	l.refused("a group", msg(noSet, tag(9, wireGroup), tag(9, wireEnd)))
	l.refused("field number 0", msg(good, tag(0, wireVarint), varint(1)))
}
