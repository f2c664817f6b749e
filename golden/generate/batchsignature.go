package main

import (
	"strconv"
	"strings"
)

type signatureFileVector struct {
	Name string `json:"name"`
	content
	outcome
	Input     string `json:"input,omitempty"` // hex: the signing input of what the file says
	Unchecked bool   `json:"unchecked,omitempty"`
	Verifies  bool   `json:"verifies,omitempty"` // the signature is alice's over the input
}

// batchSignature is a batch signature by alice, as batch sign prints it.
func batchSignature() object {
	root := one().root
	sig := b64url(alice.sign(approvalInput("batch_g1", root, 1, notAfter, domain)))
	return object{{"format", `"better-compute-batch-signature"`}, {"version", "1"}, {"kid", `"` + alice.kid() + `"`}, {"sig", `"` + sig + `"`},
		{"batchId", `"batch_g1"`}, {"scopeRoot", `"` + hexOf(root) + `"`}, {"scopeSize", "1"}, {"notAfter", strconv.Itoa(notAfter)},
		{"trustDomain", `"` + domain + `"`}}
}

// batchSignatureFiles is batch signatures that read well, whether they verify or not, and files that do not (WIRE.md §5).
func batchSignatureFiles() any {
	l := &signatureFileList{}
	l.good()
	l.bads()
	l.forms()
	return l.vectors
}

type signatureFileList struct{ vectors []signatureFileVector }

func (l *signatureFileList) ok(name string, o object, size int, end uint64, domain string, verifies bool) {
	input := approvalInput("batch_g1", one().root, size, end, domain)
	l.vectors = append(l.vectors, signatureFileVector{name, text(o.String() + "\n"), ok, hexOf(input),
		strings.Contains(o.String(), `"unchecked":true`), verifies})
}

func (l *signatureFileList) bad(name, file string) {
	l.vectors = append(l.vectors, signatureFileVector{Name: name, content: text(file), outcome: invalid})
}

// with is the good file with one member set.
func with(name, raw string) object {
	o := batchSignature()
	o.set(name, raw)
	return o
}

func (l *signatureFileList) good() {
	l.ok("alice's", batchSignature(), 1, notAfter, domain, true)
	l.ok("unchecked", with("unchecked", "true"), 1, notAfter, domain, true)
	o := batchSignature()
	var reversed object
	for i := range o {
		reversed = append(reversed, o[len(o)-1-i])
	}
	l.ok("members in reverse order", reversed, 1, notAfter, domain, true)
	l.ok("the other half of s", with("sig", `"`+b64url(otherHalf(alice.sign(approvalInput("batch_g1", one().root, 1, notAfter, domain))))+`"`), 1, notAfter, domain, true)
	l.ok("another size than signed", with("scopeSize", "50000"), 50_000, notAfter, domain, false)
	l.ok("another end than signed", with("notAfter", "9007199254740991"), 1, 1<<53-1, domain, false)
	l.ok("another trust domain than signed", with("trustDomain", `"staging.example.com"`), 1, notAfter, "staging.example.com", false)
	l.ok("a signature all zero", with("sig", `"`+b64url(make([]byte, 64))+`"`), 1, notAfter, domain, false)
}

func (l *signatureFileList) bads() {
	file := batchSignature().String() + "\n"
	bad := func(name, old, replacement string) { l.bad(name, edit(file, old, replacement)) }
	for _, m := range batchSignature() {
		o := batchSignature()
		o.del(m.name)
		l.bad("no "+m.name, o.String())
		l.bad(m.name+" null", with(m.name, "null").String())
	}
	bad("unknown member", `"version":1`, `"version":1,"note":"x"`)
	bad("a member twice", `"version":1`, `"version":1,"version":1`)
	bad("letter case of a member", `"batchId"`, `"batchid"`)
	bad("an escape in a name", `"batchId"`, `"batch\u0049d"`)
	bad("an escape in the batch id", `"batch_g1"`, `"batch\u005fg1"`)
	bad("an escape in the trust domain", `"compute.example.com"`, `"compute\u002eexample.com"`)
	bad("a comma after the last member", `"}`, `",}`)
	l.bad("a second value", file+file)
	l.bad("byte order mark", "\ufeff"+file)
	l.bad("cut off", strings.TrimSuffix(file, "}\n"))
	l.bad("empty file", "")
	l.bad("a list", "["+file+"]")
	l.bad("17 levels", edit(file, `"version":1`, `"version":1,"note":`+rep("[", 17)+rep("]", 17)))
	l.bad("not UTF-8", edit(file, "batch_g1", "batch_g1\xff"))
	decline := with("format", `"better-compute-batch-decline"`)
	decline.set("reason", `"wrong image"`)
	l.bad("a decline", decline.String())
	l.bad("a scope", one().text())
	l.bad("unchecked as a string", with("unchecked", `"true"`).String())
	l.bad("unchecked as a number", with("unchecked", "1").String())
}

func (l *signatureFileList) forms() {
	o := batchSignature()
	kid, sig, root := strings.Trim(o[2].raw, `"`), strings.Trim(o[3].raw, `"`), strings.Trim(o[5].raw, `"`)
	for name, raw := range named[string]("2", "2", "0", "0", "1.0", "1.0", "a string", `"1"`) {
		l.bad("version "+name, with("version", raw).String())
	}
	for name, m := range named[member](
		"kid with stray bits", member{"kid", stray(kid)}, "kid padded", member{"kid", kid + "="}, "kid of 42 characters", member{"kid", kid[:42]},
		"kid empty", member{"kid", ""}, "kid in hex", member{"kid", hexOf(sum(alice.spki))}, "sig with stray bits", member{"sig", stray(sig)},
		"sig padded", member{"sig", sig + "=="}, "sig of 63 bytes", member{"sig", sig[:84]}, "sig of 65 bytes", member{"sig", b64url(make([]byte, 65))},
		"sig with a space", member{"sig", sig[:43] + " " + sig[43:]}, "sig empty", member{"sig", ""}, "root in upper case", member{"scopeRoot", strings.ToUpper(root)},
		"root with 0x", member{"scopeRoot", "0x" + root}, "root of 63 digits", member{"scopeRoot", root[:63]}, "root empty", member{"scopeRoot", ""},
		"batch id ..", member{"batchId", ".."}, "batch id empty", member{"batchId", ""}, "trust domain empty", member{"trustDomain", ""},
		"trust domain in upper case", member{"trustDomain", "Compute.example.com"}, "another format", member{"format", "better-compute-batch-approval"},
	) {
		l.bad(name, with(m.name, `"`+m.raw+`"`).String())
	}
	for _, raw := range []string{"0", "50001", "-1", "1.0", "1e0", `"1"`, "9007199254740992"} {
		l.bad("scopeSize "+raw, with("scopeSize", raw).String())
	}
	for _, raw := range []string{"9007199254740992", "-1", "-0", "4102444800000.0", "4e12", `"4102444800000"`, "true"} {
		l.bad("notAfter "+raw, with("notAfter", raw).String())
	}
}
