//go:build linux

package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// No command loads OpenSC's spy, under its own name, behind a link, or as a copy of another name.
func TestSpyIsNotLoaded(t *testing.T) {
	f := newFaultyToken(t)
	f.env = append(f.env, "PKCS11SPY="+softHSMModule, "PKCS11SPY_OUTPUT="+f.path("spy.log"))
	spy, err := os.ReadFile(f.spy())
	require.NoError(t, err)
	f.write("copy.so", spy)
	require.NoError(t, os.Symlink(f.spy(), f.path("vendor.so")))
	f.write("real-pkcs11-spy.so", []byte("whatever"))
	require.NoError(t, os.Symlink("real-pkcs11-spy.so", f.path("other.so")))
	for _, module := range []string{f.spy(), f.path("copy.so"), f.path("vendor.so"), f.path("other.so")} {
		key := []string{tokenKey, "--module", module, "--pin-file", "pin.txt"}
		for _, args := range [][]string{
			append([]string{"hsm", "check"}, key...), append([]string{"hsm", "import", "--from", "k256.pem.pub"}, key...),
			{"hsm", "list", "--module", module}, {"hsm", "list", "--login", "--module", module, "--pin-file", "pin.txt"},
			{"hsm", "keygen", "--token", "approver", "--label", "new", "--out", "new", "--module", module, "--pin-file", "pin.txt"},
			{"hsm", "pin", "change", "--token", "approver", "--new-pin-file", "pin.txt", "--module", module, "--pin-file", "pin.txt"},
			f.args("--module", module),
		} {
			r := f.fails("module", args)
			require.Contains(t, r.stderr, "is pkcs11-spy, which writes the PIN to a log; it was not loaded")
			require.Contains(t, r.stderr, "try: name the module itself, and change a PIN that was given to this one")
		}
		f.doctor("--key", tokenKey, "--module", module, "--pub", "k256.pem.pub", "--login", "--pin-file", "pin.txt").
			require(t, "module", red, "is pkcs11-spy, which writes the PIN to a log; it was not loaded")
	}
	require.NoFileExists(t, f.path("spy.log"))
	require.NoFileExists(t, f.path("new.pub"))
}

// The mark of the spy is found wherever it stands, and SPYRUS is a maker of tokens.
func TestRefuseSpy(t *testing.T) {
	s := newSession(t)
	for _, at := range []int{0, 1<<16 - 5, 1<<16 - 9, 1 << 16, 2<<16 - 12, 3<<20 + 7} {
		data := bytes.Repeat([]byte{0}, 4<<20)
		copy(data[at:], spyMark)
		s.write("libspyrus.so", data)
		require.Error(t, refuseSpy(s.path("libspyrus.so")), at)
	}
	s.write("libspyrus.so", []byte("PKCS11SP Y"))
	require.NoError(t, refuseSpy(s.path("libspyrus.so")))
	require.NoError(t, refuseSpy(s.path("absent.so")))
	require.NoError(t, refuseSpy(softHSMModule))
}
