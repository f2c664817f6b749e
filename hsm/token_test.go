package hsm_test

import (
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// The worked example of the package comment, call by call.
func TestWorkedExample(t *testing.T) {
	key := newP256(t)
	m := newSpy(t, approverToken(key))
	token, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, approverURI)})
	require.NoError(t, err)
	public, shown, err := token.Public(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.True(t, shown)
	require.True(t, public.Equal(publicOf(t, key)))
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), public)
	require.NoError(t, err)
	_, err = k.Sign(t.Context(), trial(public))
	require.NoError(t, err)
	require.NoError(t, token.Close())
	require.NoError(t, token.Close(), "a second Close does nothing")
	require.Empty(t, cmp.Diff([]string{"C_Initialize", "C_GetSlotList", "C_GetTokenInfo", "C_OpenSession",
		"C_FindObjects", "C_GetAttributeValue", // the public key: id, label, parameters, point
		"C_GetTokenInfo", "C_Login",
		"C_FindObjects", "C_GetAttributeValue", "C_GetAttributeValue", // the private key: id, label, parameters; its point, which it has not
		"C_FindObjects",       // its public half, which is known
		"C_GetAttributeValue", // CKA_ALWAYS_AUTHENTICATE
		"C_SignInit", "C_Sign", "C_Logout", "C_CloseSession", "C_Finalize"}, m.calls))
	_, err = k.Sign(t.Context(), trial(public))
	requireRefused(t, err, wire.KeyUnavailable, "")
}

func TestOpenTokenFindsExactlyOne(t *testing.T) {
	two := []softtoken.Token{
		{Label: "approver", Serial: "01", PIN: "1", Model: "A"}, {Label: "approver", Serial: "02", PIN: "1", Model: "B"},
	}
	for name, test := range map[string]struct {
		uri, reason string
		says        []string
	}{
		"ambiguous":      {"pkcs11:token=approver", "ambiguous", []string{`"01"`, `"02"`, `"A"`, `"B"`}},
		"no such label":  {"pkcs11:token=other", "token-not-found", []string{`label "approver" serial "01" model "A"`, `"02"`}},
		"no such slot":   {"pkcs11:slot-id=7", "token-not-found", nil},
		"other library":  {"pkcs11:library-description=x", "token-not-found", []string{"software token"}},
		"other version":  {"pkcs11:serial=01;library-version=1.1", "token-not-found", nil},
		"other slotname": {"pkcs11:serial=01;slot-description=x", "token-not-found", nil},
		"by serial":      {"pkcs11:token=approver;serial=02", "", nil},
		"by slot":        {"pkcs11:slot-id=1", "", nil},
		"by library":     {"pkcs11:serial=02;library-version=1;slot-manufacturer=better-compute;slot-description=software%20slot", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSpy(t, two...)
			token, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, test.uri)})
			if test.reason == "" {
				require.NoError(t, err)
				require.Equal(t, "02", token.Info().Serial)
				require.NoError(t, token.Close())
				return
			}
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			for _, s := range test.says {
				require.ErrorContains(t, err, s)
			}
			require.Zero(t, m.count("C_Login"))
			require.Equal(t, 1, m.count("C_Finalize"), "what was initialised is finalized")
		})
	}
}

func TestOpenTokenPassesOverSlotsThatErr(t *testing.T) {
	m := newSpy(t, softtoken.Token{Label: "a", PIN: "1"}, softtoken.Token{Label: "b", PIN: "1"})
	broken := brokenSlot{m}
	token, err := hsm.OpenToken(t.Context(), broken, hsm.TokenOptions{URI: uri(t, "pkcs11:token=b")})
	require.NoError(t, err)
	require.NoError(t, token.Close())
	_, err = hsm.OpenToken(t.Context(), broken, hsm.TokenOptions{URI: uri(t, "pkcs11:token=a")})
	requireRefused(t, err, wire.KeyUnavailable, "token-not-found")
	require.ErrorContains(t, err, "1 slots did not answer")
}

// brokenSlot errs on slot 0.
type brokenSlot struct{ *spy }

func (b brokenSlot) Token(id hsm.SlotID) (hsm.TokenRecord, error) {
	if id == 0 {
		return hsm.TokenRecord{}, hsm.RV(0xE1)
	}
	return b.spy.Token(id)
}

func TestOpenTokenRefusesModuleInUse(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	open(t, m, approverURI)
	_, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, approverURI)})
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.ErrorContains(t, err, "uses the module already")
	require.Zero(t, m.count("C_Finalize"), "the other use goes on")
	_, err = hsm.OpenToken(t.Context(), m, hsm.TokenOptions{})
	requireRefused(t, err, wire.InvalidInput, "")
}
