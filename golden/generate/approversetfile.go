package main

import "strings"

type setVector struct {
	Name string `json:"name"`
	content
	outcome
	Epoch     uint64 `json:"epoch,omitempty"`
	SetSHA256 string `json:"setSha256,omitempty"`
	Keys      int    `json:"keys,omitempty"`
	Threshold int    `json:"threshold,omitempty"`
	Removal   bool   `json:"removal,omitempty"`
}

// A setList collects unsigned approver set files (WIRE.md §5) and what the rules of §3 make of them.
type setList struct{ vectors []setVector }

func (l *setList) okFile(name string, epoch uint64, s setDraft, file string) {
	l.vectors = append(l.vectors, setVector{name, text(file), ok, epoch, hexOf(s.digest()), len(s.keys), s.threshold, len(s.keys) == 0})
}

func (l *setList) ok(name string, s setDraft) { l.okFile(name, 1, s, s.file()) }

func (l *setList) bad(name string, want outcome, file string) {
	l.vectors = append(l.vectors, setVector{Name: name, content: text(file), outcome: want})
}

// broken is a set whose file reads well and that breaks one rule of §3.
func (l *setList) broken(name string, s setDraft) {
	l.bad(name, refused("INVALID_INPUT malformed-set"), s.file())
}

func approverSetFiles() any {
	var l setList
	l.good()
	l.thresholds()
	l.keys()
	l.files()
	return l.vectors
}

var twoOfThree = set(2, []tier{{5, 1}}, alice, bob, carol)

func (l *setList) good() {
	l.ok("2 of 3 with a tier", twoOfThree)
	l.ok("the same, keys in another order", set(2, []tier{{5, 1}}, carol, alice, bob))
	l.ok("1 of 1", set(1, nil, alice))
	l.ok("all of 3", set(3, nil, alice, bob, carol))
	l.ok("two tiers of one threshold", set(2, []tier{{5, 1}, {10, 1}, {100, 2}}, alice, bob))
	l.ok("a tier over 50,000 leaves", set(2, []tier{{4294967295, 2}}, alice, bob))
	l.ok("a tier of one leaf", set(2, []tier{{1, 1}}, alice, bob))
	l.ok("64 keys", set(64, nil, manyKeys(64)...))
	l.ok("64 tiers", set(1, manyTiers(64, 1), alice))
	capped := set(1, nil, alice)
	capped.unbatched = 4294967295
	l.ok("the largest unbatched cap", capped)
	l.ok("a removal", setDraft{})
	l.okFile("the largest epoch", 1<<53-1, twoOfThree, setFile("9007199254740991", twoOfThree.object().String()))
	o := twoOfThree.object()
	l.okFile("members in another order", 1, twoOfThree, object{{"set", object{o[3], o[2], o[1], o[0]}.String()}, {"epoch", "1"}, {"version", "1"},
		{"format", `"better-compute-approver-set"`}}.String())
}

func (l *setList) thresholds() {
	l.broken("threshold 0", set(0, nil, alice, bob))
	l.broken("threshold over the keys", set(3, nil, alice, bob))
	l.broken("tier over the set's threshold", set(2, []tier{{5, 3}}, alice, bob, carol))
	l.broken("last tier over the set's threshold", set(2, []tier{{5, 1}, {10, 3}}, alice, bob, carol))
	l.broken("tier thresholds decrease", set(2, []tier{{5, 2}, {10, 1}}, alice, bob))
	l.broken("tier sizes descend", set(2, []tier{{10, 1}, {5, 1}}, alice, bob))
	l.broken("tier sizes repeat", set(2, []tier{{5, 1}, {5, 2}}, alice, bob))
	l.broken("tier threshold 0", set(2, []tier{{5, 0}}, alice, bob))
	l.broken("tier size 0", set(2, []tier{{0, 1}}, alice, bob))
	l.broken("65 tiers", set(1, manyTiers(65, 1), alice))
	l.broken("no keys and a threshold", set(1, nil))
	l.broken("no keys and a tier", set(0, []tier{{5, 1}}))
	capped := setDraft{unbatched: 1}
	l.broken("no keys and an unbatched cap", capped)
	malformed := refused("INVALID_INPUT malformed-set")
	l.bad("epoch 0", malformed, setFile("0", twoOfThree.object().String()))
	l.bad("removal at epoch 0", malformed, setFile("0", setDraft{}.object().String()))
	big := func(old, wider string) { l.bad(wider, invalid, edit(twoOfThree.file(), old, wider)) }
	big(`"maxScopeSize":5`, `"maxScopeSize":4294967296`)
	big(`"unbatchedDestructivePerHour":0`, `"unbatchedDestructivePerHour":4294967296`)
	l.bad("a threshold that is right in 32 bits", invalid, edit(twoOfThree.file(), `],"threshold":2`, `],"threshold":4294967298`))
}

func (l *setList) keys() {
	malformed := refused("INVALID_INPUT malformed-set")
	with := func(keys ...string) string {
		o := twoOfThree.object()
		o.set("keys", lines(keys))
		return setFile("1", o.String())
	}
	a, b := keyObject(alice.kid(), alice.spki), keyObject(bob.kid(), bob.spki)
	l.bad("a key twice", malformed, with(a, b, a))
	l.bad("a key under the kid of another", malformed, with(a, b, keyObject(carol.kid(), dave.spki)))
	l.bad("a key under two kids", malformed, with(a, b, keyObject(carol.kid(), alice.spki)))
	l.bad("two keys under one kid", malformed, with(a, b, keyObject(alice.kid(), carol.spki)))
	l.bad("65 keys", malformed, set(2, nil, manyKeys(65)...).file())
	// These are no keys at all, so that WIRE.md leaves open whether it is the field or the set that is refused.
	hybrid := append([]byte{}, carol.spki...)
	hybrid[26] = 6 + carol.spki[90]&1
	offCurve := append([]byte{}, carol.spki...)
	offCurve[90] ^= 1
	l.bad("a hybrid point", invalid, with(a, b, keyObject(b64url(sum(hybrid)), hybrid)))
	l.bad("a point off the curve", invalid, with(a, b, keyObject(b64url(sum(offCurve)), offCurve)))
	trailing := append(carol.spki[:91:91], 0)
	l.bad("a key with a trailing byte", invalid, with(a, b, keyObject(b64url(sum(trailing)), trailing)))
	l.bad("a kid with stray bits", invalid, with(a, b, keyObject(stray(carol.kid()), carol.spki)))
	l.bad("a key in base64url", invalid, with(a, b, `{"kid":"`+carol.kid()+`","spkiDer":"`+b64url(carol.spki)+`"}`))
	l.bad("a key without kid", invalid, with(a, b, `{"spkiDer":"`+b64(carol.spki)+`"}`))
	l.bad("a key without point", invalid, with(a, b, `{"kid":"`+carol.kid()+`"}`))
	l.bad("a key null", invalid, with(a, b, "null"))
	l.bad("unknown member of a key", invalid, with(a, b, `{"kid":"`+carol.kid()+`","spkiDer":"`+b64(carol.spki)+`","name":"carol"}`))
}

func (l *setList) files() {
	file := twoOfThree.file()
	bad := func(name, old, replacement string) { l.bad(name, invalid, edit(file, old, replacement)) }
	bad("another format", "better-compute-approver-set", "better-compute-batch-scope")
	bad("version 2", `"version":1`, `"version":2`)
	bad("no version", `"version":1,`, "")
	bad("no epoch", `"epoch":1,`, "")
	bad("epoch 2^53", `"epoch":1`, `"epoch":9007199254740992`)
	bad("epoch -1", `"epoch":1`, `"epoch":-1`)
	bad("epoch 1.0", `"epoch":1`, `"epoch":1.0`)
	bad("epoch null", `"epoch":1`, `"epoch":null`)
	bad("no threshold", `],"threshold":2`, `]`)
	bad("threshold as a string", `],"threshold":2`, `],"threshold":"2"`)
	bad("no threshold in a tier", `"maxScopeSize":5,"threshold":1`, `"maxScopeSize":5`)
	bad("unknown member", `"epoch":1`, `"epoch":1,"note":"x"`)
	bad("unknown member of the set", `,"unbatched`, `,"note":"x","unbatched`)
	bad("unknown member of a tier", `"maxScopeSize":5`, `"maxScopeSize":5,"note":1`)
	bad("a member twice", `"epoch":1`, `"epoch":1,"epoch":1`)
	bad("letter case of a member", `"unbatchedDestructivePerHour"`, `"unbatchedDestructivePerhour"`)
	bad("an escape in a name", `"epoch"`, `"epo\u0063h"`)
	bad("an escape in a kid", `"kid":"`+alice.kid()[:1], `"kid":"\u00`+hexOf([]byte(alice.kid()[:1])))
	l.bad("set null", invalid, setFile("1", "null"))
	l.bad("set a list", invalid, setFile("1", "[]"))
	l.bad("something after the value", invalid, file+"{}")
	l.bad("byte order mark", invalid, "\ufeff"+file)
	l.bad("cut off", invalid, strings.TrimSuffix(file, "}\n"))
}
