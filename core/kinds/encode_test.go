package kinds

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// toJSON writes a message as protobuf JSON, with the names of the .proto file where proto names are asked for.
func toJSON(t require.TestingT, m proto.Message, protoNames bool) []byte {
	b, err := protojson.MarshalOptions{UseProtoNames: protoNames, UseEnumNumbers: protoNames}.Marshal(m)
	require.NoError(t, err)
	return b
}

func TestEncodeGivesTheBytesOfProtoc(t *testing.T) {
	for name, v := range vectors(t) {
		k := kindOfType(t, v.TypeURL)
		m := dynamicpb.NewMessage(k.Message())
		require.NoError(t, prototext.Unmarshal([]byte(v.Text), m))
		for _, protoNames := range []bool{false, true} {
			got, err := k.Encode(toJSON(t, m, protoNames))
			require.NoError(t, err, name)
			require.Equal(t, k.SortMaps(v.payload(t)), got, name)
		}
	}
}

// goldenKind gives the kind of a golden payload, that of the rich message included.
func goldenKind(t testing.TB, name string) *Kind {
	rich := golden.Payloads().Rich
	if name != rich.Kind {
		return Builtin().Lookup([]byte(name))
	}
	var set descriptorpb.FileDescriptorSet
	require.NoError(t, proto.Unmarshal(golden.Base64(rich.DescriptorSet), &set))
	files, err := protodesc.NewFiles(&set)
	require.NoError(t, err)
	d, err := files.FindDescriptorByName("acme.v1.Rich")
	require.NoError(t, err)
	return testKind(t, d.(protoreflect.MessageDescriptor))
}

func TestEncodeGivesTheGoldenBytes(t *testing.T) {
	n := 0
	for _, v := range golden.Payloads().Vectors {
		if v.Want != "ok" || v.Name == "acme.rich: NaN with a payload" { // JSON has one NaN
			continue
		}
		k, want := goldenKind(t, v.Kind), golden.Base64(v.Value)
		m := dynamicpb.NewMessage(k.Message())
		require.NoError(t, proto.Unmarshal(want, m))
		got, err := k.Encode(toJSON(t, m, false))
		require.NoError(t, err, v.Name)
		require.Equal(t, k.SortMaps(want), got, v.Name)
		n++
	}
	require.Greater(t, n, 50)
}

// JSON has one NaN, and protoc, JavaScript and Go's float32 agree on its bits; math.NaN() has others.
func TestEncodeOfNaN(t *testing.T) {
	k := testKind(t, build(t, newMessage("M").add("f", 1, "float").add("d", 2, "double").add("ds", 3, "double", repeated)))
	got, err := k.Encode([]byte(`{"f":"NaN","d":"NaN","ds":["NaN",1]}`))
	require.NoError(t, err)
	require.Equal(t, unhex(t, "0d0000c07f 11000000000000f87f 1a10 000000000000f87f 000000000000f03f"), got)
}

func TestEncodeRefuses(t *testing.T) {
	wipe, rich, cases := Builtin().Lookup([]byte("node.wipe")), rich(t), caseKind(t)
	big := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		kind              *Kind
		json, reason, why string
	}{
		{wipe, ``, reasonForm, "EOF"},
		{wipe, `null`, reasonForm, "unexpected token"},
		{wipe, `[]`, reasonForm, "unexpected token"},
		{wipe, `{} {}`, reasonForm, "something follows the JSON value at byte 3"},
		{wipe, `{"devices":["a"]`, reasonForm, "unexpected EOF"},
		{wipe, `{"device":["a"]}`, reasonForm, `unknown field "device"`},
		{wipe, `{"Devices":["a"]}`, reasonForm, `unknown field "Devices"`},
		{wipe, `{"allDevices":true,"allDevices":true}`, reasonForm, `duplicate object member name "allDevices"`},
		{wipe, `{"allDevices":true,"all_devices":true}`, reasonForm, `duplicate field "all_devices"`},
		{wipe, `{"allDevices":null,"all_devices":true}`, reasonForm, `duplicate field "all_devices"`},
		{wipe, `{"allDevices":"true"}`, reasonForm, "invalid value for bool field allDevices"},
		{wipe, `{"method":"zero"}`, reasonForm, "invalid value for enum field method"},
		{wipe, `{"method":9}`, reasonForm, "field method is 9, which has no name in WipeRequest.Method"},
		{wipe, `{"devices":[null]}`, reasonForm, "invalid value for string field devices"},
		{wipe, `{"devices":["\ud800"]}`, reasonForm, "invalid surrogate pair"},
		{wipe, "{\"devices\":[\"\xff\"]}", reasonForm, "invalid UTF-8"},
		{wipe, `{"[bettercompute.v1.x]":1}`, reasonForm, `unknown field "[bettercompute.v1.x]"`},
		{wipe, `{"@type":"x"}`, reasonForm, `unknown field "@type"`},
		{wipe, `{"devices":["` + big(wire.MaxPayloadBytes-3) + `"]}`, reasonTooLarge, "has 65537 bytes; at most 65536"},
		{wipe, `{}` + strings.Repeat(" ", wire.MaxPayloadJSON-1), reasonTooLarge, "the JSON of the payload of a node.wipe has 1048577 bytes"},
		{cases, `{"i":2147483648}`, reasonForm, "invalid value for int32 field i"},
		{cases, `{"i":1.5}`, reasonForm, "invalid value for int32 field i"},
		{cases, `{"f":1e39}`, reasonForm, "invalid value for float field f"},
		{cases, `{"f":NaN}`, reasonForm, "invalid character 'N' at start of value"},
		{cases, `{"raw":"*"}`, reasonForm, "invalid value for bytes field raw"},
		{cases, `{"left":"a","right":{}}`, reasonForm, "oneof test.Case.side is already set"},
		{cases, `{"m":{"a":1,"a":2}}`, reasonForm, `duplicate object member name "a"`},
		{cases, `{"any":{}}`, reasonForm, "field any is a google.protobuf.Any"},
		{cases, `{"any":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s"}}`, reasonForm, "unable to resolve"},
		{cases, `{"color":"GREEN"}`, reasonForm, "invalid value for enum field color"},
		{cases, strings.Repeat(`{"child":`, 32) + `{}` + strings.Repeat(`}`, 32), reasonForm, "recursion depth"},
		{cases, strings.Repeat(`{"child":`, 100000), reasonForm, "exceeded max depth"},
		{cases, `{"text":1` + strings.Repeat("0", 100000) + `}`, reasonForm, "invalid value for string field text"},
		{rich, `{"wait":"1.0000000001s"}`, reasonForm, "invalid google.protobuf.Duration value"},
		{rich, `{"wait":{"seconds":1}}`, reasonForm, "unexpected token"},
	} {
		got, err := c.kind.Encode([]byte(c.json))
		require.Empty(t, len(got))
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%.100s", c.json)
		require.Equal(t, c.reason, wire.ReasonOf(err), "%.100s: %v", c.json, err)
		require.ErrorContains(t, err, c.why, "%.100s", c.json)
		require.Contains(t, err.Error(), c.kind.Name())
		require.NotContains(t, err.Error(), "\u00a0")
		require.NotContains(t, err.Error(), "proto:")
		require.Less(t, len(err.Error()), 500)
	}
}

func TestEncodeTakes(t *testing.T) {
	k := caseKind(t)
	for text, want := range map[string]string{
		`{}`: "",
		`{}` + strings.Repeat(" ", wire.MaxPayloadJSON-2): "",
		` { "i" : -1 } `:    "10 ffffffffffffffffff01",
		`{"i":"7"}`:         "10 07",
		`{"i":7e0}`:         "10 07",
		`{"color":"BELOW"}`: "9001 ffffffffffffffffff01",
		`{"color":-1}`:      "9001 ffffffffffffffffff01",
		`{"color":"ROUGE"}`: "9001 01",
		`{"f":-0}`:          "35 00000080",
		`{"f":0,"x":"0","text":"","raw":"","b":false,"color":"NONE"}`: "",
		`{"f":"-Infinity"}`:               "35 000080ff",
		`{"flag":false}`:                  "7000",
		`{"flag":null,"child":null}`:      "",
		`{"middle":true,"left":"x"}`:      "7a0178 800101",
		`{"left":""}`:                     "7a00",
		`{"right":{},"middle":true}`:      "800101 8a0100",
		`{"list":[0,-1]}`:                 "520b 00 ffffffffffffffffff01",
		`{"singly":[0,1]}`:                "5800 5801",
		`{"names":["",""]}`:               "6200 6200",
		`{"m":{"b":2,"":0,"a":1}}`:        "6a04 0a00 1000 6a05 0a01611001 6a05 0a01621002",
		`{"cases":{"-1":{},"0":{}}}`:      "aa0104 0800 1200 aa010d 08ffffffffffffffffff01 1200",
		`{"colors":[0,"FAR"]}`:            "b20103 00 e807",
		`{"raw":"_-8"}`:                   "4a02 ffef",
		`{"text":"\u0000\ud83d\udca5\n"}`: "4206 00 f09f92a5 0a",
		nestedJSON(32):                    nested(32),
	} {
		got, err := k.Encode([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, unhex(t, want), got, text)
	}
}

func nestedJSON(levels int) string {
	return strings.Repeat(`{"child":`, levels-1) + `{}` + strings.Repeat(`}`, levels-1)
}

func requireBytes(t require.TestingT, want, got []byte) {
	require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got))
}

// checkEncode holds what Encode gives of a message's JSON against the oracle's writer and Go's own encoder.
func checkEncode(t require.TestingT, k *Kind, m *dynamicpb.Message, protoNames bool) {
	got, err := k.Encode(toJSON(t, m, protoNames))
	require.NoError(t, err)
	require.NoError(t, k.Walk(got, new(Walked)))
	requireBytes(t, sorted.message(m), got)
	back := dynamicpb.NewMessage(k.Message())
	require.NoError(t, proto.Unmarshal(got, back))
	require.True(t, proto.Equal(m, back))

	library, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	require.NoError(t, err)
	require.Len(t, library, len(got)) // it differs in the place of oneofs and the order of keys alone
	if !hasOneofOrMap(m) {
		requireBytes(t, library, got)
	}
}

// hasOneofOrMap tells whether a member of a oneof or an entry of a map stands at any depth.
func hasOneofOrMap(m protoreflect.Message) (found bool) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() || fd.ContainingOneof() != nil && !fd.ContainingOneof().IsSynthetic():
			found = true
		case fd.Message() == nil:
		case fd.IsList():
			for i := range v.List().Len() {
				found = found || hasOneofOrMap(v.List().Get(i).Message())
			}
		default:
			found = found || hasOneofOrMap(v.Message())
		}
		return !found
	})
	return found
}

// jsonable tells whether JSON can say what a message holds: a google.protobuf.Duration has bounds of its own there.
func jsonable(m proto.Message) bool {
	_, err := protojson.Marshal(m)
	return err == nil
}

func TestEncodeIsCanonical(t *testing.T) {
	all := append(Builtin().Kinds(), rich(t), caseKind(t), goldenKind(t, "acme.rich"))
	same, different := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(all).Draw(t, "kind")
		s := &source{rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "choices")}
		m := s.message(k.Message()).Interface().(*dynamicpb.Message)
		if !jsonable(m) {
			return
		}
		checkEncode(t, k, m, rapid.Bool().Draw(t, "names"))
		if hasOneofOrMap(m) {
			different++
		} else {
			same++
		}
	})
	require.Positive(t, same)
	require.Positive(t, different)
}

// FuzzEncode gives Encode the JSON of messages, that JSON with bytes changed, and the fuzzer's own text.
func FuzzEncode(f *testing.F) {
	kinds := append(Builtin().Kinds(), rich(f), caseKind(f))
	for seed := range 64 {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		b := make([]byte, 300)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Add([]byte(`\x00\x00{"allDevices":true,"method":"ZERO"}`))
	var c golden.Balance
	f.Fuzz(func(t *testing.T, choices []byte) {
		s := &source{choices}
		k := kinds[s.below(len(kinds))]
		m := s.message(k.Message()).Interface().(*dynamicpb.Message)
		if !jsonable(m) {
			return
		}
		checkEncode(t, k, m, s.byte()%2 == 0)
		require.NoError(t, c.Count(true))
		for _, text := range [][]byte{s.mutateText(toJSON(t, m, false)), s.mutateText(s.mutateText(toJSON(t, m, true))), choices} {
			got, err := k.Encode(text)
			require.NoError(t, c.Count(err == nil))
			if err != nil {
				require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
				continue
			}
			back := dynamicpb.NewMessage(k.Message())
			require.NoError(t, protojson.Unmarshal(text, back))
			require.True(t, checkWalk(t, k, got))
			requireBytes(t, sorted.message(back), got)
		}
	})
}

// mutateText changes a few bytes of a text.
func (s *source) mutateText(b []byte) []byte {
	b = bytes.Clone(b)
	at := s.below(len(b) + 1)
	switch s.byte() % 3 {
	case 0:
		return append(b[:at:at], b[min(at+1+s.below(4), len(b)):]...)
	case 1:
		return append(append(b[:at:at], `0"{}[],:-nul`[s.below(12)]), b[at:]...)
	}
	if at < len(b) {
		b[at] = "019aZ\"-"[s.below(7)]
	}
	return b
}

func BenchmarkEncode(b *testing.B) {
	k := Builtin().Lookup([]byte("node.reimage"))
	text := []byte(`{"image":"ubuntu-24.04-gpu-570.86","imageSha256":"` + base64.StdEncoding.EncodeToString(make([]byte, 32)) + `","wipeDisks":true,"preserveMounts":["/srv/models"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Encode(text); err != nil {
			b.Fatal(err)
		}
	}
}

func TestGoldenPayloadJSON(t *testing.T) {
	for _, v := range golden.PayloadJSONs() {
		t.Run(v.Name, func(t *testing.T) {
			got, err := goldenKind(t, v.Kind).Encode([]byte(v.JSON))
			require.NoError(t, v.Check(err, string(wire.CodeOf(err)), wire.ReasonOf(err)))
			if v.OK() {
				requireBytes(t, golden.Base64(v.Value), got)
			}
		})
	}
}
