package quorum_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// combined gives an approval of two signatures, which nobody made, for a batch id.
func combined(t testing.TB, batchID string) *quorum.ApprovalFile {
	scope, err := quorum.NewScope(batchID, []quorum.Entry{{Subject: "a", Kind: "node.wipe"}})
	require.NoError(t, err)
	statement, err := scope.Approval(1790000000000, "compute.example.com")
	require.NoError(t, err)
	f, err := quorum.NewApprovalFile(statement, []quorum.Signature{
		{KID: publicKey(t, "bob").KID(), Sig: quorum.Sig(bytes.Repeat([]byte{0xfb}, 64))}, {KID: publicKey(t, "alice").KID(), Sig: quorum.Sig{1}},
	})
	require.NoError(t, err)
	return f
}

// Google's library reads what we write, and writes it so.
func TestProtobufIsThatOfTheSchema(t *testing.T) {
	a := combined(t, "batch_01k0").Approval
	var m bettercomputev1.BatchApproval
	require.NoError(t, proto.Unmarshal(a.Encode(), &m))
	require.Empty(t, m.ProtoReflect().GetUnknown())
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(&m)
	require.NoError(t, err)
	require.Equal(t, a.Encode(), again)
	require.Equal(t, []any{a.BatchID, a.ScopeRoot, a.ScopeSize, a.NotAfter}, []any{m.BatchId, m.ScopeRoot, uint64(m.ScopeSize), m.NotAfter})
	for i, s := range m.Signatures {
		require.Equal(t, a.Signatures[i], quorum.UnverifiedSignature{KID: s.Kid, Sig: s.Sig})
	}
	for _, tree := range golden.Trees() {
		for _, v := range tree.Proofs {
			p := &bettercomputev1.BatchProof{Index: uint32(v.Index)}
			for _, s := range v.Siblings {
				p.Siblings = append(p.Siblings, unhex(t, s))
			}
			b, err := proto.Marshal(p)
			require.NoError(t, err)
			read, err := quorum.ParseProof(b)
			require.NoError(t, err)
			require.Equal(t, string(b), string(quorum.EncodeProof(read)), "the proof of the only leaf is the empty message")
		}
	}
}

// The three forms of what is handed over are told apart by what is in them, whatever length a batch id has: its length
// stands where JSON has its brace.
func TestSubmissionsAreToldApart(t *testing.T) {
	for n := 1; n <= wire.MaxIDBytes; n++ {
		f := combined(t, strings.Repeat("b", n))
		fromBinary, err := quorum.ParseSubmission(f.Approval.Encode())
		require.NoError(t, err, "a batch id of %d bytes", n)
		require.Empty(t, cmp.Diff(&quorum.Submission{Approval: f.Approval, Combined: true}, fromBinary))
		fromJSON, err := quorum.ParseSubmission(append([]byte("\r\n\t "), f.Encode()...))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(&quorum.Submission{Approval: f.Approval, TrustDomain: f.TrustDomain, Combined: true}, fromJSON))
	}
	signature := quorum.SignatureFile{KID: publicKey(t, "bob").KID(), BatchID: "b", ScopeSize: 3, NotAfter: 4, TrustDomain: "d", Unchecked: true}
	fromFile, err := quorum.ParseSubmission(signature.Encode())
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(signature.Submission(), fromFile))
	require.True(t, fromFile.Unchecked)
	for name, data := range map[string]string{
		"nothing": "", "a brace": "{", "a list": "[]", "an object": "{}", "text": "hello", "a decline": `{"format":"better-compute-batch-decline","version":1}`,
		"a scope": `{"format":"better-compute-batch-scope"}`, "a format twice": `{"format":"better-compute-batch-approval","format":"better-compute-batch-approval"}`,
	} {
		s, err := quorum.ParseSubmission([]byte(data))
		require.Nil(t, s, name)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
	}
}

func TestNewApprovalFile(t *testing.T) {
	f := combined(t, "b")
	require.Less(t, f.Approval.Signatures[0].KID, f.Approval.Signatures[1].KID)
	scope, err := quorum.NewScope("b", []quorum.Entry{{Subject: "a", Kind: "node.wipe"}})
	require.NoError(t, err)
	statement, err := scope.Approval(1790000000000, "compute.example.com")
	require.NoError(t, err)
	alice := quorum.Signature{KID: publicKey(t, "alice").KID()}
	_, err = quorum.NewApprovalFile(statement, []quorum.Signature{alice, alice})
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	require.Panics(t, func() { quorum.NewApprovalFile(quorum.ProofOfKey(publicKey(t, "alice")), nil) })
	read, err := quorum.ParseApprovalFile(f.Encode())
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(f, read))
	require.Equal(t, 4, bytes.Count(f.Encode(), []byte("\n")), "one signature a line")
}

// changed encodes an approval after a change.
func changed(a quorum.Approval, change func(*quorum.Approval)) []byte {
	change(&a)
	return a.Encode()
}

// Each mutation breaks one rule of the canonical form, or one bound.
func TestParseApprovalRefuses(t *testing.T) {
	good := combined(t, "b").Approval
	encoded := hex.EncodeToString(good.Encode())
	edit := func(old, replacement string) []byte {
		require.Equal(t, 1, strings.Count(encoded, old), old)
		return unhex(t, strings.Replace(encoded, old, replacement, 1))
	}
	with := func(change func(*quorum.Approval)) []byte { return changed(good, change) }
	end := "20" + hex.EncodeToString(protowire.AppendVarint(nil, good.NotAfter)) // field 4
	sig := good.Signatures[0]
	for name, c := range map[string]struct {
		data   []byte
		reason string
	}{
		"an unknown field":           {append(good.Encode(), 0x30, 1), ""},
		"an unknown wire type":       {append(good.Encode(), 0x31, 1, 2, 3, 4, 5, 6, 7, 8), ""},
		"a group":                    {append(good.Encode(), 0x33, 0x34), ""},
		"a field twice":              {edit("0a0162", "0a01620a0162"), ""},
		"another order":              {edit("1801"+end, end+"1801"), ""},
		"a size that is not minimal": {edit("1801"+end, "188100"+end), ""},
		"a default written":          {edit("1801"+end, "1800"+end), ""},
		"a size in another type":     {edit("1801"+end, "1a0101"+end), ""},
		"a tag that is not minimal":  {edit("1801"+end, "980001"+end), ""},
		"field number 0":             {append([]byte{0x00, 0x01}, good.Encode()...), ""},
		"cut off":                    {good.Encode()[:50], ""},
		"a field of a signature":     {appendSignature(good.Encode(), "1801"), ""},
		"a signature's order":        {appendSignature(good.Encode(), "12010a0a0161"), ""},
		"an empty kid written":       {appendSignature(good.Encode(), "0a00120101"), ""},
		"a kid that is not UTF-8":    {appendSignature(good.Encode(), "0a01ff120101"), ""},
		"a kid of 129 bytes":         {with(func(a *quorum.Approval) { a.Signatures = []quorum.UnverifiedSignature{{KID: strings.Repeat("k", 129)}} }), ""},
		"a signature of 129 bytes":   {with(func(a *quorum.Approval) { a.Signatures = []quorum.UnverifiedSignature{{Sig: make([]byte, 129)}} }), ""},
		"no batch id":                {with(func(a *quorum.Approval) { a.BatchID = "" }), ""},
		"a batch id of 129 bytes":    {with(func(a *quorum.Approval) { a.BatchID = strings.Repeat("b", 129) }), ""},
		"a batch id with a space":    {with(func(a *quorum.Approval) { a.BatchID = "a b" }), ""},
		"an end over 2^53-1":         {with(func(a *quorum.Approval) { a.NotAfter = 1 << 53 }), ""},
		"a root of 31 bytes":         {with(func(a *quorum.Approval) { a.ScopeRoot = a.ScopeRoot[:31] }), "malformed-approval"},
		"no root":                    {with(func(a *quorum.Approval) { a.ScopeRoot = nil }), "malformed-approval"},
		"no size":                    {with(func(a *quorum.Approval) { a.ScopeSize = 0 }), "malformed-approval"},
		"size 50,001":                {with(func(a *quorum.Approval) { a.ScopeSize = 50_001 }), "malformed-approval"},
		"a size over 32 bits":        {with(func(a *quorum.Approval) { a.ScopeSize = 1<<32 + 1 }), "malformed-approval"},
		"65 signatures":              {with(func(a *quorum.Approval) { a.Signatures = repeat(sig, 65) }), "malformed-approval"},
		"over 32 KiB":                {append([]byte{0x0a, 0x80, 0x80, 0x02}, make([]byte, 32<<10)...), ""},
	} {
		a, err := quorum.ParseApproval(c.data)
		require.Nil(t, a, name)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
		require.Equal(t, c.reason, wire.ReasonOf(err), "%s: %v", name, err)
	}
}

func TestParseApprovalTakes(t *testing.T) {
	good := combined(t, "b").Approval
	with := func(change func(*quorum.Approval)) []byte { return changed(good, change) }
	for name, data := range map[string][]byte{
		"as it is": good.Encode(), "no signatures": with(func(a *quorum.Approval) { a.Signatures = nil }), "no end": with(func(a *quorum.Approval) { a.NotAfter = 0 }),
		"a kid of any form": appendSignature(good.Encode(), "0a0161120101"), "an empty signature": appendSignature(good.Encode(), ""),
		"a kid twice": appendSignature(good.Encode(), hex.EncodeToString(good.Encode()[len(good.Encode())-111:])),
		"64 signatures, each at its longest": with(func(a *quorum.Approval) {
			a.BatchID = strings.Repeat("b", 128)
			a.Signatures = repeat(quorum.UnverifiedSignature{KID: strings.Repeat("k", 128), Sig: make([]byte, 128)}, 64)
		}),
	} {
		a, err := quorum.ParseApproval(data)
		require.NoError(t, err, name)
		require.Equal(t, data, a.Encode(), name)
	}
}

func repeat(s quorum.UnverifiedSignature, n int) (list []quorum.UnverifiedSignature) {
	for range n {
		list = append(list, s)
	}
	return list
}

// appendSignature adds a signature whose bytes are given in hex.
func appendSignature(b []byte, content string) []byte {
	raw, err := hex.DecodeString(content)
	if err != nil {
		panic(err)
	}
	return protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), raw)
}

// What is neither form is told so, and not in terms of protobuf.
func TestSubmissionsThatAreNeitherForm(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "the file is empty",
		"\xef\xbb\xbf{\"format\":\"x\"}": "neither a JSON object",
		"-----BEGIN PUBLIC KEY-----\n":   "neither a JSON object",
		"[1]":                            "neither a JSON object",
		"\x12\x20":                       "neither a JSON object",
		"\x0a\x01":                       "approval",
	} {
		_, err := quorum.ParseSubmission([]byte(text))
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%q", text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}
