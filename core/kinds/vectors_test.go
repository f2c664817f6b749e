package kinds

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// A vector is a payload as protoc encoded it, with its text form (testdata/payloads.json).
type vector struct {
	TypeURL string `json:"typeUrl"`
	Value   string `json:"value"`
	Text    string `json:"text"`
}

func vectors(t testing.TB) map[string]vector {
	raw, err := os.ReadFile("testdata/payloads.json")
	require.NoError(t, err)
	var all map[string]vector
	require.NoError(t, json.Unmarshal(raw, &all))
	require.NotEmpty(t, all)
	return all
}

// kindOfType gives the first kind of a type URL.
func kindOfType(t testing.TB, typeURL string) *Kind {
	for _, k := range Builtin().Kinds() {
		if k.TypeURL() == typeURL {
			return k
		}
	}
	require.Fail(t, "no kind has the type", typeURL)
	return nil
}

func (v vector) payload(t testing.TB) []byte {
	b, err := base64.StdEncoding.DecodeString(v.Value)
	require.NoError(t, err)
	return b
}

func TestPayloadsOfProtocAreCanonical(t *testing.T) {
	for name, v := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			k := kindOfType(t, v.TypeURL)
			payload := v.payload(t)
			require.NoError(t, k.Walk(payload, new(Walked)))

			got, want := dynamicpb.NewMessage(k.Message()), dynamicpb.NewMessage(k.Message())
			require.NoError(t, proto.Unmarshal(payload, got))
			require.NoError(t, prototext.Unmarshal([]byte(v.Text), want))
			require.True(t, proto.Equal(want, got), "%v", got)

			for n := 1; n < len(payload); n++ { // every cut either ends between two fields or is refused
				if k.Walk(payload[:n], new(Walked)) == nil {
					require.NoError(t, proto.Unmarshal(payload[:n], dynamicpb.NewMessage(k.Message())), "cut at %d", n)
				}
			}
		})
	}
}
