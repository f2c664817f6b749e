package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// Free text may hold any escape of JSON, in the members that are named and nowhere else; what is not UTF-8 is refused still.
func TestFreeText(t *testing.T) {
	for data, want := range map[string]string{
		`{"reason":"\u0041\n\ud83d\uded1"}`:      "A\n🛑",
		`{"reason":"a\ud83db"}`:                  "a\ufffdb",
		`{"reason":"\uded1"}`:                    "\ufffd",
		`{"reason":"plain"}`:                     "plain",
		`{"note":["reason"],"reason":"\u0041"}`:  "A",
		`{"reason":"\u0041","note":["reason"] }`: "A",
		`{"note":"\u0041","reason":"x"}`:         "",
		`{"note":["\u0041"],"reason":"x"}`:       "",
		`{"note":"reason","note":"\u0041"}`:      "",
		`{"in":{"reason":"\u0041"}}`:             "",
		`{"reaso\u006e":"x"}`:                    "",
		"{\"reason\":\"a\xffb\"}":                "",
		"{\"reason\":\"a\xed\xa0\xbdb\"}":        "",
		"{\"rea\xffson\":\"x\"}":                 "",
		`{"reason":"\ud83"}`:                     "",
		`{"reason":"\x41"}`:                      "",
		"{\"reason\":\"a\nb\"}":                  "",
		`{"reason":"x","reason":"x"}`:            "",
		`["reason","\u0041"]`:                    "",
		`"\u0041"`:                               "",
	} {
		var v struct {
			Reason *string  `json:"reason"`
			Note   []string `json:"note"`
			In     *struct {
				Reason *string `json:"reason"`
			} `json:"in"`
		}
		err := wire.DecodeJSON("it", []byte(data), &v, "reason")
		if want == "" {
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), data)
			continue
		}
		require.NoError(t, err, data)
		require.Equal(t, want, *v.Reason, data)
		if data == `{"reason":"plain"}` {
			require.NoError(t, wire.DecodeJSON("it", []byte(data), &v))
		}
	}
	var v struct{ Reason *string }
	require.Equal(t, wire.InvalidInput, wire.CodeOf(wire.DecodeJSON("it", []byte(`{"reason":"\u0041"}`), &v)), "unless it is named")
}
