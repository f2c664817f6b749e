package main

import "fmt"

type keyProofVector struct {
	Name string `json:"name"`
	content
	outcome
	KID string `json:"kid,omitempty"`
}

func proofFile(kid, spki, sig string) string {
	return fmt.Sprintf(`{"format":"better-compute-approver-key","version":1,"kid":"%s","spkiDer":"%s","sig":"%s"}`+"\n", kid, spki, sig)
}

// keyProofs is PATH.proof files: a key signs its own kid for the purpose approver-key (WIRE.md §1, §5).
func keyProofs() any {
	var v []keyProofVector
	good := func(name string, k key, file string) {
		v = append(v, keyProofVector{name, text(file), ok, k.kid()})
	}
	bad := func(name string, want outcome, file string) {
		v = append(v, keyProofVector{name, text(file), want, ""})
	}
	denied := refused("ACCESS_DENIED bad-signature")
	input := signingInput("approver-key", []byte(alice.kid()))
	kid, spki, sig := alice.kid(), b64(alice.spki), b64url(alice.sign(input))
	file := proofFile(kid, spki, sig)
	good("alice", alice, file)
	good("bob", bob, proofFile(bob.kid(), b64(bob.spki), b64url(bob.sign(signingInput("approver-key", []byte(bob.kid()))))))
	good("the other half of s", alice, proofFile(kid, spki, b64url(otherHalf(alice.sign(input)))))
	good("members in another order, white space", alice,
		fmt.Sprintf("\t{ \"sig\": %q,\r\n \"spkiDer\": %q, \"kid\": %q, \"version\": 1, \"format\": \"better-compute-approver-key\" }", sig, spki, kid))
	bad("signed by another key", denied, proofFile(kid, spki, b64url(bob.sign(input))))
	bad("another key's proof", denied, proofFile(bob.kid(), b64(bob.spki), sig))
	bad("signed for another purpose", denied, proofFile(kid, spki, b64url(alice.sign(signingInput("key-trial", []byte(kid))))))
	bad("signed the SPKI and not the kid", denied, proofFile(kid, spki, b64url(alice.sign(signingInput("approver-key", alice.spki)))))
	bad("signature all zero", denied, proofFile(kid, spki, b64url(make([]byte, 64))))
	bad("signature of 63 bytes", invalid, proofFile(kid, spki, b64url(alice.sign(input)[:63])))
	bad("signature with stray bits", invalid, proofFile(kid, spki, stray(sig)))
	bad("signature padded", invalid, proofFile(kid, spki, sig+"=="))
	bad("kid of another key", invalid, proofFile(bob.kid(), spki, sig))
	bad("kid with stray bits", invalid, proofFile(stray(kid), spki, sig))
	bad("key in base64url", invalid, proofFile(kid, b64url(alice.spki), sig))
	bad("key with a trailing byte", invalid, proofFile(kid, b64(append(alice.spki[:91:91], 0)), sig))
	bad("another format", invalid, edit(file, "approver-key", "approver-set"))
	bad("version 2", invalid, edit(file, `"version":1`, `"version":2`))
	bad("version as a string", invalid, edit(file, `"version":1`, `"version":"1"`))
	bad("no signature", invalid, edit(file, `,"sig":"`+sig+`"`, ""))
	bad("no kid", invalid, edit(file, `"kid":"`+kid+`",`, ""))
	bad("key null", invalid, edit(file, `"`+spki+`"`, "null"))
	bad("unknown member", invalid, edit(file, `{"format"`, `{"note":"x","format"`))
	bad("a member twice", invalid, edit(file, `"version":1`, `"version":1,"version":1`))
	bad("letter case of a member", invalid, edit(file, `"spkiDer"`, `"spkider"`))
	bad("an escape in an identifier", invalid, edit(file, "better-compute-approver-key", `better\u002dcompute-approver-key`))
	bad("something after the value", invalid, file+"{}")
	bad("byte order mark", invalid, "\ufeff"+file)
	bad("empty file", invalid, "")
	return v
}

// stray sets a bit that the last character of unpadded base64url does not use: the same bytes, written another way.
func stray(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range alphabet {
		if alphabet[i] == s[len(s)-1] {
			return s[:len(s)-1] + alphabet[i+1:i+2] // canonical last characters are even here
		}
	}
	panic("not base64url")
}
