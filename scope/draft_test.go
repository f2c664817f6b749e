package scope

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// proposed is a proposal that holds, with an end a day after testNow.
func proposed() Proposal {
	return Proposal{BatchID: "batch_t", TrustDomain: "compute.example.com", Reason: "kernel roll-out",
		NotAfter: 4102444800000, Time: review.Time{Now: time.UnixMilli(testNow)}}
}

func build(text string) (*Decoded, error) {
	draft, err := ParseLeaves(strings.NewReader(text), builtin, 2)
	if err != nil {
		return nil, err
	}
	return draft.Build(proposed())
}

// exported writes a scope and takes the file down the road of an approver.
func exported(t require.TestingT, d *Decoded) *Verified {
	var b bytes.Buffer
	require.NoError(t, d.Encode(&b, Policy{}))
	v := mustVerify(t, b.String())
	require.Equal(t, d.Verified().Scope().Root(), v.Scope().Root())
	require.False(t, v.Header().Bare)
	return v
}

// The examples' leaves give, leaf for leaf, the scopes of the generator, which shares no code with what encodes here.
func TestLeavesGiveTheGeneratorsScopes(t *testing.T) {
	for _, dir := range []string{"small", "415"} {
		leaves, err := os.ReadFile("../examples/" + dir + "/leaves.json")
		require.NoError(t, err)
		file, err := os.ReadFile("../examples/" + dir + "/scope.json")
		require.NoError(t, err)
		want := mustVerify(t, string(file))
		draft, err := ParseLeaves(bytes.NewReader(leaves), builtin, 2)
		require.NoError(t, err)
		p := proposed()
		p.BatchID = want.Header().BatchID
		d, err := draft.Build(p)
		require.NoError(t, err)
		requireSameLeaves(t, want, exported(t, d))
		p.BatchID += "x" // a draft may be built again
		again, err := draft.Build(p)
		require.NoError(t, err)
		require.NotEqual(t, want.Scope().Root(), again.Verified().Scope().Root())
	}
}

func requireSameLeaves(t require.TestingT, want, have *Verified) {
	require.Equal(t, want.Scope().Root(), have.Scope().Root())
	require.Equal(t, want.Scope().Size(), have.Scope().Size())
	for i := range want.Scope().Size() {
		require.Equal(t, want.Leaf(i), have.Leaf(i))
	}
}

func TestBuildWritesTheHeader(t *testing.T) {
	d, err := build(`[{"subject":"node_a","kind":"node.reboot","payload":{"json":{}}}]`)
	require.NoError(t, err)
	h := exported(t, d).Header()
	require.Equal(t, "batch_t", h.BatchID)
	require.Equal(t, "compute.example.com", h.TrustDomain)
	require.Equal(t, "kernel roll-out", h.Reason)
	require.EqualValues(t, 4102444800000, h.NotAfter)
	require.EqualValues(t, 1, h.Size)
	require.Empty(t, h.CreatedBy+h.CreatedByAgent)
}

// A leaf in each form that a file of leaves takes, and what it binds.
func TestFormsOfLeaves(t *testing.T) {
	const reboot = `"payload":{"typeUrl":"type.googleapis.com/bettercompute.v1.RebootRequest","value":"CAEQHg=="}`
	digest := "ec8a1a4d5ba8e4e58f1d2ac7ed8b6a3e1b34b2a3ee2e9ee8f6a3b7a5f6c1e4ad"
	for text, want := range map[string]string{
		`{"subject":"n","kind":"node.reboot",` + reboot + `}`:                                                                 "08011 01e",
		`{"payload":{"json":{"force":true,"grace_seconds":30}},"kind":"node.reboot","subject":"n"}`:                           "08011 01e",
		"{\"payload\" : { \"json\" :\n{\"graceSeconds\" :30, \"force\":true } } ,\"kind\":\"node.reboot\",\"subject\":\"n\"}": "08011 01e",
		`{"subject":"n","kind":"node.reboot","payload":{"json":{}}}`:                                                          "",
		`{"subject":"n","kind":"node.reboot","payload":null,"payloadSha256":null}`:                                            "unbound",
		`{"subject":"n","kind":"node.reboot"}`:                                                                                "unbound",
		`{"subject":"n","kind":"node.reboot","payloadSha256":""}`:                                                             "unbound",
		`{"subject":"n","kind":"node.reboot","payloadSha256":"` + digest + `"}`:                                               "opaque " + digest,
		`{"subject":"n","kind":"node.reboot","payload":{"json":{"reason":"a\u0062\ud83d\ude00\n{[\"\\"}}}`:                    "1a0b" + fmt.Sprintf("%x", "ab😀\n{[\"\\"),
	} {
		d, err := build("[" + text + "]")
		require.NoError(t, err, text)
		l := exported(t, d).Leaf(0)
		have := fmt.Sprintf("%x", l.Payload)
		switch {
		case !l.HasPayload && len(l.PayloadSHA256) == 0:
			have = "unbound"
		case !l.HasPayload:
			have = fmt.Sprintf("opaque %x", l.PayloadSHA256)
		default:
			require.Equal(t, "type.googleapis.com/bettercompute.v1.RebootRequest", l.TypeURL)
		}
		require.Equal(t, strings.ReplaceAll(want, "011 01e", "01101e"), have, text)
	}
}

func TestProposalRefuses(t *testing.T) {
	const minute, hour = 60_000, 3_600_000
	d, err := NewDraft([]DraftLeaf{{Subject: "n", Kind: "node.reboot", JSON: []byte("{}")}}, builtin, 1)
	require.NoError(t, err)
	for name, change := range map[string]func(*Proposal){
		"batch id":                 func(p *Proposal) { p.BatchID = "" },
		"batch id of another form": func(p *Proposal) { p.BatchID = "../x" },
		"trust domain":             func(p *Proposal) { p.TrustDomain = "" },
		"trust domain's case":      func(p *Proposal) { p.TrustDomain = "Compute" },
		"no reason":                func(p *Proposal) { p.Reason = "" },
		"501 units":                func(p *Proposal) { p.Reason = strings.Repeat("x", 501) },
		"251 pairs":                func(p *Proposal) { p.Reason = strings.Repeat("😀", 251) },
		"reason not UTF-8":         func(p *Proposal) { p.Reason = "a\xff" },
		"under a minute":           func(p *Proposal) { p.NotAfter = testNow + minute - 1 },
		"closed":                   func(p *Proposal) { p.NotAfter = testNow - hour },
		"no end":                   func(p *Proposal) { p.NotAfter = 0 },
		"over 72 hours":            func(p *Proposal) { p.NotAfter = testNow + 72*hour + 1 },
		"no integer of JSON":       func(p *Proposal) { p.NotAfter = 1 << 63 },
	} {
		p := proposed()
		change(&p)
		built, err := d.Build(p)
		require.Nil(t, built, name)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%s: %v", name, err)
	}
	for name, change := range map[string]func(*Proposal){
		"a minute":  func(p *Proposal) { p.NotAfter = testNow + minute },
		"72 hours":  func(p *Proposal) { p.NotAfter = testNow + 72*hour },
		"500 units": func(p *Proposal) { p.Reason = strings.Repeat("😀", 250) },
		"controls":  func(p *Proposal) { p.Reason = "a\x1b\x00\"\\\u2028" },
	} {
		p := proposed()
		change(&p)
		built, err := d.Build(p)
		require.NoError(t, err, name)
		require.Equal(t, p.Reason, exported(t, built).Header().Reason)
	}
	p := proposed()
	p.Time.Now, p.NotAfter = review.ReleaseDate.Add(-time.Hour), uint64(review.ReleaseDate.Add(time.Hour).UnixMilli())
	_, err = d.Build(p)
	require.Equal(t, wire.InvalidState, wire.CodeOf(err))
	require.Equal(t, "clock", wire.ReasonOf(err))
}

// What a program gives is held to what a file is held to.
func TestNewDraft(t *testing.T) {
	value := []byte{8, 1}
	for name, c := range map[string]struct {
		leaf DraftLeaf
		says string
	}{
		"JSON":               {DraftLeaf{Subject: "n", Kind: "node.reboot", JSON: []byte(`{"force":true}`)}, ""},
		"bytes":              {DraftLeaf{Subject: "n", Kind: "node.reboot", TypeURL: "type.googleapis.com/bettercompute.v1.RebootRequest", Value: value}, ""},
		"no bytes":           {DraftLeaf{Subject: "n", Kind: "node.reboot", TypeURL: "type.googleapis.com/bettercompute.v1.RebootRequest"}, ""},
		"nothing":            {DraftLeaf{Subject: "n", Kind: "node.reboot"}, ""},
		"a digest":           {DraftLeaf{Subject: "n", Kind: "node.reboot", PayloadSHA256: make([]byte, 32)}, ""},
		"a short digest":     {DraftLeaf{Subject: "n", Kind: "node.reboot", PayloadSHA256: make([]byte, 31)}, "64 lower-case hex digits"},
		"both":               {DraftLeaf{Subject: "n", Kind: "node.reboot", JSON: []byte(`{}`), TypeURL: "x"}, "as JSON and as bytes"},
		"bytes of no type":   {DraftLeaf{Subject: "n", Kind: "node.reboot", Value: value}, "without their type"},
		"JSON that goes on":  {DraftLeaf{Subject: "n", Kind: "node.reboot", JSON: []byte(`{}},"payloadSha256":"","x":{"y":{}`)}, "leaf 0: "},
		"JSON of nothing":    {DraftLeaf{Subject: "n", Kind: "node.reboot", JSON: []byte{}}, "leaf 0: "},
		"a subject's quote":  {DraftLeaf{Subject: `n","kind":"node.wipe`, Kind: "node.reboot"}, "escape"},
		"a subject of bytes": {DraftLeaf{Subject: "n\xff", Kind: "node.reboot"}, "leaf 0: "},
	} {
		d, err := NewDraft([]DraftLeaf{c.leaf}, builtin, 2)
		if err == nil {
			_, err = d.Build(proposed())
		}
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%s: %v", name, err)
		require.Contains(t, err.Error(), c.says, name)
	}
	_, err := NewDraft(nil, builtin, 1)
	require.Error(t, err)
	_, err = NewDraft([]DraftLeaf{{Subject: "n", Kind: "node.reboot"}}, nil, 1)
	require.Error(t, err)
}

// Bounds of the whole batch. Payloads of JSON that are over the bytes of a batch are not kept.
func TestBuildBounds(t *testing.T) {
	list := func(n int, leaf func(i int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",%s", leaf(i))
		}
		return "[" + b.String()[1:] + "]"
	}
	empty := func(i int) string { return fmt.Sprintf(`{"subject":"n%d","kind":"node.reboot"}`, i) }
	_, err := build(list(50_001, empty))
	require.Equal(t, "too-many-leaves", wire.ReasonOf(err), "%v", err)
	d, err := build(list(50_000, empty))
	require.NoError(t, err)
	require.Equal(t, 50_000, d.Verified().Scope().Size())

	reason := strings.Repeat("x", 60_000)
	large := func(i int) string {
		return fmt.Sprintf(`{"subject":"n%d","kind":"node.reboot","payload":{"json":{"reason":"%s"}}}`, i, reason)
	}
	draft, err := ParseLeaves(strings.NewReader(list(200, large)), builtin, 2)
	require.NoError(t, err)
	require.Less(t, draft.leaves.bytes, wire.MaxBatchBytes+2*len(reason))
	_, err = draft.Build(proposed())
	require.Equal(t, "payload-too-large", wire.ReasonOf(err))
	require.Contains(t, err.Error(), "leaf 139 (n139): ")
	_, err = build(list(139, large))
	require.NoError(t, err)

	small := limits{fileBytes: 1000, leaves: 10, batchBytes: 1000}
	_, err = parseLeaves(strings.NewReader(list(30, empty)), builtin, 2, small)
	require.ErrorContains(t, err, "the file of leaves is over 1000 bytes")
}

// requests gives payloads as a program would make them, each with its kind and subject.
func drawRequest(t *rapid.T, i int) (subject, kind string, m proto.Message) {
	text := rapid.String().Draw(t, "text")
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return fmt.Sprintf("n%d", i), "node.reimage", &bettercomputev1.ReimageRequest{Image: text, UserData: text + "\n",
			ImageSha256: rapid.SliceOf(rapid.Byte()).Draw(t, "sha"), PreserveMounts: rapid.SliceOf(rapid.String()).Draw(t, "mounts")}
	case 1:
		address := fmt.Sprintf("10.0.%d.%d", i/200, i%200)
		return "bmc:s/" + address, "bmc.boot", &bettercomputev1.BmcOperationRequest{Address: address,
			Operation: &bettercomputev1.BmcOperationRequest_Boot_{Boot: &bettercomputev1.BmcOperationRequest_Boot{Device: text}}}
	case 2:
		target := fmt.Sprintf("t%d", i)
		return "node:" + target, "site.httpProxy", &bettercomputev1.HttpProxyRequest{TargetNodeId: target, Method: "POST", Body: []byte(text),
			Headers: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "headers")}
	case 3:
		return fmt.Sprintf("n%d", i), "node.wipe", &bettercomputev1.WipeRequest{Method: bettercomputev1.WipeRequest_ZERO, AllDevices: rapid.Bool().Draw(t, "all")}
	}
	return fmt.Sprintf("n%d", i), "node.reboot", &bettercomputev1.RebootRequest{GraceSeconds: rapid.Uint32().Draw(t, "grace"), Reason: text}
}

// What is built holds exactly the operations that went in, in whatever order, as JSON or as bytes, and whoever reads it
// sees them.
func TestBuiltIsWhatWentIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var leaves []DraftLeaf
		want := map[string]proto.Message{}
		for i := range rapid.IntRange(1, 12).Draw(t, "leaves") {
			subject, kind, m := drawRequest(t, i)
			want[subject+" "+kind] = m
			l := DraftLeaf{Subject: subject, Kind: kind}
			if _, hasMap := m.(*bettercomputev1.HttpProxyRequest); hasMap || rapid.Bool().Draw(t, "as JSON") {
				l.JSON, _ = protojson.Marshal(m)
			} else {
				l.TypeURL = "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName())
				l.Value, _ = proto.Marshal(m)
			}
			leaves = append(leaves, l)
		}
		first := builtFrom(t, leaves)
		rand.New(rand.NewSource(rapid.Int64().Draw(t, "order"))).Shuffle(len(leaves), func(i, j int) { leaves[i], leaves[j] = leaves[j], leaves[i] })
		require.Equal(t, first.Verified().Scope().Root(), builtFrom(t, leaves).Verified().Scope().Root())
		v := exported(t, first)
		require.Equal(t, len(want), v.Scope().Size())
		for i := range v.Scope().Size() {
			l := v.Leaf(i)
			m := want[l.Subject+" "+l.Kind]
			require.NotNil(t, m, "%s %s was not given", l.Subject, l.Kind)
			have := m.ProtoReflect().New().Interface()
			require.NoError(t, proto.Unmarshal(l.Payload, have))
			require.True(t, proto.Equal(m, have), "%s: %v became %v", l.Subject, m, have)
		}
		subjects := 0
		for _, o := range document(t, v.Decode(), policy(testNow)).Operations {
			subjects += len(o.Subjects)
		}
		require.Equal(t, len(want), subjects)
	})
}

func builtFrom(t require.TestingT, leaves []DraftLeaf) *Decoded {
	d, err := NewDraft(leaves, builtin, 2)
	require.NoError(t, err)
	built, err := d.Build(proposed())
	require.NoError(t, err)
	return built
}
