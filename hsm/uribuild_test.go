package hsm

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever a token calls itself and its objects, the URI to copy is one that ParseURI gives back, names what it was made
// of, and names an object only where it says which.
func TestObjectURIsParseBack(t *testing.T) {
	counted := map[bool]int{}
	text := func(max int) *rapid.Generator[string] {
		return rapid.OneOf(
			rapid.StringN(0, max/4, max),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, max), func(b []byte) string { return string(b) }),
		)
	}
	rapid.Check(t, func(t *rapid.T) {
		info := TokenInfo{Label: text(32).Draw(t, "label"), Serial: text(16).Draw(t, "serial"), Slot: SlotID(rapid.Uint32().Draw(t, "slot"))}
		id := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "id")
		if rapid.IntRange(0, 20).Draw(t, "long") == 0 {
			id = make([]byte, MaxURIBytes/3)
		}
		label := text(64).Draw(t, "object")
		u := info.objectURI(id, label)
		counted[u.IsZero()]++
		if u.IsZero() {
			require.True(t, (len(id) == 0 || len(id) > 1000) && (label == "" || !utf8.ValidString(label)))
		} else {
			again, err := ParseURI(u.String())
			require.NoError(t, err)
			require.Equal(t, u, again)
			require.True(t, u.is("id", string(id)) && u.is("object", label) && (u.has("id") || u.has("object")))
		}
		for _, u := range []URI{info.URI(), info.SlotURI()} {
			again, err := ParseURI(u.String())
			require.NoError(t, err)
			require.Equal(t, u, again)
			require.True(t, u.matchesToken(info.Slot, TokenRecord{Label: info.Label, Serial: info.Serial}))
		}
		require.True(t, info.SlotURI().has("slot-id"))
	})
	require.True(t, counted[true] > 0 && counted[false] > counted[true], "%v", counted)
}

func TestTokenURI(t *testing.T) {
	u, err := TokenURI("My;token", "0a/1b")
	require.NoError(t, err)
	require.Equal(t, "pkcs11:token=My%3Btoken;serial=0a%2F1b", u.String())
	named, err := u.WithObject("k=1")
	require.NoError(t, err)
	require.Equal(t, "k=1", named.Object())
	require.Empty(t, u.Object(), "the first is as it was")
	renamed, err := named.WithObject("k2")
	require.NoError(t, err)
	require.Equal(t, "k2", renamed.Object())
	for _, bad := range [][2]string{{"", ""}, {strings.Repeat("a", 33), ""}, {"\xff", ""}, {"a", strings.Repeat("1", 17)}} {
		_, err := TokenURI(bad[0], bad[1])
		require.Error(t, err)
	}
	_, err = u.WithObject("")
	require.Error(t, err)
	_, err = u.WithObject(strings.Repeat("/", 2000))
	require.Error(t, err)
	with, err := ParseURI("pkcs11:token=a?module-path=/usr/lib/a.so")
	require.NoError(t, err)
	with, err = with.WithObject("k")
	require.NoError(t, err)
	require.Equal(t, "/usr/lib/a.so", with.ModulePath())
}
