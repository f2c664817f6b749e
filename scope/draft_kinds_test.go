package scope

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/golden"
)

func tableOf(t *testing.T, toml string, descriptorSet []byte) *kinds.Table {
	t.Helper()
	file, err := kinds.ParseTableFile([]byte(toml))
	require.NoError(t, err)
	table, err := file.Table(descriptorSet)
	require.NoError(t, err)
	return table
}

// A kind of an installation, whose oneof stands before other fields: Go's own encoder writes it last, and no approver would
// take that.
func TestOneofsStandInTheirPlace(t *testing.T) {
	toml, err := os.ReadFile("../examples/kinds/kinds.toml")
	require.NoError(t, err)
	set, err := os.ReadFile("../examples/kinds/acme.binpb")
	require.NoError(t, err)
	table := tableOf(t, string(toml), set)
	const text = `{"settings":{"b":"2","a":"1"},"force":"DOWNGRADE","url":"https://x","pciAddresses":["0000:17:00.0"],"version":"22"}`
	draft, err := ParseLeaves(strings.NewReader(`[{"subject":"n","kind":"acme.flashNic","payload":{"json":`+text+`}}]`), table, 1)
	require.NoError(t, err)
	d, err := draft.Build(proposed())
	require.NoError(t, err)
	have := d.Verified().Leaf(0).Payload
	want := "\x0a\x0222" + "\x1a\x09https://x" + "\x22\x0c0000:17:00.0" + "\x32\x06\x0a\x01a\x12\x011" + "\x32\x06\x0a\x01b\x12\x012" + "\x38\x02"
	require.Equal(t, want, string(have))
	m := dynamicpb.NewMessage(table.Lookup([]byte("acme.flashNic")).Message())
	require.NoError(t, proto.Unmarshal(have, m))
	library, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	require.NoError(t, err)
	require.NotEqual(t, want, string(library), "the example says nothing any more")

	_, err = ParseLeaves(strings.NewReader(`[{"subject":"n","kind":"acme.flashNic","payload":{"json":{}}}]`), builtin, 1)
	require.NoError(t, err, "what a leaf says is told by Build")
}

// Every good payload of the vectors comes back from its JSON byte for byte, but for the order of
// map entries, which JSON has not.
func TestVectorsComeBackFromJSON(t *testing.T) {
	n := 0
	for _, v := range golden.Payloads().Vectors {
		value, kind := golden.Base64(v.Value), builtin.Lookup([]byte(v.Kind))
		if !v.OK() || kind == nil {
			continue
		}
		m := dynamicpb.NewMessage(kind.Message())
		require.NoError(t, proto.Unmarshal(value, m), v.Name)
		text, err := protojson.Marshal(m)
		require.NoError(t, err, v.Name)
		draft, err := NewDraft([]DraftLeaf{{Subject: v.Subject, Kind: v.Kind, JSON: text}}, builtin, 1)
		require.NoError(t, err, v.Name)
		d, err := draft.Build(proposed())
		require.NoError(t, err, v.Name)
		have := d.Verified().Leaf(0).Payload
		require.Equal(t, fmt.Sprintf("%x", kind.SortMaps(value)), fmt.Sprintf("%x", kind.SortMaps(have)), "%s: %s", v.Name, text)
		n++
	}
	require.Greater(t, n, 20)
}

// The root says nothing of what a payload's fields are called; the review says by which descriptor set it was decoded.
func TestReviewNamesTheDescriptorSet(t *testing.T) {
	toml, err := os.ReadFile("../examples/kinds/kinds.toml")
	require.NoError(t, err)
	set, err := os.ReadFile("../examples/kinds/acme.binpb")
	require.NoError(t, err)
	renamed := bytes.Replace(set, []byte("\x0a\x07version"), []byte("\x0a\x07variant"), 1)
	require.NotEqual(t, set, renamed)
	review := func(set []byte) (root string, facts []string) {
		draft, err := NewDraft([]DraftLeaf{{Subject: "n", Kind: "acme.flashNic", TypeURL: "type.googleapis.com/acme.fleet.v1.FlashNicRequest", Value: []byte("\x0a\x0222")}}, tableOf(t, string(toml), set), 1)
		require.NoError(t, err)
		d, err := draft.Build(proposed())
		require.NoError(t, err)
		doc := document(t, d, testPolicy())
		for _, f := range doc.Facts {
			if f.Key == "descriptorSet" {
				facts = append(facts, fmt.Sprint(f.Value))
			}
		}
		return fmt.Sprintf("%x", doc.Root), facts
	}
	root, facts := review(set)
	sum := sha256.Sum256(set)
	require.Equal(t, []string{fmt.Sprintf("[%x %x]", sum[:16], sum[16:])}, facts)
	other, otherFacts := review(renamed)
	require.Equal(t, root, other)
	require.NotEqual(t, facts, otherFacts)

	for _, f := range document(t, decoded(t, "", reimage("n", "x")), testPolicy()).Facts {
		require.NotEqual(t, "descriptorSet", f.Key)
	}
}
