package quorum

import (
	"bytes"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/wire"
)

// The bounds of an approval as it comes: its bytes, and those of a kid and of a signature, of which good ones have 43 and 64.
const (
	maxApprovalBytes  = 32 << 10
	maxSignatureBytes = 128
)

// Encode gives the approval as the protobuf message bettercompute.v1.BatchApproval, in its one canonical encoding:
//
//	0a batch_id   12 scope_root   18 scope_size   20 not_after   { 2a { 0a kid   12 sig } } …
func (a *Approval) Encode() []byte {
	b := appendBytesField(nil, 1, a.BatchID)
	b = appendBytesField(b, 2, a.ScopeRoot)
	b = appendVarintField(b, 3, a.ScopeSize)
	b = appendVarintField(b, 4, a.NotAfter)
	for _, s := range a.Signatures {
		b = appendElement(b, 5, appendBytesField(appendBytesField(nil, 1, s.KID), 2, s.Sig))
	}
	return b
}

// ParseApproval reads the protobuf message bettercompute.v1.BatchApproval strictly: canonical (WIRE.md §7), so that what
// is taken encodes to the same bytes; a batch id of its form, a root of 32 bytes, a size of 1 to 50,000, an end of at most
// 2^53-1, and at most 64 signatures. A kid or signature in it may be of any form up to 128 bytes: one that is not good
// counts for nothing and spoils nothing. The error is INVALID_INPUT, malformed-approval where root, size or number of
// signatures is at fault.
func ParseApproval(binpb []byte) (*Approval, error) {
	const what = "approval"
	if len(binpb) > maxApprovalBytes {
		return nil, wire.Errorf(wire.InvalidInput, "", "%s: %d bytes; at most %d are read", what, len(binpb), maxApprovalBytes)
	}
	a := new(Approval)
	err := protoFields(what, binpb, func(f protoField) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			a.BatchID = string(f.bytes)
		case f.is(2, protowire.BytesType):
			a.ScopeRoot = bytes.Clone(f.bytes)
		case f.is(3, protowire.VarintType):
			a.ScopeSize = f.varint
		case f.is(4, protowire.VarintType):
			a.NotAfter = f.varint
		case f.is(5, protowire.BytesType):
			if len(a.Signatures) == wire.MaxSignatures {
				return malformedApproval("more than %d signatures", wire.MaxSignatures)
			}
			var s UnverifiedSignature
			s, err = parseSignature(f.bytes)
			a.Signatures = append(a.Signatures, s)
		default:
			return unknownField(what, f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := checkCanonical(what, binpb, a.Encode()); err != nil {
		return nil, err
	}
	if err := a.checkForm(); err != nil {
		return nil, err
	}
	return a, nil
}

func parseSignature(b []byte) (s UnverifiedSignature, err error) {
	const what = "signature of an approval"
	err = protoFields(what, b, func(f protoField) error {
		if len(f.bytes) > maxSignatureBytes {
			return wire.Errorf(wire.InvalidInput, "", "%s: field %d has %d bytes; at most %d are taken", what, f.number, len(f.bytes), maxSignatureBytes)
		}
		switch {
		case f.is(1, protowire.BytesType):
			s.KID = string(f.bytes)
		case f.is(2, protowire.BytesType):
			s.Sig = bytes.Clone(f.bytes)
		default:
			return unknownField(what, f)
		}
		return nil
	})
	if err == nil && !utf8.ValidString(s.KID) {
		err = wire.Errorf(wire.InvalidInput, "", "%s: the kid is not UTF-8", what)
	}
	return s, err
}

// checkForm holds what an approval says of its batch against the forms of WIRE.md §2 and §3.
func (a *Approval) checkForm() error {
	switch {
	case len(a.ScopeRoot) != len(merkle.Hash{}):
		return malformedApproval("the root has %d bytes; %d are wanted", len(a.ScopeRoot), len(merkle.Hash{}))
	case a.ScopeSize < 1 || a.ScopeSize > wire.MaxLeaves:
		return malformedApproval("the size is %d; wanted: 1 to %d", a.ScopeSize, wire.MaxLeaves)
	case len(a.Signatures) > wire.MaxSignatures:
		return malformedApproval("%d signatures; at most %d are taken", len(a.Signatures), wire.MaxSignatures)
	case a.NotAfter > wire.MaxInteger:
		return wire.Errorf(wire.InvalidInput, "", "approval: notAfter is over 2^53-1")
	}
	return wire.CheckID("approval: batch id", a.BatchID)
}

func malformedApproval(format string, args ...any) error {
	return wire.Errorf(wire.InvalidInput, "malformed-approval", "approval: "+format, args...)
}
