package review

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/wire"
)

func encode(t testing.TB, d *Document) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, d))
	return b.Bytes()
}

// What a reader with an ordinary JSON library gets is the document.
func TestJSONReadsBack(t *testing.T) {
	out := encode(t, sample())
	require.Equal(t, out, encode(t, sample()), "the same bytes for the same document")
	for _, c := range out {
		require.True(t, c < 0x7f && (c >= ' ' || c == '\n'), "byte %#x", c)
	}
	require.Equal(t, 1, bytes.Count(out, []byte("\n")))

	var got struct {
		What, Verdict, Root string
		Words               []string
		Size, Escapes       int
		Facts               []struct {
			Key, Name, Note string
			Value           []string
		}
		Findings []struct {
			Rule, Severity, Code string
			Details              map[string]any
		}
		Operations []struct {
			Title    string
			Outlier  bool
			Fields   []map[string]any
			Subjects []string
		}
	}
	require.NoError(t, json.Unmarshal(out, &got))
	require.Equal(t, "batch scope", got.What)
	require.Equal(t, "stop", got.Verdict)
	require.Len(t, got.Root, 64)
	require.Equal(t, Words(sampleRoot[:]), got.Words)
	require.Equal(t, []int{17, 5}, []int{got.Size, got.Escapes})
	require.Contains(t, got.Facts[2].Value[0], "<U+001B>[1Aapproved")
	require.True(t, strings.HasSuffix(got.Facts[2].Value[0], "Jürgen"))
	require.Equal(t, "INVALID_STATE", got.Findings[2].Code)
	require.Equal(t, "J\u00fcrgen\u202e", got.Findings[2].Details["by"])
	require.Equal(t, "note", got.Findings[1].Severity)
	subjects := 0
	for _, o := range got.Operations {
		subjects += len(o.Subjects)
	}
	require.Equal(t, 17, subjects)
	require.Equal(t, "ubuntu-22.04 ", got.Operations[3].Fields[0]["value"].([]any)[0])
	require.Equal(t, true, got.Operations[3].Fields[0]["odd"])
	require.NotNil(t, got.Operations[1].Fields, "known to have no fields")
	require.Nil(t, got.Operations[2].Fields, "not known")
}

func TestJSONHoldsTheLastSubject(t *testing.T) {
	require.Contains(t, string(encode(t, fleet(3125))), `"gpu-49999"`)
}

// Whatever pieces the writer gets, runes beyond ASCII cut apart included, it reads back as the same text.
func TestASCIIWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(rapid.String().Draw(t, "text"), "")
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		var b bytes.Buffer
		buffered := bufio.NewWriter(&b)
		w := &asciiWriter{w: buffered}
		for rest := quoted; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			_, err := w.Write(rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, buffered.Flush())
		require.NotRegexp(t, `[^\x00-\x7e]`, b.String())
		var got string
		require.NoError(t, json.Unmarshal(b.Bytes(), &got))
		require.Equal(t, text, got)
	})
}

func BenchmarkJSON(b *testing.B) {
	for name, operations := range map[string]int{"one operation": 1, "all distinct": wire.MaxLeaves} {
		d := fleet(operations)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, WriteJSON(io.Discard, d))
			}
		})
	}
}
