package hsm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseURI(t *testing.T) {
	u, err := ParseURI("pkcs11:token=My%20token;manufacturer=a+b,(c)&d;serial=0a1b;model=m;library-manufacturer=x;" +
		"library-description=y;library-version=3;slot-id=007;slot-description=s;slot-manufacturer=z;object=k%2F1;type=private;id=%01%ff" +
		"?pin-source=file:/run/pin&module-path=/usr/lib/a.so")
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"token": "My token", "manufacturer": "a+b,(c)&d", "serial": "0a1b", "model": "m", "library-manufacturer": "x",
		"library-description": "y", "library-version": "3.0", "slot-id": "7", "slot-description": "s", "slot-manufacturer": "z",
		"object": "k/1", "type": "private", "id": "\x01\xff",
	}, u.path)
	require.Equal(t, "/run/pin", u.PINFile())
	require.Equal(t, "/usr/lib/a.so", u.ModulePath())
	require.Empty(t, u.Warnings())
	require.Equal(t, "pkcs11:token=My%20token;manufacturer=a%2Bb%2C%28c%29%26d;serial=0a1b;model=m;library-manufacturer=x;"+
		"library-description=y;library-version=3.0;slot-id=7;slot-description=s;slot-manufacturer=z;object=k%2F1;type=private;id=%01%FF"+
		"?pin-source=file://%2Frun%2Fpin&module-path=%2Fusr%2Flib%2Fa.so", u.String())
	again, err := ParseURI(u.String())
	require.NoError(t, err)
	require.Equal(t, u, again)
}

func TestURIWarnsOfAnIDInPlainCharacters(t *testing.T) {
	for id, warns := range map[string]bool{"01": true, "%01": false, "%30%31": false, "%01a": true} {
		u, err := ParseURI("pkcs11:id=" + id)
		require.NoError(t, err)
		require.Len(t, u.Warnings(), map[bool]int{true: 1, false: 0}[warns], id)
	}
	u, err := ParseURI("pkcs11:id=01")
	require.NoError(t, err)
	require.Contains(t, u.Warnings()[0], "3031")
}

func TestParseURIForms(t *testing.T) {
	for s, value := range map[string]string{
		"PKCS11:token=a":                         "", // a scheme has no letter case
		"pkcs11:token=":                          "", // a token without a label
		"pkcs11:token=%C3%A9":                    "",
		"pkcs11:token=a?pin-source=file:///p":    "/p",
		"pkcs11:token=a?pin-source=file:%2fp":    "/p",
		"pkcs11:token=a?pin-source=file:////p":   "//p",
		"pkcs11:token=a?pin-source=file:/a%20b?": "/a b?",
	} {
		u, err := ParseURI(s)
		require.NoError(t, err, s)
		require.Equal(t, value, u.PINFile(), s)
	}
}

// A refusal names the attribute and never shows a value, which may be a PIN in the wrong place.
func TestParseURIRefuses(t *testing.T) {
	const secret = "70531"
	for s, says := range map[string]string{
		"":                                                   "not a pkcs11: URI",
		"pkcs12:token=a":                                     "not a pkcs11: URI",
		"/etc/key.pem":                                       "not a pkcs11: URI",
		"pkcs11:":                                            "names nothing",
		"pkcs11:?module-path=/a":                             "names nothing",
		"pkcs11:token":                                       "attribute 1",
		"pkcs11:70531":                                       "attribute 1",
		"pkcs11:token=a;":                                    "attribute 2",
		"pkcs11:;token=a":                                    "attribute 1",
		"pkcs11:token=a?":                                    "attribute 1",
		"pkcs11:token=a?70531":                               "attribute 1",
		"pkcs11:token=a;token=b":                             `"token" twice`,
		"pkcs11:Token=a":                                     `"Token"`,
		"pkcs11:tok%65n=a":                                   `"tok%65n"`,
		"pkcs11:tokn=a":                                      `"tokn"`,
		"pkcs11:x-vendor=a":                                  `"x-vendor"`,
		"pkcs11:pin-source=file:/a":                          `"pin-source"`,
		"pkcs11:token=a?object=b":                            `"object"`,
		"pkcs11:token=a?pin-value=70531":                     "pin-value in the pkcs11: URI: a PIN in an argument",
		"pkcs11:token=a?pin-valu=70531":                      `"pin-valu"`,
		"pkcs11:token=a?pin-source=70531":                    "wanted: file:",
		"pkcs11:token=a?pin-source=|cat%20":                  "programs are not run",
		"pkcs11:token=a?pin-source=file:a":                   "absolute path",
		"pkcs11:token=a?pin-source=file://host/a":            "absolute path",
		"pkcs11:token=a?pin-source=file:/a%2500":             "absolute path",
		"pkcs11:token=a?pin-source=file:/a%00":               "absolute path",
		"pkcs11:token=a?module-path=a.so":                    "absolute path",
		"pkcs11:token=a?module-path=/a&module-path=/a":       "twice",
		"pkcs11:token=a b":                                   "byte 2",
		"pkcs11:token=a/b":                                   "byte 2",
		"pkcs11:token=\x1b[2J":                               "byte 1",
		"pkcs11:token=é":                                     "byte 1",
		"pkcs11:token=a#b":                                   "byte 2",
		"pkcs11:token=%":                                     "byte 1",
		"pkcs11:token=%4":                                    "byte 1",
		"pkcs11:token=%4g":                                   "hex digits",
		"pkcs11:token=%+1":                                   "hex digits",
		"pkcs11:token=%ff":                                   "UTF-8",
		"pkcs11:token=" + strings.Repeat("a", 33):            "32 bytes",
		"pkcs11:serial=" + strings.Repeat("a", 17):           "16 bytes",
		"pkcs11:model=" + strings.Repeat("a", 17):            "16 bytes",
		"pkcs11:slot-description=" + strings.Repeat("a", 65): "64 bytes",
		"pkcs11:object=":                                     "empty",
		"pkcs11:id=":                                         "empty",
		"pkcs11:type=public":                                 "private",
		"pkcs11:type=":                                       "private",
		"pkcs11:slot-id=":                                    "digits",
		"pkcs11:slot-id=-1":                                  "digits",
		"pkcs11:slot-id=0x1":                                 "digits",
		"pkcs11:slot-id=99999999999999999999":                "digits",
		"pkcs11:library-version=a":                           "major.minor",
		"pkcs11:library-version=1.":                          "major.minor",
		"pkcs11:library-version=256":                         "major.minor",
		"pkcs11:library-version=1.2.3":                       "major.minor",
		"pkcs11:object=" + strings.Repeat("a", MaxURIBytes):  "at most 4096",
	} {
		_, err := ParseURI(s)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%q: %v", s, err)
		require.ErrorContains(t, err, says, s)
		require.NotContains(t, err.Error(), secret)
	}
	_, err := ParseURI("pkcs11:token=a?module-name=opensc")
	require.Equal(t, wire.Unsupported, wire.CodeOf(err))
}

// Any values, escaped in any way that RFC 7512 allows, come back as they were.
func TestURIValuesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.StringN(1, 20, 200).Draw(t, "label")
		id := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "id")
		var b strings.Builder
		for i := range len(label) {
			c := label[i]
			if (isUnreserved(c) || strings.IndexByte(pathReserved, c) >= 0) && rapid.Bool().Draw(t, "plain") {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02x", c)
			}
		}
		escaped := ""
		for _, c := range id {
			escaped += fmt.Sprintf("%%%02x", c)
		}
		u, err := ParseURI(fmt.Sprintf("pkcs11:object=%s;id=%s", &b, escaped))
		require.NoError(t, err)
		require.Equal(t, label, u.path["object"])
		require.Equal(t, string(id), u.path["id"])
		again, err := ParseURI(u.String())
		require.NoError(t, err)
		require.Equal(t, u.path, again.path)
	})
}

// FuzzURI builds URIs from the input's bytes, or takes them as they are. What is read comes back in one form that is read
// alike. Both answers have to occur.
func FuzzURI(f *testing.F) {
	f.Add([]byte("pkcs11:token=approver;object=k256?pin-source=file:/run/pin&module-path=/usr/lib/a.so"))
	f.Add([]byte("pkcs11:id=%01;type=private;slot-id=3;library-version=1.2"))
	for seed := range 32 {
		f.Add([]byte{byte(seed), byte(7 * seed), byte(31 * seed), byte(101 * seed), byte(3 * seed)})
	}
	var calls, accepted int
	f.Fuzz(func(t *testing.T, data []byte) {
		s := string(data)
		if !IsURI(s) {
			s = fuzzedURI(data)
		}
		calls++
		if u, err := ParseURI(s); err == nil {
			accepted++
			again, err := ParseURI(u.String())
			require.NoError(t, err)
			require.Equal(t, u.path, again.path)
			require.Equal(t, u.query, again.query)
			require.Equal(t, u.String(), again.String())
			require.False(t, u.IsZero())
		}
		if calls == 5000 {
			require.Greater(t, accepted, calls/50, "hardly anything is read")
			require.Less(t, accepted, calls-calls/50, "hardly anything is refused")
			calls, accepted = 0, 0
		}
	})
}

// fuzzedURI takes two bytes of data for an attribute: which, and a value that is mostly of its form.
func fuzzedURI(data []byte) string {
	values := map[string][]string{
		"library-version": {"1", "2.10", "x"}, "slot-id": {"0", "12", "-1"}, "type": {"private", "public"},
		"pin-source": {"file:/a", "file:///b%20c", "|x"}, "module-path": {"/a", "/b%2fc", "a"},
	}
	part := func(known []uriAttribute, a, v byte) string {
		name := known[int(a)%len(known)].name
		fixed, ok := values[name]
		if !ok {
			fixed = []string{"a", "%01", "a+b", "%C3%A9", "x%20y", "01", "%zz", "a/b"}
		}
		return name + "=" + fixed[int(v)%len(fixed)]
	}
	var path, query []string
	for ; len(data) >= 2; data = data[2:] {
		if data[0] < 200 {
			path = append(path, part(pathAttributes, data[0], data[1]))
		} else {
			query = append(query, part(queryAttributes, data[0], data[1]))
		}
		if len(path)+len(query) == 5 {
			break
		}
	}
	slices.Sort(path)
	s := scheme + strings.Join(slices.Compact(path), ";")
	if len(query) > 0 {
		s += "?" + strings.Join(query, "&")
	}
	return s + string(data[:min(len(data), 1)])
}
