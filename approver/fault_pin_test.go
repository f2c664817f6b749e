//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a token shows about its PIN: what is locked is not tried, a final try only where that was said, and neither asks
// for a PIN first.
func TestFaultPINState(t *testing.T) {
	f := newFaultyToken(t)
	const locked, finalTry, countLow, toBeChanged = "C_GetTokenInfo 0 0 flags 0x40000", "C_GetTokenInfo 0 0 flags 0x20000",
		"C_GetTokenInfo 0 0 flags 0x10000", "C_GetTokenInfo 0 0 flags 0x80000"
	for _, test := range []struct {
		reason, rule string
		args         []string
	}{
		{"pin-locked", locked, f.args()},
		{"pin-locked", locked, f.args("--allow-final-try")},
		{"pin-locked", "C_GetTokenInfo 0 0 flags 0x70000", f.args("--allow-final-try")},
		{"pin-final-try", finalTry, f.args()},
		{"pin-final-try", finalTry, without(f.args(), "--pin-file")}, // rather than pin-missing
	} {
		f.fails(test.reason, test.args, test.rule)
		require.Zero(t, f.count("C_Login"))
		f.requireLeft()
	}
	for rule, says := range map[string]string{
		countLow: "a wrong PIN was entered since the last login", toBeChanged: "PIN to be changed", finalTry: "one try left before the PIN locks",
	} {
		r := f.signs(f.args("--allow-final-try"), rule)
		require.Contains(t, r.stderr, says)
	}
}

// The state can change between the listing and the login.
func TestFaultPINStateChanges(t *testing.T) {
	f := newFaultyToken(t)
	f.fails("pin-locked", f.args(), "C_GetTokenInfo 2 0 flags 0x40000")
	require.Zero(t, f.count("C_Login"))
	f.fails("pin-final-try", f.args(), "C_GetTokenInfo 2 0 flags 0x20000")
	require.Zero(t, f.count("C_Login"))
}

// What C_Login can say: one try, the state that the token shows after it, and the way out of the module.
func TestFaultLogin(t *testing.T) {
	f := newFaultyToken(t)
	for code, want := range map[string][2]string{
		"0xa0":  {"pin-incorrect", "wrong PIN: C_Login gave CKR_PIN_INCORRECT (0xa0)"},
		"0xa1":  {"pin-incorrect", "CKR_PIN_INVALID (0xa1)"},
		"0xa2":  {"pin-incorrect", "CKR_PIN_LEN_RANGE (0xa2)"},
		"0xa3":  {"", "C_Login gave CKR_PIN_EXPIRED (0xa3)"},
		"0xa4":  {"pin-locked", "the security officer has to unlock the PIN"},
		"0x100": {"", "somebody is logged in already, so the PIN was not checked"},
		"0x102": {"pin-missing", "the token has no user PIN yet"},
		"0x104": {"", "somebody is logged in already"},
		"0x50":  {"pin-missing", "cancelled at the token"},
	} {
		t.Run(code, func(t *testing.T) {
			f := f.in(t)
			r := f.fails(want[0], f.args(), "C_Login 0 0 rv "+code)
			require.Contains(t, r.stderr, want[1])
			require.Equal(t, 1, f.count("C_Login"))
			require.Zero(t, f.count("C_SignInit"))
			require.Equal(t, []string{"C_CloseSession", "C_Finalize"}, f.calls()[len(f.calls())-2:])
			require.Zero(t, f.count("C_Logout"))
		})
	}
	r := f.fails("pin-incorrect", f.args(), "C_Login 0 0 rv 0xa0", "C_GetTokenInfo 3 0 flags 0x40000")
	require.Contains(t, r.stderr, "the token now says: PIN locked")
}

// A PIN file: one newline is no part of the PIN, anything else that is not a PIN costs no try.
func TestFaultPINFile(t *testing.T) {
	f := newFaultyToken(t)
	for _, end := range []string{"", "\n", "\r\n"} {
		f.write("pin.txt", []byte(testPIN+end))
		f.signs(f.args())
		require.Equal(t, 1, f.count("C_Login"))
		f.requireLeft()
	}
	for text, code := range map[string]string{
		testPIN + "\n\n": "INVALID_INPUT", testPIN + "\r\n\r\n": "INVALID_INPUT", testPIN + "\r": "INVALID_INPUT", "\n" + testPIN: "INVALID_INPUT",
		testPIN + "\x00": "INVALID_INPUT", "\ufeff" + testPIN: "INVALID_INPUT", "": "KEY_UNAVAILABLE", "\n": "KEY_UNAVAILABLE", "\r\n": "KEY_UNAVAILABLE",
	} {
		f.write("pin.txt", []byte(text))
		f.refused(code, map[string]string{"INVALID_INPUT": "", "KEY_UNAVAILABLE": "pin-missing"}[code], f.args())
		require.Zero(t, f.count("C_Login"), "%q", text)
	}
	for _, none := range []string{"/dev/null", "empty.txt", "newline.txt"} { // a descriptor is the same
		f.write("empty.txt", nil)
		f.write("newline.txt", []byte("\n"))
		f.set()
		requireRefusal(t, f.sh("exec $approver '"+strings.Join(without(f.args("--json", "--pin-fd", "3"), "--pin-file"), "' '")+"' 3<"+none), "KEY_UNAVAILABLE", "pin-missing")
		require.Zero(t, f.count("C_Login"), none)
		require.Empty(t, f.left())
	}
	f.write("pin.txt", []byte(testPIN+" \n")) // a space can be of the PIN
	f.fails("pin-incorrect", f.args())
	require.Equal(t, 1, f.count("C_Login"))
}

// Without a PIN and without a terminal nothing is tried, whatever the token says.
func TestFaultNoPIN(t *testing.T) {
	f := newFaultyToken(t)
	f.fails("pin-missing", without(f.args(), "--pin-file"))
	require.Zero(t, f.count("C_Login"))
	f.requireLeft()
	f.fails("pin-missing", without(f.args(), "--pin-file"), "C_GetTokenInfo 0 0 flags 0x10000")
	require.Zero(t, f.count("C_Login"))
}

// A token with a keypad is given no PIN, whether or not one was named.
func TestFaultPINPad(t *testing.T) {
	f := newFaultyToken(t)
	for _, args := range [][]string{without(f.args(), "--pin-file"), f.args()} {
		r := f.signs(args, "C_GetTokenInfo 0 0 flags 0x100", "C_Login 0 0 pinpad "+testPIN)
		require.Contains(t, r.stderr, "enter the PIN on the token's own keypad")
		require.Equal(t, 1, f.count("C_Login"))
		f.requireLeft()
	}
	f.fails("pin-missing", without(f.args(), "--pin-file"), "C_GetTokenInfo 0 0 flags 0x100", "C_Login 0 0 rv 0x50")
	require.Equal(t, 1, f.count("C_Login"))
}
