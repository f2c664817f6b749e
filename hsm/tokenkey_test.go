package hsm_test

import (
	"encoding/asn1"
	"fmt"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

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
