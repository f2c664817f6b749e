//go:build cgo && unix

package hsm_test

import (
	"os"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// A pinToken is a token whose PIN is to be locked.
type pinToken struct{ Module, PIN string }

// try opens the token anew, shows its PIN state before, tries a PIN, and gives the PIN state after.
func (p pinToken) try(t *testing.T, m hsm.Module, pin string, allowFinal bool) (before, after hsm.PINState, err error) {
	t.Helper()
	token, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, "pkcs11:token=approver"), AllowFinalTry: allowFinal})
	require.NoError(t, err)
	before = token.Info().PIN
	err = token.Login(t.Context(), fixedPIN(pin))
	after = token.Info().PIN
	require.NoError(t, token.Close())
	return before, after, err
}

// OpenCryptoki shows every state on the way to a locked PIN.
func TestPINStatesOfOpenCryptoki(t *testing.T) {
	const pin = "123456"
	script, err := os.Getwd()
	require.NoError(t, err)
	require.Zero(t, os.Geteuid(), "the daemon of openCryptoki runs as root: ./softhsm-test.sh")
	need(t, "unshare")
	need(t, "pkcs11-tool")
	inChild(t, func(t *testing.T) pinToken {
		for _, path := range []string{"/etc/opencryptoki", "/var/lib/opencryptoki"} {
			require.DirExists(t, path, install)
		}
		return pinToken{libraryAt(t, "libopencryptoki.so.0", "libopencryptoki.so"), pin}
	}, openCryptokiLocks, noSubTests, "unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", script+"/testdata/opencryptoki.sh", libraryAt(t, "libopencryptoki.so.0", "libopencryptoki.so"), "76543210", pin)
}

func noSubTests[S any](S) []string { return nil }

func openCryptokiLocks(t *testing.T, p pinToken) {
	m := &spy{Module: load(t, p.Module)}
	before, after, err := p.try(t, m, "999999", false)
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, []hsm.PINState{hsm.PINReady, hsm.PINCountLow}, []hsm.PINState{before, after})

	_, _, err = p.try(t, m, p.PIN, false) // the right one in between takes it all back
	require.NoError(t, err)
	before, _, err = p.try(t, m, "999999", false)
	require.Equal(t, hsm.PINReady, before)
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	before, after, err = p.try(t, m, "999999", false)
	require.Equal(t, []hsm.PINState{hsm.PINCountLow, hsm.PINFinalTry}, []hsm.PINState{before, after})
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.ErrorContains(t, err, hsm.PINFinalTry.String())

	logins := m.count("C_Login")
	_, _, err = p.try(t, m, p.PIN, false)
	requireRefused(t, err, wire.KeyUnavailable, "pin-final-try")
	require.Equal(t, logins, m.count("C_Login"))
	before, _, err = p.try(t, m, p.PIN, true)
	require.NoError(t, err)
	require.Equal(t, hsm.PINFinalTry, before)

	for range 2 {
		_, _, err = p.try(t, m, "999999", false)
		requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	}
	_, after, err = p.try(t, m, "999999", true)
	require.Error(t, err)
	require.Equal(t, wire.KeyUnavailable, wire.CodeOf(err))
	require.Equal(t, hsm.PINLocked, after)
	logins = m.count("C_Login")
	for _, allowFinal := range []bool{false, true} {
		before, _, err = p.try(t, m, p.PIN, allowFinal)
		require.Equal(t, hsm.PINLocked, before)
		requireRefused(t, err, wire.KeyUnavailable, "pin-locked")
	}
	require.Equal(t, logins, m.count("C_Login"))
	require.Equal(t, m.count("C_OpenSession"), m.count("C_CloseSession"))
}

// A TPM shows nothing on its way there: it is locked on the fourth try, and says so only in its answer.
func TestTPMLocksWithoutAFlag(t *testing.T) {
	inChild(t, func(t *testing.T) pinToken {
		m := newTPM(t)
		return pinToken{m.module, m.pin}
	}, tpmLocks, noSubTests)
}

func tpmLocks(t *testing.T, p pinToken) {
	m := &spy{Module: load(t, p.Module)}
	for range 3 {
		before, after, err := p.try(t, m, "999999", false)
		requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
		require.Equal(t, []hsm.PINState{hsm.PINReady, hsm.PINReady}, []hsm.PINState{before, after})
		require.ErrorContains(t, err, "this module does not show PIN tries")
		require.NotContains(t, err.Error(), hsm.PINReady.String())
		require.Equal(t, map[string]any{"whose": "user", "pinState": "not shown"}, detailsOf(t, err))
	}
	for i, pin := range []string{"999999", p.PIN} {
		before, after, err := p.try(t, m, pin, false)
		requireRefused(t, err, wire.KeyUnavailable, "pin-locked")
		require.Equal(t, []hsm.PINState{hsm.PINReady, hsm.PINReady}, []hsm.PINState{before, after})
		require.Equal(t, 4+i, m.count("C_Login"))
		require.Equal(t, map[string]any{"whose": "user", "pinState": "PIN ready", "tpm": true}, detailsOf(t, err))
	}
	admin, err := hsm.OpenAdmin(t.Context(), m.Module, hsm.TokenOptions{URI: uri(t, "pkcs11:token=approver")})
	require.NoError(t, err)
	err = admin.LoginSO(t.Context(), fixedPIN("12345678")) // the right one, and no way out
	requireRefused(t, err, wire.KeyUnavailable, "pin-locked")
	require.Equal(t, map[string]any{"whose": "security officer", "pinState": "PIN ready", "tpm": true}, detailsOf(t, err))
	require.NoError(t, admin.Close())
}

func detailsOf(t *testing.T, err error) map[string]any {
	t.Helper()
	var e *wire.Error
	require.ErrorAs(t, err, &e)
	return e.Details
}
