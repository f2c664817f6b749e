package main

import (
	"strconv"
	"strings"
)

// A declineVector is the decline of a batch by one approver.
type declineVector struct {
	Name string `json:"name"`
	content
	outcome
	Canonical bool   `json:"canonical,omitempty"` // it is laid out as it is written
	Reason    string `json:"reasonText,omitempty"`
	Input     string `json:"input,omitempty"`    // hex: the signing input of what the file says
	Verifies  bool   `json:"verifies,omitempty"` // the signature is alice's over the input
}

func declineInput(batchID string, root []byte, size int, notAfter uint64, domain, reason string) []byte {
	return signingInput("batch-decline", []byte(batchID), root, u64(uint64(size)), u64(notAfter), []byte(domain), []byte(reason))
}

// decline is a decline by alice, as batch decline prints it; raw is how the reason stands in JSON.
func decline(reason, raw string) object {
	root := one().root
	sig := b64url(alice.sign(declineInput("batch_g1", root, 1, notAfter, domain, reason)))
	return object{{"format", `"better-compute-batch-decline"`}, {"version", "1"}, {"kid", `"` + alice.kid() + `"`}, {"sig", `"` + sig + `"`},
		{"batchId", `"batch_g1"`}, {"scopeRoot", `"` + hexOf(root) + `"`}, {"scopeSize", "1"}, {"notAfter", strconv.Itoa(notAfter)},
		{"trustDomain", `"` + domain + `"`}, {"reason", raw}}
}

// batchDeclineFiles is declines that read well, whether they verify or not, and files that do not (WIRE.md §5).
func batchDeclineFiles() any {
	l := &declineList{}
	l.good()
	l.reasons()
	l.bad()
	return l.vectors
}

type declineList struct{ vectors []declineVector }

const wrongImage = "wrong image on node_0417"

func (l *declineList) ok(name string, o object, canonical bool, domain, reason string, verifies bool) {
	l.vectors = append(l.vectors, declineVector{name, text(o.String() + "\n"), ok, canonical, reason,
		hexOf(declineInput("batch_g1", one().root, 1, notAfter, domain, reason)), verifies})
}

// but is the good file with one member set.
func but(name, raw string) object {
	o := decline(wrongImage, quote(wrongImage))
	o.set(name, raw)
	return o
}

func signedOver(input []byte) string { return `"` + b64url(alice.sign(input)) + `"` }

func (l *declineList) good() {
	good := decline(wrongImage, quote(wrongImage))
	l.ok("alice's", good, true, domain, wrongImage, true)
	var reversed object
	for i := range good {
		reversed = append(reversed, good[len(good)-1-i])
	}
	root := one().root
	l.ok("members in reverse order", reversed, false, domain, wrongImage, true)
	l.ok("the other half of s", but("sig", `"`+b64url(otherHalf(alice.sign(declineInput("batch_g1", root, 1, notAfter, domain, wrongImage))))+`"`), true, domain, wrongImage, true)
	l.ok("another reason than signed", but("reason", `"wrong image on node_0418"`), true, domain, "wrong image on node_0418", false)
	l.ok("another trust domain than signed", but("trustDomain", `"staging.example.com"`), true, "staging.example.com", wrongImage, false)
	l.ok("another's signature under alice's kid", but("sig", `"`+b64url(bob.sign(declineInput("batch_g1", root, 1, notAfter, domain, wrongImage)))+`"`), true, domain, wrongImage, false)
	l.ok("an approval's signature", but("sig", signedOver(approvalInput("batch_g1", root, 1, notAfter, domain))), true, domain, wrongImage, false)
	parts := [][]byte{[]byte("batch_g1"), root, u64(1), u64(notAfter), []byte(domain)}
	l.ok("signed as an approval with a reason", but("sig", signedOver(signingInput("batch-approval", append(parts, []byte(wrongImage))...))), true, domain, wrongImage, false)
	l.ok("signed as a decline without the reason", but("sig", signedOver(signingInput("batch-decline", parts...))), true, domain, wrongImage, false)
	l.ok("a signature all zero", but("sig", `"`+b64url(make([]byte, 64))+`"`), true, domain, wrongImage, false)
}

// reasons is free text: whatever escapes stand in it, what is signed is the text.
func (l *declineList) reasons() {
	for name, r := range named[[2]string](
		"one unit", [2]string{"x", `"x"`}, "500 units", [2]string{rep("x", 500), `"` + rep("x", 500) + `"`},
		"500 units of two", [2]string{rep("\U0001f6d1", 250), `"` + rep("\U0001f6d1", 250) + `"`},
		"text beyond ASCII", [2]string{"falsches Image – \u2028 «node_0417»", "\"falsches Image – \u2028 «node_0417»\""},
		"quote, backslash and line feed", [2]string{"say \"no\" \\ here\n", `"say \"no\" \\ here\n"`},
		"markup", [2]string{"<a href='&'>", `"<a href='&'>"`}, "hidden direction", [2]string{"a\u202eb", "\"a\u202eb\""},
	) {
		l.ok("reason: "+name, decline(r[0], r[1]), true, domain, r[0], true)
	}
	for name, r := range named[[2]string](
		"every escape", [2]string{"\" \\ / \b \f \n \r \t \u00e9 A", `"\" \\ \/ \b \f \n \r \t \u00e9 \u0041"`},
		"a pair of surrogates", [2]string{"\U0001f6d1", `"\ud83d\uDED1"`}, "500 units as escapes", [2]string{rep("A", 500), `"` + rep(`\u0041`, 500) + `"`},
		"a lone surrogate", [2]string{"a\ufffdb", `"a\ud83db"`}, "surrogates the wrong way round", [2]string{"\ufffd\ufffd", `"\uded1\ud83d"`},
	) {
		l.ok("reason: "+name, decline(r[0], r[1]), false, domain, r[0], true)
	}
}

func (l *declineList) bad() {
	good := decline(wrongImage, quote(wrongImage))
	file := good.String() + "\n"
	add := func(name, file string) {
		l.vectors = append(l.vectors, declineVector{Name: name, content: text(file), outcome: invalid})
	}
	for _, m := range good {
		o := decline(wrongImage, quote(wrongImage))
		o.del(m.name)
		add("no "+m.name, o.String())
		add(m.name+" null", but(m.name, "null").String())
	}
	for name, m := range named[member](
		"empty", member{"reason", `""`}, "501 units", member{"reason", `"` + rep("x", 501) + `"`},
		"251 characters of two units", member{"reason", `"` + rep("\U0001f6d1", 251) + `"`}, "501 units as escapes", member{"reason", `"` + rep(`\u0041`, 501) + `"`},
		"a list", member{"reason", `["x"]`}, "a number", member{"reason", "1"}, "a raw line feed", member{"reason", "\"a\nb\""},
		"an escape that is none", member{"reason", `"\x41"`}, "half an escape", member{"reason", `"\u00"`}, "not UTF-8", member{"reason", "\"a\xffb\""},
		"a raw surrogate", member{"reason", "\"a\xed\xa0\xbdb\""},
		"0", member{"version", "0"}, "2", member{"version", "2"}, "a string", member{"version", `"1"`},
		"that of an approval", member{"format", `"better-compute-batch-signature"`}, "with stray bits", member{"kid", `"` + stray(alice.kid()) + `"`},
		"of 63 bytes", member{"sig", `"` + b64url(make([]byte, 63)) + `"`}, "in upper case", member{"scopeRoot", strings.ToUpper(`"` + hexOf(one().root) + `"`)},
		"0", member{"scopeSize", "0"}, "50001", member{"scopeSize", "50001"}, "over 2^53-1", member{"notAfter", "9007199254740992"},
		"..", member{"batchId", `".."`}, "an escape", member{"batchId", `"batch\u005fg1"`}, "an escape", member{"trustDomain", `"compute\u002eexample.com"`},
		"empty", member{"trustDomain", `""`}, "as in a batch signature", member{"unchecked", "true"},
	) {
		add(m.name+": "+name, but(m.name, m.raw).String())
	}
	add("an escape in the name of the reason", edit(file, `"reason"`, `"reaso\u006e"`))
	add("an escape in a reason within another member", edit(file, `"version":1`, `"version":{"reason":"\u0031"}`))
	add("unknown member", edit(file, `"version":1`, `"version":1,"note":"x"`))
	add("reason twice", edit(file, `"version":1`, `"version":1,"reason":"x"`))
	add("a second value", file+file)
	add("byte order mark", "\ufeff"+file)
	add("a batch signature", batchSignature().String())
	add("a list", "["+file+"]")
	add("empty file", "")
}
