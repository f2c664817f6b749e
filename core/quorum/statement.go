package quorum

import (
	"bytes"
	"context"
	"crypto/sha256"

	"github.com/better-compute/approver/core/wire"
)

// A Purpose is what an approver key signs for; it stands in the signing input, so a signature for one purpose is none for
// another (WIRE.md §1).
type Purpose string

// The purposes of an approver key.
const (
	PurposeBatchApproval Purpose = "batch-approval"
	PurposeBatchDecline  Purpose = "batch-decline"
	PurposeApproverSet   Purpose = "approver-set"
	PurposeApproverKey   Purpose = "approver-key"
	PurposeKeyTrial      Purpose = "key-trial"
)

// A Statement is a purpose and its parts, what an approver key can sign. Only this package makes one, each from what its
// purpose demands: an approval or a decline from a Scope whose root was computed (Scope.Approval, Scope.Decline), or an
// approval from a bare root by Unchecked; a change of the approver set from the whole Set (ApproverSetChange).
// The zero Statement states nothing and no Signer signs it.
type Statement struct {
	purpose   Purpose
	parts     [][]byte
	unchecked bool // of a bare root that nobody reviewed; no part of what is signed
	set       *Set // of a change of the approver set, of which only the digest is signed
}

// Purpose gives what the statement is for, or "" for the zero Statement.
func (s Statement) Purpose() Purpose { return s.purpose }

// Input gives the signing input (WIRE.md §1), a new slice.
func (s Statement) Input() []byte { return wire.SigningInput(string(s.purpose), s.parts...) }

// Digest gives the SHA-256 of the signing input, the 32 bytes that ECDSA signs.
func (s Statement) Digest() [sha256.Size]byte { return sha256.Sum256(s.Input()) }

// Root gives the 32 bytes that stand for what was reviewed: the root of the scope that is approved or declined, or the
// digest of the set that is to be in force. ok is false for a statement of another purpose.
func (s Statement) Root() (root [sha256.Size]byte, ok bool) {
	switch s.purpose {
	case PurposeBatchApproval, PurposeBatchDecline, PurposeApproverSet:
		return [sha256.Size]byte(s.parts[1]), true
	}
	return root, false
}

// ProofOfKey is the statement by which a new key shows that its holder has it; its signature stands in PATH.proof
// (WIRE.md §5).
func ProofOfKey(key PublicKey) Statement {
	return Statement{purpose: PurposeApproverKey, parts: [][]byte{[]byte(key.KID().String())}}
}

// KeyTrial is a statement that proves nothing but that a key works: its kid and 32 random bytes.
func KeyTrial(key PublicKey, nonce [32]byte) Statement {
	return Statement{purpose: PurposeKeyTrial, parts: [][]byte{[]byte(key.KID().String()), bytes.Clone(nonce[:])}}
}

// A Signer is an approver's key, in a file or on a token. It signs statements and nothing else; it is never handed out as
// a crypto.Signer (WIRE.md §1).
type Signer interface {
	// Public gives the public half that was expected of the key, or, where nothing was expected, the one found with it.
	Public() PublicKey
	// Sign signs the statement's digest and returns only a signature that verified under Public. Errors are
	// KEY_UNAVAILABLE; the zero Statement is refused.
	Sign(ctx context.Context, s Statement) (Signature, error)
}
