//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What commands on tokens say to go on with.

// tries gives what a refusal says to try: the last line as text, a detail with --json, and the same in both.
func (f *faultyToken) tries(args []string, rules ...string) string {
	f.t.Helper()
	f.set(rules...)
	r := f.run(args...)
	require.Equal(f.t, 1, r.status, "%s", r.stderr)
	_, text, _ := strings.Cut(r.stderr, "\ntry: ")
	f.set(rules...)
	r = f.run(append(args[:len(args):len(args)], "--json")...)
	var got struct {
		Error struct{ Details struct{ Try string } }
	}
	require.NoError(f.t, json.Unmarshal([]byte(r.stderr), &got), "standard error is one object: %s", r.stderr)
	require.Equal(f.t, strings.TrimSuffix(text, "\n"), got.Error.Details.Try)
	return got.Error.Details.Try
}

// After a login that failed the advice goes by whose PIN it was, and by how the token stands then.
func TestPINAdvice(t *testing.T) {
	f := newFaultyToken(t)
	f.write("so.txt", []byte(soPIN+"\n"))
	list := f.hsm("list", "--login", "--token", "approver", "--pin-file", "pin.txt")
	unlock := f.hsm("pin", "unlock", "--token", "approver", "--so-pin-file", "so.txt", "--new-pin-file", "pin.txt")
	change := f.hsm("pin", "change", "--token", "approver", "--pin-file", "pin.txt", "--new-pin-file", "so.txt")
	check := f.hsm("check", tokenKey, "--pin-file", "pin.txt")
	wrong, locked, tpm := "C_Login 0 0 rv 0xa0", "C_Login 0 0 rv 0xa4", "C_GetInfo 0 0 maker tpm2-software.github.io"
	after := func(flags string) string { return "C_GetTokenInfo 3 0 flags " + flags } // both slots when it is opened, and the look before the login
	for _, test := range []struct {
		name  string
		args  []string
		rules []string
		try   string
	}{
		{"wrong, and nothing is shown", list, []string{wrong}, "check the PIN before you try again: each wrong one counts, and nothing shows how many are left"},
		{"wrong, and a try was shown", check, []string{wrong, after("0x10000")}, "check the PIN before you try again: each wrong one counts"},
		{"wrong, and one is left", check, []string{wrong, after("0x20000")}, "one try is left; do not guess: one more wrong PIN locks the token; --allow-final-try takes the risk"},
		{"wrong, and now locked", check, []string{wrong, after("0x40000")}, "the security officer unlocks it: approver hsm pin unlock"},
		{"locked", list, []string{locked}, "the security officer unlocks it: approver hsm pin unlock"},
		{"locked, and the officer's too", list, []string{locked, "C_GetTokenInfo 0 0 flags 0x400000"}, "only the maker's reset helps: the security officer's PIN, which could unlock it, is locked too"},
		{"the officer's, locked", unlock, []string{locked}, "only the maker's reset helps; keys whose user PIN is known still sign"},
		{"the officer's, shown as locked", unlock, []string{"C_GetTokenInfo 0 0 flags 0x400000"}, "only the maker's reset helps; keys whose user PIN is known still sign"},
		{"the officer's last try", unlock, []string{"C_GetTokenInfo 0 0 flags 0x200000"},
			"one more wrong PIN locks the security officer's, and nobody can unlock that; --allow-final-try takes the risk"},
		{"a TPM's", list, []string{locked, tpm}, "the whole TPM may be locked, for the security officer too: wait for its lockout time, or clear it with the TPM's lockout authority (tpm2_dictionarylockout --clear-lockout)"},
		{"a TPM's officer", unlock, []string{locked, tpm}, "the whole TPM may be locked, for the security officer too: wait for its lockout time, or clear it with the TPM's lockout authority (tpm2_dictionarylockout --clear-lockout)"},
		{"no user PIN", list, []string{"C_Login 0 0 rv 0x102"}, "the security officer sets it: approver hsm pin unlock"},
		{"an expired one", unlock, []string{"C_InitPIN 0 0 rv 0xa3"}, "approver hsm pin change --so"},
		{"write protection", change, []string{"C_SetPIN 0 0 rv 0xe2"}, "take the write protection off the token, its reader or its module; signing needs no writing"},
		{"write protection, seen at once", change, []string{"C_OpenSession 0 0 norw 1"}, "take the write protection off the token, its reader or its module; signing needs no writing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.try, f.in(t).tries(test.args, test.rules...))
		})
	}
	f.set(locked)
	require.Contains(t, f.run(unlock...).stderr, "the security officer's PIN is locked; nobody can unlock that")
	// A removal in the login is told in one sentence, and not again by what leaves the module.
	f.set("C_Login 0 0 gone 0x32")
	r := f.run(list...)
	require.Equal(t, 1, strings.Count(r.stderr, "the token was removed"), "%s", r.stderr)
	require.NotContains(t, r.stderr, "warning: ")
}

// pin unlock shows how both PINs stand before anybody types one.
func TestUnlockShowsBothPINs(t *testing.T) {
	f := newFaultyToken(t)
	f.write("so.txt", []byte(soPIN+"\n"))
	unlock := f.hsm("pin", "unlock", "--token", "approver", "--so-pin-file", "so.txt", "--new-pin-file", "pin.txt")
	f.set("C_GetTokenInfo 0 0 flags 0x40000")
	require.Regexp(t, `(?m)^token approver, serial [0-9a-f]+,\n  user PIN locked,\n  security officer's PIN ready$`, f.ok(unlock...).stderr)
	f.set("C_GetTokenInfo 0 0 flags 0x110000")
	require.Regexp(t, `(?m)^token approver, serial [0-9a-f]+,\n  user PIN: a wrong PIN was entered since the last login,\n  security officer's PIN: a wrong`, f.ok(unlock...).stderr)
}

// With --json a line of standard error is an object, of a warning too; and what needs no person is not there.
func TestHSMStandardErrorIsJSON(t *testing.T) {
	f := newFaultyToken(t)
	list := f.hsm("list", "--login", "--token", "approver", "--pin-file", "pin.txt", "--json")
	require.Empty(t, f.ok(list...).stderr)
	f.set("C_Logout 0 0 rv 0x06", "C_CloseSession 0 0 rv 0x06")
	r := f.ok(list...)
	lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	require.Len(t, lines, 2)
	for _, line := range lines {
		require.Regexp(t, `^\{"warning":"leaving the token: KEY_UNAVAILABLE: C_[A-Za-z]+ gave CKR_FUNCTION_FAILED \(0x06\)"\}$`, line)
	}
	r = f.run(f.hsm("check", "pkcs11:token=approver;id=01", "--json", "--pin-file", "pin.txt")...)
	require.Regexp(t, `(?m)^\{"warning":"id in the pkcs11: URI has characters without %`, r.stderr)
	f.set("C_GetTokenInfo 0 0 flags 0x100", "C_Login 0 0 pinpad "+testPIN)
	r = f.ok(f.hsm("list", "--login", "--token", "approver", "--json")...)
	require.Regexp(t, `^\{"keypad":"enter the PIN on the token's own keypad","label":"approver","pin":"PIN ready","serial":"[0-9a-f]+"\}\n$`, r.stderr)
}

// Of several tokens or keys each command says how it can be told which: by the flags that it has.
func TestAmbiguityAdvice(t *testing.T) {
	f := newFaultyToken(t)
	f.keygen("01", "twin")
	byID := "pkcs11:token=approver;id=%01"
	pin := []string{"--pin-file", "pin.txt"}
	require.Equal(t, "add object= or id= to the URI, or give --pub", f.tries(f.hsm(append([]string{"check", byID}, pin...)...)))
	f.tool("softhsm2-util", "--init-token", "--free", "--label", "approver", "--so-pin", soPIN, "--pin", testPIN)
	for want, args := range map[string][]string{
		"add serial= to the URI":              f.hsm(append([]string{"check", tokenKey}, pin...)...),
		"add --serial":                        f.hsm(append([]string{"list", "--login", "--token", "approver"}, pin...)...),
		"add --serial, or serial= to the URI": f.hsm(append([]string{"keygen", "--token", "approver", "--label", "x", "--out", "out/x"}, pin...)...),
	} {
		require.Equal(t, want, f.tries(args))
	}
	for command, want := range map[string]string{
		"approver hsm import": "add object= or id= to the URI", "approver batch sign": "add object= or id= to the URI, or give --pub",
	} {
		require.Equal(t, want, ambiguityHint(command, "ambiguous", map[string]any{"keys": 2}))
	}
}

// A key without its public half is judged by the one that is given; without one it is said what is missing.
func TestHSMCheckOfABareKey(t *testing.T) {
	s := newToken(t)
	pin := []string{"--module", softHSMModule, "--pin-file", "pin.txt"}
	hsm := func(args ...string) []string { return append(append([]string{"hsm"}, args...), pin...) }
	s.ok(hsm("keygen", "--token", "approver", "--label", "bare", "--out", "bare")...)
	s.tool("pkcs11-tool", "--module", softHSMModule, "--token-label", "approver", "--login", "--pin", testPIN, "--delete-object", "--type", "pubkey", "--label", "bare")
	uri := "pkcs11:token=approver;object=bare"

	r := s.run(hsm("check", uri)...)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "INVALID_STATE: the key cannot be judged: the token lacks its public half, and none was given\n"+
		"try: --pub FILE, or 'approver hsm import': the token lacks the public half\n")
	r = s.ok(hsm("check", uri, "--pub", "bare.pub")...)
	key, err := readPublicKey(s.path("bare.pub"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^FIT: `+key.KID().String()+"\nthe token lacks the public half: approver hsm import '?pkcs11:token=approver;serial=[0-9a-f]+;object=bare;id=[%0-9A-F]+'? --from FILE$", r.stdout)
	require.Regexp(t, `(?m)^public half              expected  not available$`, r.stdout)

	// The file of another key is refused with what to do; its own is taken, and then nothing is lacking.
	r = s.run(hsm("import", uri, "--from", "k256.pem.pub")...)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "\ntry: the file that belongs to this key\n")
	r = s.ok(hsm("import", uri, "--from", "bare.pub")...)
	require.NotContains(t, r.stderr, "CKA_LOCAL")
	require.NotContains(t, s.ok(hsm("check", uri)...).stdout, "lacks")

	// A key that was elsewhere gets its half too, and a warning.
	s.tool("softhsm2-util", "--import", s.path("alice.pem"), "--token", "approver", "--label", "elsewhere", "--id", "0e", "--pin", testPIN)
	s.tool("pkcs11-tool", "--module", softHSMModule, "--token-label", "approver", "--login", "--pin", testPIN, "--delete-object", "--type", "pubkey", "--label", "elsewhere")
	r = s.ok(hsm("import", "pkcs11:token=approver;object=elsewhere", "--from", "alice.pem.pub")...)
	require.Contains(t, r.stderr, "warning: CKA_LOCAL is false: the key was not made on this token, and 'approver hsm check' finds it unfit for an approver\n")
	require.NotContains(t, s.run(hsm("check", "pkcs11:token=approver;object=elsewhere")...).stderr, "lacks its public half")
}

// A public key of another kind is called by its name.
func TestPublicKeyOfAnotherKind(t *testing.T) {
	s := newSession(t)
	for name, args := range map[string][]string{
		"an Ed25519 key": {"ed25519"}, "a P-384 key": {"EC", "-pkeyopt", "ec_paramgen_curve:P-384"}, "an RSA key": {"RSA", "-pkeyopt", "rsa_keygen_bits:2048"},
	} {
		s.tool("openssl", append([]string{"genpkey", "-out", s.path("other.pem"), "-algorithm"}, args...)...)
		s.tool("openssl", "pkey", "-in", s.path("other.pem"), "-pubout", "-out", s.path("other.pub"))
		require.NoError(t, os.Remove(s.path("other.pem")))
		r := s.refused("INVALID_INPUT", "", "hsm", "check", "pkcs11:token=a;object=b", "--pub", "other.pub", "--module", "/m.so")
		require.Contains(t, r.stderr, "other.pub: it holds "+name+"; an approver's is P-256")
	}
}

// A module without a token has none, and one without the token that was asked for has no such.
func TestHSMListWithoutAToken(t *testing.T) {
	s := newSession(t)
	found, err := filepath.Glob("/usr/lib/*/pkcs11/p11-kit-client.so") // without a server it has none
	require.NoError(t, err)
	require.NotEmpty(t, found, "run ./softhsm-test.sh, which installs what these tests need")
	require.Regexp(t, `(?m)^  no token$`, s.ok("hsm", "list", "--module", found[0]).stdout)
	require.Regexp(t, `(?m)^  no such token$`, s.ok("hsm", "list", "--token", "x", "--module", found[0]).stdout)
}
