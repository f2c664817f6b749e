package quorum_test

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/golden"
)

// A dealer gives small numbers out of fuzz bytes, 0 once they are used up.
type dealer struct{ data []byte }

func (d *dealer) below(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	c := d.data[0]
	d.data = d.data[1:]
	return int(c) % n
}

// message makes a BatchApproval field by field, most of them good, and damages it where the bytes say so.
func (d *dealer) message() []byte {
	damage := d.data[:min(4, len(d.data))]
	d.data = d.data[len(damage):]
	field := func(b []byte, number protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
	}
	b := field(nil, 1, []byte(strings.Repeat("b", 1+d.below(128))))
	b = field(b, 2, make([]byte, 32-d.below(40)/39))
	b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(1+d.below(200)))
	if end := d.below(9); end > 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.VarintType), 1<<(7*end))
	}
	for range d.below(66) {
		var s []byte
		if n := d.below(130); n > 0 {
			s = field(s, 1, bytes.Repeat([]byte{'A' + byte(n%26)}, n))
		}
		if n := d.below(66); n > 0 {
			s = field(s, 2, bytes.Repeat([]byte{byte(n)}, n))
		}
		b = field(b, 5, s)
	}
	return vary(string(b), damage)
}

// FuzzApproval reads approvals in protobuf: what is taken encodes to the same bytes, reads alike with Google's library, and
// is handed over as the same.
func FuzzApproval(f *testing.F) {
	for i := range uint8(40) {
		f.Add(bytes.Repeat([]byte{i, 3 * i, 1}, int(i)))
	}
	for _, v := range golden.CombinedApprovals().Messages[:3] {
		f.Add(golden.Base64(v.Binpb))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) {
		message := (&dealer{data}).message()
		a, err := quorum.ParseApproval(message)
		count(t, &b, err == nil)
		if err != nil {
			return
		}
		if !bytes.Equal(a.Encode(), message) {
			t.Fatalf("%x is written as %x", message, a.Encode())
		}
		var m bettercomputev1.BatchApproval
		if err := proto.Unmarshal(message, &m); err != nil || len(m.ProtoReflect().GetUnknown()) > 0 || len(m.Signatures) != len(a.Signatures) ||
			m.BatchId != a.BatchID || uint64(m.ScopeSize) != a.ScopeSize || m.NotAfter != a.NotAfter {
			t.Fatalf("%x reads otherwise elsewhere: %v", message, err)
		}
		s, err := quorum.ParseSubmission(message)
		if err != nil || !s.Combined || !bytes.Equal(s.Approval.Encode(), message) {
			t.Fatalf("%x is handed over otherwise: %v", message, err)
		}
	})
}

// FuzzProof reads proofs in protobuf: what is taken encodes to the same bytes.
func FuzzProof(f *testing.F) {
	for i := range uint8(40) {
		f.Add(i, []byte{i, 1, i, i})
	}
	good := golden.BatchProofs().Messages
	var b golden.Balance
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		v := good[int(which)%len(good)]
		if !v.OK() || v.Binpb == "" {
			v = good[len(good)/3]
		}
		message := vary(string(golden.Base64(v.Binpb)), data)
		p, err := quorum.ParseProof(message)
		count(t, &b, err == nil)
		if err == nil && string(quorum.EncodeProof(p)) != string(message) {
			t.Fatalf("%x is written as %x", message, quorum.EncodeProof(p))
		}
	})
}

// FuzzCombinedFiles reads the JSON files of combined approvals, proofs and signatures over sets, damaged here and there:
// what is taken reads the same once it is written again, and is written the same from then on.
func FuzzCombinedFiles(f *testing.F) {
	for i := range uint8(30) {
		f.Add(i, []byte(strings.Repeat(string(rune(i)), int(i))))
	}
	var approvals, proofs, signatures []string
	for _, v := range golden.CombinedApprovals().Files {
		if v.OK() && v.Name != "64 signatures" {
			approvals = append(approvals, string(v.Bytes()))
		}
	}
	for _, v := range golden.BatchProofs().Files {
		if v.OK() {
			proofs = append(proofs, string(v.Bytes()))
		}
	}
	for _, v := range golden.SetDigests().Signatures {
		if v.OK() {
			signatures = append(signatures, string(v.Bytes()))
		}
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		pick := func(files []string) []byte { return vary(files[int(which/3)%len(files)], data) }
		type encoder interface{ Encode() []byte }
		var read func([]byte) (encoder, error)
		var file []byte
		switch which % 3 {
		case 0:
			file, read = pick(approvals), func(b []byte) (encoder, error) { return quorum.ParseApprovalFile(b) }
		case 1:
			file, read = pick(proofs), func(b []byte) (encoder, error) { return quorum.ParseProofFile(b) }
		case 2:
			file, read = pick(signatures), func(b []byte) (encoder, error) { return quorum.ParseSetSignatureFile(b) }
		}
		first, err := read(file)
		count(t, &b, err == nil)
		if err != nil {
			return
		}
		again, err := read(first.Encode())
		if err != nil || !bytes.Equal(first.Encode(), again.Encode()) {
			t.Fatalf("%s is written as %s: %v", file, first.Encode(), err)
		}
	})
}
