//go:build linux

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The rest of the reports about tokens (see TestReports), through the command.
func TestFaultReports(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *faultyToken){
		"crypto11 94":         reportECPoint,
		"crypto11 72":         reportLabelsDiffer,
		"miekg/pkcs11 193":    reportFunctionList,
		"pkcs11key 19":        reportAlwaysAuthenticate,
		"cosign 2853":         reportReadWrite,
		"step-kms-plugin 152": reportNotOpened,
	} {
		t.Run(name, func(t *testing.T) { test(t, newFaultyToken(t)) })
	}
}

func reportECPoint(t *testing.T, f *faultyToken) {
	for _, form := range []string{"raw", "octet", "bit"} {
		rule := "C_GetAttributeValue 0 0 ecpoint " + form
		f.signs(f.args(), rule)
		f.signs(without(f.args(), "--pub"), rule)
		f.keygen("02", "other")
		f.fails("key-mismatch", f.args("--pub", "other.pem.pub"), rule)
		require.Zero(t, f.count("C_Login"))
		f.pkcs11Tool("--delete-object", "--type", "privkey", "--id", "02")
		f.pkcs11Tool("--delete-object", "--type", "pubkey", "--id", "02")
	}
}

func reportLabelsDiffer(t *testing.T, f *faultyToken) {
	f.pkcs11Tool("--delete-object", "--type", "pubkey", "--id", "01")
	f.pkcs11Tool("--write-object", "k256.der", "--type", "pubkey", "--id", "01", "--label", "public half")
	for _, object := range []string{"k256", "public%20half"} {
		for _, args := range [][]string{f.args("--key", "pkcs11:token=approver;object="+object), f.args("--key", "pkcs11:token=approver;id=%01;object="+object)} {
			f.signs(args)
			f.signs(without(args, "--pub"))
		}
	}
}

func reportFunctionList(t *testing.T, f *faultyToken) {
	r := f.fails("module", f.args(), "C_GetFunctionList 0 0 rv 0x05")
	require.Contains(t, r.stderr, f.module)
	require.Contains(t, r.stderr, "CKR_GENERAL_ERROR (0x05)")
	require.Equal(t, []string{"C_GetFunctionList"}, f.calls())
	f.fails("module", f.args(), "C_GetFunctionList 0 0 null 1")
	f.fails("module", f.args(), "C_Sign 0 0 missing 1")
	f.signs(f.args())
}

func reportAlwaysAuthenticate(t *testing.T, f *faultyToken) {
	rule := "C_SignInit 0 0 alwaysauth " + testPIN
	for range 2 {
		f.signs(f.args(), rule)
		require.Equal(t, 2, f.count("C_Login"))
		require.Equal(t, 1, f.count("C_Login:context"))
		f.requireLeft()
	}
	// The second login of one signature fails as the first can, and is not tried again.
	f.fails("pin-incorrect", f.args(), rule, "C_Login 1 0 rv 0xa0")
	require.Equal(t, 2, f.count("C_Login"))
	require.Zero(t, f.count("C_Sign"))
	f.fails("pin-locked", f.args(), rule, "C_Login 1 0 rv 0xa4")
	f.fails("device-removed", f.args(), rule, "C_Login 1 0 gone 0x32")
}

func reportReadWrite(t *testing.T, f *faultyToken) {
	f.signs(f.args(), "C_OpenSession 0 0 norw 1")
	require.Zero(t, f.count("C_OpenSession:rw"))
	require.Equal(t, 1, f.count("C_OpenSession"))
	require.Equal(t, 1, f.count("C_CloseSession"))
}

func reportNotOpened(t *testing.T, f *faultyToken) {
	path := f.path(f.write("module.so", []byte("no library")))
	r := f.fails("module", f.args("--module", path))
	require.Contains(t, r.stderr, path)
	require.Contains(t, r.stderr, "file too short")
	require.Empty(t, f.calls())
	f.fails("module", f.args("--module", f.path("absent.so")))
}
