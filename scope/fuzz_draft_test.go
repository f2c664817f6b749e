package scope

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// leavesText makes a file of leaves, right in most of its parts, and then damages some of them.
func leavesText(e *entropy) []byte {
	space := func() string { return e.pick("", "", "", " ", "\n", "\t\r\n ") }
	var leaves []string
	for i := range 1 + e.next()%3 {
		leaves = append(leaves, draftLeafText(e, i, space))
	}
	text := []byte("[" + space() + strings.Join(leaves, space()+",") + space() + "]")
	if e.next()%2 == 0 {
		return text
	}
	return damage(e, text)
}

func draftLeafText(e *entropy, i int, space func() string) string {
	subject, kind, payload := fmt.Sprintf("node_%d", i), "node.reboot", `{`+strings.Join(rebootJSON(e), space()+","+space())+`}`
	switch e.next() % 6 {
	case 0:
		subject, kind = "bmc:s/10.0.0.1", "bmc.power"
		payload = `{"power":` + e.pick(`"CYCLE"`, `3`, `"CYCLE","boot":{}`, `"COLD"`) + `,"address":"10.0.0.` + e.pick("1", "1", "2") + `"}`
	case 1:
		kind, payload = "node.reimage", `{"userData":`+e.pick(`"#!/bin/sh\n\u0001{]\"\\"`, `"é\ud83d\ude00"`, `"\udc00"`)+`,"imageSha256":`+e.pick(`"AA=="`, `"_w"`, `"!"`)+`}`
	}
	payload = e.pick(`{"json":`+payload+`}`, `{"json":`+payload+`}`, `{"json":`+payload+`}`, "null",
		`{"value":"CAE=","typeUrl":"type.googleapis.com/bettercompute.v1.RebootRequest"}`, `{"typeUrl":"x"}`)
	members := []string{`"subject":"` + subject + `"`, `"kind":"` + e.pick(kind, kind, kind, kind, "acme.x") + `"`, `"payload":` + space() + payload}
	if e.next()%4 == 0 {
		members = append(members, `"payloadSha256":`+e.pick("null", `""`, `"`+strings.Repeat("0f", 32)+`"`))
	}
	if e.next()%2 == 0 {
		members[0], members[2] = members[2], members[0]
	}
	return "{" + strings.Join(members, space()+",") + "}"
}

func rebootJSON(e *entropy) (members []string) {
	for _, m := range []string{
		`"force":` + e.pick("true", "false", "null", "1"),
		e.pick(`"graceSeconds"`, `"grace_seconds"`, `"grace\u0053econds"`, `"GraceSeconds"`) + `:` + e.pick("0", "30", `"30"`, "3e1", "-1"),
		`"reason":` + e.pick(`"x"`, `"a\u0000\ud83d\ude00\"\\\/\b"`, `"\ud800"`, `{}`),
	} {
		if e.next()%3 == 0 {
			members = append(members, m)
		}
	}
	return members
}

// An oracleDraft is a leaf of a file of leaves as a library reads it.
type oracleDraft struct {
	Subject *string `json:"subject"`
	Kind    *string `json:"kind"`
	Digest  *string `json:"payloadSha256"`
	Payload *struct {
		TypeURL *string         `json:"typeUrl"`
		Value   *[]byte         `json:"value"`
		JSON    *jsontext.Value `json:"json"`
	} `json:"payload"`
}

// compareDraft says how the oracles, a JSON library and a protobuf library, disagree with a scope that was built, or "".
func compareDraft(text []byte, d *Decoded) string {
	var oracle []oracleDraft
	if err := json.Unmarshal(text, &oracle, json.RejectUnknownMembers(true)); err != nil {
		return "the oracle refuses it: " + err.Error()
	}
	v := d.Verified()
	if len(oracle) != v.Scope().Size() {
		return "the number of leaves differs"
	}
	for i := range oracle {
		l, w := v.Leaf(i), oracle[v.Scope().Given(i)]
		if l.Subject != deref(w.Subject) || l.Kind != deref(w.Kind) || l.HasPayload != (w.Payload != nil) {
			return fmt.Sprintf("leaf %v, the oracle reads %v", l, w)
		}
		if w.Payload == nil || w.Payload.JSON == nil {
			continue
		}
		message := builtin.Lookup([]byte(l.Kind)).Message()
		want, have := dynamicpb.NewMessage(message), dynamicpb.NewMessage(message)
		if err := protojson.Unmarshal(*w.Payload.JSON, want); err != nil {
			return "the oracle refuses a payload: " + err.Error()
		}
		if err := proto.Unmarshal(l.Payload, have); err != nil || !proto.Equal(want, have) {
			return fmt.Sprintf("payload %v, the oracle reads %v (%v)", have, want, err)
		}
	}
	return ""
}

func fuzzDraft(t testing.TB, b *golden.Balance, data []byte) {
	text := leavesText(&entropy{data})
	draft, err := ParseLeaves(bytes.NewReader(text), builtin, 2)
	var d *Decoded
	if err == nil {
		d, err = draft.Build(proposed())
	}
	count(t, b, err == nil)
	if err != nil {
		return
	}
	if difference := compareDraft(text, d); difference != "" {
		t.Fatalf("%s\n%s", difference, text)
	}
	requireSameLeaves(t, d.Verified(), exported(t, d))
}

// FuzzLeaves holds the making of scopes against json v2 and protojson: what is built the oracles accept and read alike, and
// what it is written as reads back the same.
func FuzzLeaves(f *testing.F) {
	for i := range 64 {
		f.Add([]byte(strings.Repeat(string(rune('0'+i)), i)))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) { fuzzDraft(t, &b, data) })
}

// TestLeavesBalance runs the target's generator on its own, so that a plain test run sees both answers too.
func TestLeavesBalance(t *testing.T) {
	var b golden.Balance
	state := uint64(1)
	for range 10_000 {
		data := make([]byte, 64)
		for i := range data {
			state = state*6364136223846793005 + 1442695040888963407
			data[i] = byte(state >> 56)
		}
		fuzzDraft(t, &b, data)
	}
}

// JSON is taken whole wherever the windows of a file cut it.
func TestJSONOverWindows(t *testing.T) {
	for shift := range 64 {
		reason := strings.Repeat(`\"{[\\\ud83d\ude00`, 2000)
		text := "[" + strings.Repeat(" ", windowBytes-32-shift) + `{"subject":"n","kind":"node.reboot","payload":{"json":{"reason":"` + reason + `"}}}]`
		d, err := build(text)
		require.NoError(t, err)
		require.Empty(t, compareDraft([]byte(text), d))
		_, err = build(text[:len(text)-3])
		require.ErrorContains(t, err, "the file ends")
	}
}

// A payload may have its last byte, and white space around it is none of it.
func TestLargestPayloadJSON(t *testing.T) {
	text := func(more int) string {
		return `[{"subject":"n","kind":"node.reboot","payload":{"json":{"reason":"` + strings.Repeat("x", wire.MaxPayloadBytes-4+more) + `"` +
			strings.Repeat(" ", 900_000) + `}}}]`
	}
	_, err := build(text(0))
	require.NoError(t, err)
	_, err = build(text(1))
	require.Equal(t, "payload-too-large", wire.ReasonOf(err))
}
