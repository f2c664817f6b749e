// Package quorum holds approver keys, what they sign, and when enough of them have signed (WIRE.md §1 to §5).
//
// # What a key signs
//
// An approver's key is a point of P-256 in one encoding of 91 bytes, named by its kid: base64url of the SHA-256 of these
// bytes. It signs a Statement, a purpose and its parts, by ECDSA over the SHA-256 of
//
//	lp("better-compute/v1") ‖ lp(purpose) ‖ lp(parts[0]) ‖ … ‖ lp(parts[n-1])
//
// and a signature is r ‖ s, 64 bytes. A Signer signs statements and is no crypto.Signer, so there is no way to have it sign
// bytes; and a Statement of a batch comes from a Scope, whose root was computed from its leaves, as one of a set comes from
// the Set. Unchecked, for a bare root, is the one exception; it is marked, and no review is made of it.
//
// A batch is approved (Scope.Approval) or declined (Scope.Decline), a set is put in force from an epoch on
// (ApproverSetChange), each under a purpose of its own, so that a signature for one is none for another.
//
// # When enough have signed
//
// A Scope is the RFC 6962 tree over the leaf hashes of a batch, in ascending order. An Approval of it holds for a Set when
// the window is open and at least RequiredApprovals distinct keys of the set have a valid signature under the verifier's
// own trust domain. A kid outside the set, one that is there twice and a signature that does not verify count for nothing
// and spoil nothing; both halves of s verify, so what is counted is kids, never signatures.
//
// # What a machine holds
//
// A Holder is a machine's set with its epoch, or none; an Offer is the quorum part of a trust bundle. Take is the table of
// WIRE.md §4: a set is replaced only by one that its own threshold of its own keys signed, for a higher epoch and the
// machine's own trust domain. A machine without a set takes any first one, or the one it is pinned to. Epochs never go
// back, and never come again. A BatchedCommand is what the machine then asks: do this approval and this proof admit it?
//
// # Worked example
//
// A set of three keys, threshold 2, tier 5:1, and a batch of six leaves:
//
//	set, err := quorum.NewSet(quorum.SetDraft{Keys: keys, Threshold: 2, Tiers: []quorum.Tier{{MaxScopeSize: 5, Threshold: 1}}})
//	set.RequiredApprovals(5)                     // 1
//	set.RequiredApprovals(6)                     // 2
//	scope, err := quorum.NewScope("batch_01k0", entries)
//	statement, err := scope.Approval(1790000000000, "compute.example.com")
//	signature, err := key.Sign(ctx, statement)   // in core/ceremony, after a review was accepted
//	approval := quorum.Approval{BatchID: "batch_01k0", ScopeRoot: root[:], ScopeSize: 6, NotAfter: 1790000000000, Signatures: …}
//	kids, err := approval.Verify(set, "compute.example.com", now)
//
// The two of the set put another in its place, and a machine that holds it at epoch 1 takes that:
//
//	change, err := quorum.ApproverSetChange(2, next, "compute.example.com")
//	machine, err := quorum.NewHolder(quorum.HolderDraft{Set: set, Epoch: 1, TrustDomain: "compute.example.com"})
//	machine, taken, err := machine.Take(quorum.Offer{Set: next, Epoch: 2, Signatures: …}) // quorum.TookSet
//
// # Files
//
// A batch signature (SignatureFile), a decline (DeclineFile), a combined approval (ApprovalFile), an inclusion proof
// (ProofFile), the proof that a new key's holder has it (PATH.proof), an unsigned approver set and an approver-set
// signature (SetSignatureFile) each are one line or a few of compact JSON, read strictly by wire.DecodeJSON. A format
// changes by a new version number; a build names the versions it reads, and writes the oldest that carries what it needs.
//
// # Protobuf
//
// A machine is sent the same in protobuf, as messages of package bettercompute.v1, in their one canonical encoding
// (WIRE.md §7); any other is refused, so what ParseApproval and ParseProof take encodes to the same bytes.
//
//	BatchApproval { string batch_id = 1; bytes scope_root = 2; uint32 scope_size = 3; uint64 not_after = 4;
//	                repeated Signature { string kid = 1; bytes sig = 2; } signatures = 5; }
//	BatchProof    { uint32 index = 1; repeated bytes siblings = 2; }
//
// The proof of the last of three leaves whose hashes are x, y, z is
//
//	08 02        field 1, varint, 2
//	12 20 …      field 2, 32 bytes: node(x, y); z is promoted past the level below
package quorum
