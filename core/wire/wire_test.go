package wire_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// The example of the package comment.
func TestSigningInput(t *testing.T) {
	const want = "00000011" + "6265747465722d636f6d707574652f7631" + "0000000c" + "617070726f7665722d6b6579" + "00000001" + "6b"
	require.Equal(t, want, hex.EncodeToString(wire.SigningInput("approver-key", []byte("k"))))
}

func TestSigningInputVectors(t *testing.T) {
	for _, v := range golden.SigningInputs() {
		t.Run(v.Name, func(t *testing.T) {
			var parts [][]byte
			for _, p := range v.Parts {
				b, err := hex.DecodeString(p)
				require.NoError(t, err)
				parts = append(parts, b)
			}
			require.Equal(t, v.Input, hex.EncodeToString(wire.SigningInput(v.Purpose, parts...)))
		})
	}
}

func TestTextForms(t *testing.T) {
	forms := map[string]func(v golden.TextForm) ([]byte, bool){
		"id": func(v golden.TextForm) ([]byte, bool) {
			return nil, wire.IsID(v.Text) && wire.CheckID("id", v.Text) == nil
		},
		"kind":        func(v golden.TextForm) ([]byte, bool) { return nil, wire.IsKind(v.Text) },
		"trustDomain": func(v golden.TextForm) ([]byte, bool) { return nil, wire.IsTrustDomain(v.Text) },
		"address":     func(v golden.TextForm) ([]byte, bool) { return nil, wire.IsAddress([]byte(v.Text)) },
		"subject": func(v golden.TextForm) ([]byte, bool) {
			_, ok := wire.ParseSubject([]byte(v.Text))
			return nil, ok
		},
		"hex": func(v golden.TextForm) ([]byte, bool) {
			b, err := wire.ParseHex("x", v.Text, v.Size)
			return b, err == nil
		},
		"base64": func(v golden.TextForm) ([]byte, bool) {
			b, err := wire.ParseBase64("x", v.Text)
			return b, err == nil
		},
		"base64url": func(v golden.TextForm) ([]byte, bool) {
			b, err := wire.ParseBase64URL("x", v.Text)
			return b, err == nil
		},
	}
	seen := map[string]int{}
	for _, v := range golden.TextForms() {
		form := forms[v.Form]
		if form == nil {
			require.Equal(t, "kid", v.Form) // of core/quorum
			continue
		}
		seen[v.Form]++
		t.Run(v.Form+"/"+v.Name, func(t *testing.T) {
			b, ok := form(v)
			require.Equal(t, v.Want == "ok", ok)
			if ok && b != nil {
				require.Equal(t, v.Bytes, hex.EncodeToString(b))
			}
		})
	}
	for form := range forms {
		require.Greater(t, seen[form], 2, form)
	}
}

// A message about hex says what is wrong with it: a hash copied with 0x, in upper case, or cut short.
func TestParseHexSaysWhy(t *testing.T) {
	digits := strings.Repeat("ab", 32)
	for text, says := range map[string]string{
		"0x" + digits:           `begins with "0x"`,
		strings.ToUpper(digits): "upper-case",
		digits[:63]:             "63 characters",
		digits[:62] + "zz":      "not hex",
	} {
		_, err := wire.ParseHex("--root", text, 32)
		require.ErrorContains(t, err, says)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	}
}

func TestDecodeJSON(t *testing.T) {
	type file struct {
		A *string   `json:"a"`
		N *uint64   `json:"n"`
		L []*string `json:"l"`
	}
	for name, text := range map[string]string{
		"plain":       `{"a":"x","n":9007199254740991,"l":["y"]}`,
		"null":        `{"a":null,"n":null}`,
		"white space": " \r\n\t{ \"a\" : \"x\" } \n",
		"not ASCII":   `{"a":"é"}`,
	} {
		var f file
		require.NoError(t, wire.DecodeJSON("file", []byte(text), &f), name)
	}
	for name, text := range map[string]string{
		"empty": "", "cut": `{"a":`, "two values": `{} {}`, "trailing": `{}x`, "BOM": "\xef\xbb\xbf{}",
		"duplicate": `{"a":"x","a":"x"}`, "unknown": `{"b":1}`, "other case": `{"A":"x"}`, "escape": `{"a":"\u0078"}`,
		"escape in a name": `{"\u0061":"x"}`, "over 2^53-1": `{"n":9007199254740992}`, "fraction": `{"n":1.0}`, "exponent": `{"n":1e3}`,
		"minus zero": `{"n":-0}`, "leading zero": `{"n":01}`, "string for number": `{"n":"1"}`, "number for string": `{"a":1}`,
		"not UTF-8": "{\"a\":\"\xff\"}", "deep": strings.Repeat("[", 200_000), "17 levels": strings.Repeat("[", 17) + strings.Repeat("]", 17),
		"comment": `{}//`, "comma": `{"a":"x",}`,
	} {
		var f file
		err := wire.DecodeJSON("file", []byte(text), &f)
		require.Error(t, err, name)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
	}
	var f any
	require.Error(t, wire.DecodeJSON("file", make([]byte, wire.MaxFileBytes+1), &f))
	require.NoError(t, wire.DecodeJSON("file", []byte(strings.Repeat("[", 16)+strings.Repeat("]", 16)), &f))
}

// No array is longer than a batch can be, wherever it stands and whatever its elements are.
func TestDecodeJSONBoundsArrays(t *testing.T) {
	for _, element := range []string{"0", `"x"`, "{}", "[]", "null", "[0,0]"} {
		for _, around := range [][2]string{{"[", "]"}, {`{"a":{"b":[`, "]}}"}, {`[0,[[],[`, "]]]"}} {
			array := func(n int) []byte {
				return []byte(around[0] + strings.Repeat(element+",", n-1) + element + around[1])
			}
			var v any
			require.NoError(t, wire.DecodeJSON("file", array(wire.MaxArrayElements), &v), "%s in %s", element, around[0])
			err := wire.DecodeJSON("file", array(wire.MaxArrayElements+1), &v)
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%s in %s", element, around[0])
			require.ErrorContains(t, err, "an array of more than 50000 elements")
		}
	}
	require.Equal(t, 50_000, wire.MaxArrayElements)
}

func TestErrorKeepsItsCause(t *testing.T) {
	err := wire.Errorf(wire.IOError, "why", "writing: %w", errTest).With("path", "x")
	require.ErrorIs(t, err, errTest)
	require.Equal(t, "IO_ERROR: writing: a test", err.Error())
	require.Equal(t, "why", wire.ReasonOf(err))
	require.Equal(t, map[string]any{"path": "x"}, err.Details)
	require.Empty(t, wire.CodeOf(errTest))
	require.Equal(t, errTest.Error(), wire.MessageOf(errTest))
	require.Equal(t, "a: b", wire.MessageOf(wire.Errorf(wire.NotFound, "", "a: %s", "b")))
	require.Equal(t, "a: NOT_FOUND: b", wire.MessageOf(fmt.Errorf("a: %w", wire.Errorf(wire.NotFound, "", "b"))))
	require.Empty(t, wire.ReasonOf(nil))
}

type testError string

func (e testError) Error() string { return string(e) }

const errTest = testError("a test")

func TestAppendLPRefusesNothingSilently(t *testing.T) {
	require.Equal(t, []byte{0, 0, 0, 2, 'a', 'b'}, wire.AppendLP(nil, "ab"))
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0, 7}, wire.U64(7))
}
