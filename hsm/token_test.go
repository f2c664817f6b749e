package hsm_test

import (
	"context"
	"encoding/asn1"
	"fmt"
	"strings"
	"testing"
	"time"

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
	attributes := strings.Fields(strings.Repeat("C_GetAttributeValue ", 4)) // id, label, parameters, point
	want := []string{"C_Initialize", "C_GetSlotList", "C_GetTokenInfo", "C_OpenSession", "C_FindObjects"}
	want = append(want, attributes...)
	want = append(want, "C_GetTokenInfo", "C_Login", "C_FindObjects")
	want = append(want, attributes...)
	want = append(want, "C_FindObjects")
	want = append(want, attributes...)
	want = append(want, "C_GetAttributeValue", "C_SignInit", "C_Sign", "C_Logout", "C_CloseSession", "C_Finalize")
	require.Empty(t, cmp.Diff(want, m.calls))
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

func TestLoginNeverWithoutPIN(t *testing.T) {
	for name, source := range map[string]hsm.PINSource{
		"no source": nil, "missing": hsm.PINMissing{}, "empty": fixedPIN(""), "no terminal": hsm.NewPINTerminal(nil),
	} {
		t.Run(name, func(t *testing.T) {
			m := newSpy(t, approverToken(newP256(t)))
			requireRefused(t, open(t, m, approverURI).Login(t.Context(), source), wire.KeyUnavailable, "pin-missing")
			require.Zero(t, m.count("C_Login"))
		})
	}
}

// A wrong PIN is tried once; on the final try nobody is asked and nothing is tried, but where that is allowed.
func TestLoginCountsDown(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	token := open(t, m, approverURI)
	err := token.Login(t.Context(), fixedPIN("0000"))
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.ErrorContains(t, err, "CKR_PIN_INCORRECT (0xa0)")
	require.ErrorContains(t, err, hsm.PINCountLow.String())
	require.NotContains(t, err.Error(), "0000")
	require.Equal(t, 1, m.count("C_Login"))
	requireRefused(t, token.Login(t.Context(), fixedPIN("0000")), wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, hsm.PINFinalTry, token.Info().PIN)

	requireRefused(t, token.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "pin-final-try")
	require.Equal(t, 2, m.count("C_Login"))
	require.NoError(t, token.Close())

	allowed, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, approverURI), AllowFinalTry: true})
	require.NoError(t, err)
	requireRefused(t, allowed.Login(t.Context(), fixedPIN("0000")), wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, 3, m.count("C_Login"))
	requireRefused(t, allowed.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "pin-locked")
	require.Equal(t, 3, m.count("C_Login"), "a locked PIN is not tried")
	require.NoError(t, allowed.Close())
}

func TestLoginRefusals(t *testing.T) {
	for rv, reason := range map[hsm.RV]string{
		0xA0: "pin-incorrect", 0xA2: "pin-incorrect", 0xA4: "pin-locked", 0x100: "", 0x104: "", 0x102: "pin-missing",
		0x50: "pin-missing", 0x32: "device-removed", 0x06: "",
	} {
		t.Run(rv.Error(), func(t *testing.T) {
			m := newSpy(t, approverToken(newP256(t)))
			m.fail["C_Login"] = rv
			err := open(t, m, approverURI).Login(t.Context(), fixedPIN("1234"))
			requireRefused(t, err, wire.KeyUnavailable, reason)
			require.ErrorContains(t, err, rv.Error())
			require.Equal(t, 1, m.count("C_Login"))
		})
	}
}

func TestLoginTwiceIsAnError(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	err := token.Login(t.Context(), fixedPIN("anything"))
	requireRefused(t, err, wire.KeyUnavailable, "")
	require.ErrorContains(t, err, "CKR_USER_ALREADY_LOGGED_IN (0x100)")
}

func TestPINPadGetsNull(t *testing.T) {
	key := newP256(t)
	definition := approverToken(key)
	definition.PINPad, definition.PIN = true, ""
	definition.Keys[0].AlwaysAuthenticate = true
	m := newSpy(t, definition)
	m.login = func(_ hsm.UserType, pin []byte) error {
		if pin != nil {
			return hsm.RV(0x07)
		}
		return nil
	}
	token := open(t, m, approverURI)
	require.True(t, token.Info().PINPad)
	require.NoError(t, token.Login(t.Context(), nil))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	requireSigns(t, k, publicOf(t, key))
}

func TestAlwaysAuthenticateLogsInForEachSignature(t *testing.T) {
	key := newP256(t)
	definition := approverToken(key)
	definition.Keys[0].AlwaysAuthenticate = true
	m := newSpy(t, definition)
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, k, publicOf(t, key))
	calls := strings.Join(m.calls, " ")
	require.Equal(t, 2, strings.Count(calls, "C_SignInit C_Login C_Sign"))
	require.Equal(t, 3, m.count("C_Login"))
}

// The PIN is gone once no key needs it, and a key that then does is refused without a login rather than tried with none.
func TestPINIsWipedAndNotMissed(t *testing.T) {
	plain, always := newP256(t), newP256(t)
	definition := approverToken(plain)
	definition.Keys = append(definition.Keys, softtoken.Key{Label: "always", ID: []byte{2}, Private: always, AlwaysAuthenticate: true})
	m := newSpy(t, definition)
	var atModule []byte
	m.login = func(_ hsm.UserType, pin []byte) error { atModule = pin; return nil }
	token := open(t, m, "pkcs11:token=approver;type=private")
	pin := []byte("1234")
	require.NoError(t, token.Login(t.Context(), sourceFunc(func() []byte { return pin })))
	require.Equal(t, make([]byte, 4), atModule, "the module's copy is wiped when C_Login returns")
	require.Equal(t, "1234", string(pin))
	_, err := token.Key(t.Context(), publicOf(t, plain))
	require.NoError(t, err)
	require.Equal(t, make([]byte, 4), pin)
	k, err := token.Key(t.Context(), publicOf(t, always))
	require.NoError(t, err)
	_, err = k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "pin-missing")
	require.Equal(t, 1, m.count("C_Login"))
}

// A key that needs the PIN for each signature keeps it until Close.
func TestCloseWipesPIN(t *testing.T) {
	definition := approverToken(newP256(t))
	definition.Keys[0].AlwaysAuthenticate = true
	token := open(t, newSpy(t, definition), approverURI)
	pin := []byte("1234")
	require.NoError(t, token.Login(t.Context(), sourceFunc(func() []byte { return pin })))
	_, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.Equal(t, "1234", string(pin))
	require.NoError(t, token.Close())
	require.Equal(t, make([]byte, 4), pin)
}

type sourceFunc func() []byte

func (f sourceFunc) PIN(context.Context, hsm.TokenInfo) ([]byte, error) { return f(), nil }

func TestKeyIsSettledOrRefused(t *testing.T) {
	a, b := newP256(t), newP256(t)
	id := func(s string) []byte { return []byte(s) }
	for name, test := range map[string]struct {
		keys         []softtoken.Key
		uri          string
		expected, is quorum.PublicKey
		reason       string
	}{
		"by label":                 {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "b", ID: id("2"), Private: b}}, "object=b", quorum.PublicKey{}, publicOf(t, b), ""},
		"by id":                    {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "b", ID: id("2"), Private: b}}, "id=%31", quorum.PublicKey{}, publicOf(t, a), ""},
		"two keys":                 {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "b", ID: id("2"), Private: b}}, "type=private", quorum.PublicKey{}, quorum.PublicKey{}, "ambiguous"},
		"two keys, one expected":   {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "b", ID: id("2"), Private: b}}, "type=private", publicOf(t, b), publicOf(t, b), ""},
		"two of one id":            {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "b", ID: id("1"), Private: b}}, "id=%31", quorum.PublicKey{}, quorum.PublicKey{}, "ambiguous"},
		"one id, by label":         {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "b", ID: id("1"), Private: b}}, "id=%31;object=b", quorum.PublicKey{}, publicOf(t, b), ""},
		"one id, one expected":     {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "b", ID: id("1"), Private: b}}, "id=%31", publicOf(t, a), publicOf(t, a), ""},
		"one id and label":         {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}, {Label: "a", ID: id("1"), Private: b}}, "id=%31", publicOf(t, a), quorum.PublicKey{}, "ambiguous"},
		"another public half":      {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}}, "object=a", publicOf(t, b), quorum.PublicKey{}, "key-mismatch"},
		"no such key":              {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a}}, "object=c", publicOf(t, a), quorum.PublicKey{}, "key-not-found"},
		"no public half":           {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a, HidePublic: true}}, "object=a", quorum.PublicKey{}, quorum.PublicKey{}, "key-not-found"},
		"no public half, expected": {[]softtoken.Key{{Label: "a", ID: id("1"), Private: a, HidePublic: true}}, "object=a", publicOf(t, a), publicOf(t, a), ""},
		"labels differ, private's": {[]softtoken.Key{{Label: "a", PublicLabel: "A", ID: id("1"), Private: a}}, "object=a", quorum.PublicKey{}, publicOf(t, a), ""},
		"labels differ, public's":  {[]softtoken.Key{{Label: "a", PublicLabel: "A", ID: id("1"), Private: a}}, "object=A", quorum.PublicKey{}, publicOf(t, a), ""},
		"no id, by label":          {[]softtoken.Key{{Label: "a", Private: a}, {Label: "b", Private: b}}, "object=b", quorum.PublicKey{}, publicOf(t, b), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSpy(t, softtoken.Token{Label: "approver", PIN: "1234", Keys: test.keys})
			token := open(t, m, "pkcs11:token=approver;"+test.uri)
			require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
			k, err := token.Key(t.Context(), test.expected)
			if test.reason != "" {
				requireRefused(t, err, wire.KeyUnavailable, test.reason)
				return
			}
			require.NoError(t, err)
			require.True(t, k.Public().Equal(test.is))
			requireSigns(t, k, test.is)
		})
	}
}

// What Public can tell costs no login.
func TestPublicBeforeLogin(t *testing.T) {
	a, b := newP256(t), newP256(t)
	m := newSpy(t, softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{
		{Label: "a", ID: []byte{1}, Private: a}, {Label: "b", ID: []byte{1}, Private: b}, {Label: "h", ID: []byte{2}, Private: a, HidePublic: true},
	}})
	token := open(t, m, "pkcs11:token=approver;id=%01")
	_, _, err := token.Public(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "ambiguous")
	require.ErrorContains(t, err, `01 "a", 01 "b"`)
	public, shown, err := token.Public(t.Context(), publicOf(t, b))
	require.NoError(t, err)
	require.True(t, shown && public.Equal(publicOf(t, b)))
	_, _, err = token.Public(t.Context(), publicOf(t, newP256(t)))
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	require.NoError(t, token.Close())

	token = open(t, m, "pkcs11:token=approver;object=h")
	_, shown, err = token.Public(t.Context(), publicOf(t, a))
	require.NoError(t, err)
	require.False(t, shown)
	require.Zero(t, m.count("C_Login"))
}

// The three encodings of CKA_EC_POINT, a whole SubjectPublicKeyInfo, and a point on the private key alone.
func TestECPointEncodings(t *testing.T) {
	key := newP256(t)
	public := publicOf(t, key)
	raw := public.SPKI()[26:]
	bits, err := asn1.Marshal(asn1.BitString{Bytes: raw, BitLength: 8 * len(raw)})
	require.NoError(t, err)
	octets, err := asn1.Marshal(raw)
	require.NoError(t, err)
	offCurve := append([]byte{4}, make([]byte, 64)...)
	for name, test := range map[string]struct {
		point []byte
		ok    bool
	}{
		"raw": {raw, true}, "octet string": {octets, true}, "bit string": {bits, true}, "spki": {public.SPKI(), true},
		"off the curve": {offCurve, false}, "compressed": {append([]byte{2}, raw[1:33]...), false}, "empty": {nil, false},
		"trailing byte, bits": {append(bits[:len(bits):len(bits)], 0), false},
		"trailing byte":       {append(octets[:len(octets):len(octets)], 0), false}, "cut": {octets[:60], false},
	} {
		t.Run(name, func(t *testing.T) {
			definition := approverToken(key)
			definition.Keys[0].HidePublic = true
			m := newSpy(t, definition)
			m.attribute = func(_ hsm.Object, a hsm.Attribute, value []byte, err error) ([]byte, error) {
				if a == hsm.AttrECPoint {
					return test.point, nil
				}
				return value, err
			}
			token := open(t, m, approverURI)
			require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
			k, err := token.Key(t.Context(), quorum.PublicKey{})
			if !test.ok {
				requireRefused(t, err, wire.KeyUnavailable, "key-not-found")
				return
			}
			require.NoError(t, err)
			require.True(t, k.Public().Equal(public))
		})
	}
}

// A module that has one attribute not, or does not show it, still has a key; one that fails is an error.
func TestAttributesOneAtATime(t *testing.T) {
	for _, missing := range []hsm.Attribute{hsm.AttrECParams, hsm.AttrAlwaysAuthenticate, hsm.AttrLabel} {
		for rv, reason := range map[hsm.RV]string{0x11: "", 0x12: "", 0x32: "device-removed"} {
			t.Run(fmt.Sprintf("%#x %v", uint(missing), rv), func(t *testing.T) {
				key := newP256(t)
				m := newSpy(t, approverToken(key))
				m.attribute = func(_ hsm.Object, a hsm.Attribute, value []byte, err error) ([]byte, error) {
					if a == missing {
						return nil, rv
					}
					return value, err
				}
				token := open(t, m, approverURI)
				require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
				k, err := token.Key(t.Context(), publicOf(t, key))
				if reason != "" {
					requireRefused(t, err, wire.KeyUnavailable, reason)
					return
				}
				require.NoError(t, err)
				requireSigns(t, k, publicOf(t, key))
			})
		}
	}
}

// A bad signature is given to nobody, and after any error in signing the session is over.
func TestSigningErrorsEndTheSession(t *testing.T) {
	flip := func(_, s []byte) ([]byte, error) { s[40] ^= 1; return s, nil }
	for name, test := range map[string]struct {
		function string
		rv       hsm.RV
		sign     func(digest, signature []byte) ([]byte, error)
		reason   string
		says     string
	}{
		"flipped":       {sign: flip, reason: "bad-signature"},
		"short":         {sign: func(_, s []byte) ([]byte, error) { return s[:63], nil }, reason: "bad-signature", says: "63"},
		"long":          {sign: func(_, s []byte) ([]byte, error) { return append(s, 0), nil }, reason: "bad-signature", says: "65"},
		"zero":          {sign: func(_, s []byte) ([]byte, error) { return make([]byte, 64), nil }, reason: "bad-signature"},
		"removed":       {function: "C_Sign", rv: 0x32, reason: "device-removed", says: "CKR_DEVICE_REMOVED (0x32)"},
		"device error":  {function: "C_Sign", rv: 0x30, reason: "device-removed"},
		"general error": {function: "C_SignInit", rv: 0x05, reason: "device-removed"},
		"object handle": {function: "C_SignInit", rv: 0x82, reason: "device-removed"},
		"missed touch":  {function: "C_Sign", rv: 0x101, says: "touch"},
		"wants its PIN": {function: "C_Sign", rv: 0x101, says: "PIN"},
		"vendor":        {function: "C_Sign", rv: 0x80000001, says: "CKR_VENDOR_DEFINED (0x80000001)"},
		"unknown":       {function: "C_Sign", rv: 0x999, says: "0x999"},
	} {
		t.Run(name, func(t *testing.T) {
			key := newP256(t)
			m := newSpy(t, approverToken(key))
			token := open(t, m, approverURI)
			require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
			k, err := token.Key(t.Context(), publicOf(t, key))
			require.NoError(t, err)
			m.sign = test.sign
			if test.function != "" {
				m.fail[test.function] = test.rv
			}
			signature, err := k.Sign(t.Context(), trial(k.Public()))
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			require.ErrorContains(t, err, test.says)
			require.Zero(t, signature)

			m.sign, m.fail = nil, nil
			before := len(m.calls)
			_, err = k.Sign(t.Context(), trial(k.Public()))
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			require.Len(t, m.calls, before, "a session that is over is not called")
			require.NoError(t, token.Close())
			require.Equal(t, 1, m.count("C_Finalize"))
		})
	}
}

// Another key behind the same label between look-up and signing gives no signature.
func TestSwappedKey(t *testing.T) {
	a, b := newP256(t), newP256(t)
	m := newSpy(t, approverToken(b))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	m.attribute = func(_ hsm.Object, attribute hsm.Attribute, value []byte, err error) ([]byte, error) {
		if attribute == hsm.AttrECPoint {
			return publicOf(t, a).SPKI()[26:], nil
		}
		return value, err
	}
	k, err := token.Key(t.Context(), publicOf(t, a))
	require.NoError(t, err)
	_, err = k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "bad-signature")
}

func TestZeroStatementIsNotSigned(t *testing.T) {
	key := newP256(t)
	m := newSpy(t, approverToken(key))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	_, err = k.Sign(t.Context(), quorum.Statement{})
	requireRefused(t, err, wire.InvalidInput, "")
	require.Zero(t, m.count("C_SignInit"))
	requireSigns(t, k, publicOf(t, key))
}

// hanging is a module whose C_Sign returns only when it is let go.
type hanging struct {
	*spy
	entered, release, returned chan struct{}
}

func (h hanging) Sign(s hsm.Session, digest []byte) ([]byte, error) {
	defer close(h.returned)
	close(h.entered)
	<-h.release
	return h.spy.Sign(s, digest)
}

func hangingKey(t *testing.T, timeout time.Duration) (hanging, *hsm.Token, *hsm.TokenKey) {
	key := newP256(t)
	h := hanging{newSpy(t, approverToken(key)), make(chan struct{}), make(chan struct{}), make(chan struct{})}
	token, err := hsm.OpenToken(t.Context(), h, hsm.TokenOptions{URI: uri(t, approverURI), Timeout: timeout})
	require.NoError(t, err)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	return h, token, k
}

// A module that missed a deadline is not called again, even where the call came back later.
func TestHangEndsWithoutFinalize(t *testing.T) {
	h, token, k := hangingKey(t, 50*time.Millisecond)
	_, err := k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	require.ErrorContains(t, err, "C_Finalize")
	_, err = k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	close(h.release)
	<-h.returned
	requireRefused(t, token.Close(), wire.KeyUnavailable, "timeout")
	require.Zero(t, h.count("C_Finalize"))
}

// After a login that hangs nothing waits for the module.
func TestHangInLogin(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	release := make(chan struct{})
	defer close(release)
	m.login = func(hsm.UserType, []byte) error { <-release; return nil }
	token, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, approverURI), Timeout: 20 * time.Millisecond})
	require.NoError(t, err)
	requireRefused(t, token.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "timeout")
	requireRefused(t, token.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "timeout")
	_, err = token.Key(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	requireRefused(t, token.Close(), wire.KeyUnavailable, "timeout")
}

// An interrupt while the module works: Close waits a little, then logs out if the module came back, or leaves it.
func TestInterruptDuringSigning(t *testing.T) {
	for name, returns := range map[string]bool{"the call returns": true, "the call hangs": false} {
		t.Run(name, func(t *testing.T) {
			h, token, k := hangingKey(t, time.Minute)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-h.entered; cancel() }()
			start := time.Now()
			_, err := k.Sign(ctx, trial(k.Public()))
			requireRefused(t, err, wire.KeyUnavailable, "")
			require.ErrorIs(t, err, context.Canceled)
			if returns {
				close(h.release)
				require.NoError(t, token.Close())
				require.Equal(t, []string{"C_Logout", "C_CloseSession", "C_Finalize"}, h.calls[len(h.calls)-3:])
				return
			}
			requireRefused(t, token.Close(), wire.KeyUnavailable, "timeout")
			require.Less(t, time.Since(start), 10*time.Second)
			close(h.release)
		})
	}
}

func TestInterruptWhileIdle(t *testing.T) {
	key := newP256(t)
	m := newSpy(t, approverToken(key))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = k.Sign(ctx, trial(k.Public()))
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, m.count("C_SignInit"))
	require.NoError(t, token.Close())
	require.Equal(t, []string{"C_Logout", "C_CloseSession", "C_Finalize"}, m.calls[len(m.calls)-3:])
}

func TestSigningFromManyGoroutines(t *testing.T) {
	key := newP256(t)
	token := open(t, newSpy(t, approverToken(key)), approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	errs := make(chan error)
	for range 8 {
		go func() {
			_, err := k.Sign(t.Context(), trial(k.Public()))
			errs <- err
		}()
	}
	for range 8 {
		require.NoError(t, <-errs)
	}
}
