//go:build linux

package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A token that is gone, or whose session died, at every place where that can show. Nothing is tried again and nothing is
// written; once it is back the same line signs.
func TestFaultRemoval(t *testing.T) {
	f := newFaultyToken(t)
	codes := map[string]string{
		"0x82": "CKR_OBJECT_HANDLE_INVALID (0x82)", "0x30": "CKR_DEVICE_ERROR (0x30)", "0x05": "CKR_GENERAL_ERROR (0x05)",
		"0x32": "CKR_DEVICE_REMOVED (0x32)", "0xb3": "CKR_SESSION_HANDLE_INVALID (0xb3)", "0xb0": "CKR_SESSION_CLOSED (0xb0)",
	}
	for _, place := range []struct {
		name, rule, says string // the rule's function and calls to let pass, and the function that is named
		logins, signs    int
	}{
		{"before it is opened", "C_OpenSession 0", "C_OpenSession", 0, 0},
		{"before the login", "C_FindObjectsInit 0", "C_FindObjects", 0, 0},
		{"right before the login", "C_GetTokenInfo 2", "C_GetTokenInfo", 0, 0},
		{"in the login", "C_Login 0", "C_Login", 1, 0},
		{"after the login", "C_FindObjectsInit 1", "C_FindObjects", 1, 0},
		{"before the signature", "C_SignInit 0", "C_SignInit", 1, 0},
		{"during the signature", "C_Sign 0", "C_Sign", 1, 1},
	} {
		t.Run(place.name, func(t *testing.T) {
			f := f.in(t)
			for code, says := range codes {
				r := f.fails("device-removed", f.args(), place.rule+" 0 rv "+code)
				require.Contains(t, r.stderr, place.says+" gave "+says)
				require.Equal(t, place.logins, f.count("C_Login"))
				require.Equal(t, place.signs, f.count("C_Sign"))
				require.Equal(t, 1, f.count("C_Finalize"))
			}
			for _, code := range []string{"0x32", "0xe0"} { // and nothing answers any more
				f.fails("device-removed", f.args(), place.rule+" 0 gone "+code)
				require.Equal(t, place.logins, f.count("C_Login"))
				require.Equal(t, place.signs, f.count("C_Sign"))
			}
			f.signs(f.args())
			f.requireLeft()
		})
	}
}

// Removed right after the signature: it is made, it verifies, and it is not lost; that the token could not be left is said.
func TestFaultRemovalAfterTheSignature(t *testing.T) {
	f := newFaultyToken(t)
	r := f.signs(f.args(), "C_Logout 0 0 gone 0x32")
	require.Regexp(t, `(?m)^warning: .*C_Logout gave CKR_DEVICE_REMOVED \(0x32\)`, r.stderr)
	// No call stands between the signature and the output: the token may go in that moment.
	require.Equal(t, []string{"C_Sign", "C_Logout", "C_CloseSession", "C_Finalize"}, f.calls()[len(f.calls())-4:])
}

// What the token gives is no signature of the expected key over what was accepted.
func TestFaultSignature(t *testing.T) {
	f := newFaultyToken(t)
	for rule, says := range map[string]string{
		"C_Sign 0 0 flip 0":   "does not verify",
		"C_Sign 0 0 flip 63":  "does not verify",
		"C_Sign 0 0 short 63": "63 bytes",
		"C_Sign 0 0 short 0":  "0 bytes",
	} {
		r := f.fails("bad-signature", f.args(), rule)
		require.Contains(t, r.stderr, says)
		require.Equal(t, 1, f.count("C_Sign"), "it was tried again")
		f.requireLeft()
	}
	f.signs(f.args())
}

// A valid signature of another key, or of the right key over something else.
func TestFaultForeignSignature(t *testing.T) {
	f := newFaultyToken(t)
	f.keygen("02", "other")
	for _, rule := range []string{"C_SignInit 0 0 swap 1", "C_Sign 0 0 other 1"} {
		for _, args := range [][]string{f.args(), without(f.args(), "--pub")} {
			r := f.fails("bad-signature", args, rule)
			require.Contains(t, r.stderr, "another key")
			require.Equal(t, 1, f.count("C_Sign"), "it was tried again")
			f.requireLeft()
		}
	}
	f.signs(f.args())

	// The same without a fault of the module: the public half beside the key is another's.
	f.pkcs11Tool("--delete-object", "--type", "pubkey", "--id", "01")
	f.pkcs11Tool("--write-object", "other.der", "--type", "pubkey", "--id", "01", "--label", "k256")
	for _, args := range [][]string{f.args("--pub", "other.pem.pub"), without(f.args(), "--pub")} {
		f.fails("bad-signature", args)
		f.requireLeft()
	}
	f.fails("key-mismatch", f.args())
	require.Zero(t, f.count("C_Login"), "a login for a key that is not the expected one")
}

// A missed touch: what to do is in the message, and nothing is tried again.
func TestFaultMissedTouch(t *testing.T) {
	f := newFaultyToken(t)
	for _, function := range []string{"C_SignInit", "C_Sign"} {
		r := f.fails("", f.args(), function+" 0 0 rv 0x101")
		require.Contains(t, r.stderr, function+" gave CKR_USER_NOT_LOGGED_IN (0x101)")
		require.Contains(t, r.stderr, "touch")
		require.Contains(t, r.stderr, "PIN")
		require.Equal(t, 1, f.count("C_Login"))
		require.Equal(t, 1, f.count("C_SignInit"))
		f.requireLeft()
	}
}

// Attributes that are not there: each for itself, and all. With the public half that is expected the key still signs; where
// the token alone would have to say it there is no key.
func TestFaultMissingAttribute(t *testing.T) {
	f := newFaultyToken(t)
	for name, attribute := range map[string]string{
		"CKA_LABEL": "0x3", "CKA_ID": "0x102", "CKA_EC_PARAMS": "0x180", "CKA_EC_POINT": "0x181", "CKA_ALWAYS_AUTHENTICATE": "0x202",
	} {
		t.Run(name, func(t *testing.T) {
			f := f.in(t)
			rule := "C_GetAttributeValue 0 0 noattr " + attribute
			f.signs(f.args(), rule)
			require.Equal(t, 1, f.count("C_Login"))
			f.requireLeft()
			if name == "CKA_EC_POINT" {
				r := f.fails("key-not-found", without(f.args(), "--pub"), rule)
				require.Contains(t, r.stderr, "give the public key that is expected")
				return
			}
			f.signs(without(f.args(), "--pub"), rule)
		})
	}
	for _, code := range []string{"0x11", "0x12"} {
		f.signs(f.args(), "C_GetAttributeValue 0 0 rv "+code)
		f.fails("key-not-found", without(f.args(), "--pub"), "C_GetAttributeValue 0 0 rv "+code)
		f.requireLeft()
	}
}

// An attribute that is there once and not the next time: what is signed verifies, everything else is a refusal.
func TestFaultAttributeOnce(t *testing.T) {
	f := newFaultyToken(t)
	f.signs(f.args())
	reads := f.count("C_GetAttributeValue")
	require.Greater(t, reads, 4)
	for _, code := range []string{"0x12", "0x06", "0x32"} {
		signed := 0
		for n := range reads {
			f.set(fmt.Sprintf("C_GetAttributeValue %d 1 rv %s", n, code))
			r := f.run(f.args()...)
			require.LessOrEqual(t, f.count("C_Login"), 1)
			f.requireLeft()
			if r.status == 0 {
				signed++
				f.requireSignature("out/sig.json", "k256")
				require.NoError(t, os.Remove(f.path("out/sig.json")))
				continue
			}
			require.Equal(t, 1, r.status)
			require.Regexp(t, "(?m)^KEY_UNAVAILABLE: ", r.stderr)
			require.Empty(t, f.left())
		}
		require.Equal(t, code == "0x12", signed > 0, "%s: %d of %d signed", code, signed, reads)
	}
}

// Which token and which key is not guessed, and costs no login.
func TestFaultAmbiguous(t *testing.T) {
	f := newFaultyToken(t)
	f.keygen("01", "second")
	r := f.fails("ambiguous", without(f.args("--key", "pkcs11:token=approver;id=%01"), "--pub"))
	require.Contains(t, r.stderr, `01 "k256"`)
	require.Contains(t, r.stderr, `01 "second"`)
	require.Zero(t, f.count("C_Login"))
	f.requireLeft()
	f.signs(f.args("--key", "pkcs11:token=approver;id=%01")) // --pub settles it
	f.signs(f.args("--key", "pkcs11:token=approver;id=%01;object=k256"))

	f.tool("softhsm2-util", "--init-token", "--free", "--label", "approver", "--so-pin", "12345678", "--pin", "1111")
	r = f.fails("ambiguous", f.args())
	for _, serial := range tokenSerials(f.tool("softhsm2-util", "--show-slots")) {
		require.Contains(t, r.stderr, serial)
	}
	require.Zero(t, f.count("C_Login"))
	require.Zero(t, f.count("C_OpenSession"))
}

// A token that tells the private value is unfit, whatever it says of it; the value itself is never asked for.
func TestFaultPrivateValueShown(t *testing.T) {
	f := newFaultyToken(t)
	f.ok("hsm", "keygen", "--module", softHSMModule, "--token", "approver", "--label", "fit", "--pin-file", "pin.txt", "--out", "fit")
	check := []string{"hsm", "check", "pkcs11:token=approver;object=fit", "--pub", "fit.pub", "--module", f.module, "--pin-file", "pin.txt"}
	f.set()
	require.Contains(t, f.ok(check...).stdout, "FIT: ")
	f.set("C_GetAttributeValue 0 0 attr 0x11=0102030405")
	r := f.run(check...)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stdout, "UNFIT: the token shows the private key to whoever asks: CKA_VALUE has 5 bytes")
	require.NotContains(t, f.calls(), "C_GetAttributeValue:value")
}

// What a module prints stands neither in a signature nor in JSON.
func TestFaultModulePrints(t *testing.T) {
	f := newFaultyToken(t)
	for _, function := range []string{"constructor", "C_GetFunctionList", "C_Login", "C_Sign", "C_Finalize"} {
		f.set(function + " 0 0 print 1")
		r := f.ok(without(f.args(), "--out")...)
		require.Regexp(t, `^\{"format":[^\n]*\n$`, r.stdout, function)
		require.Contains(t, r.stderr, function+"\n")
		r = f.run("hsm", "check", tokenKey, "--module", f.module, "--pin-file", "pin.txt", "--json")
		require.Regexp(t, `^\{"key":[^\n]*\n$`, r.stdout, function)
	}
}
