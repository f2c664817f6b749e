// Package intent holds what a machine trusts beside its approvers: the trust bundle (WIRE.md §1, §4).
//
// # The messages
//
// A trust bundle is a protobuf message of package bettercompute.v1 in its one canonical encoding (WIRE.md §7); any other
// is refused, so what ParseTrustBundle takes encodes to the same bytes.
//
//	TrustBundle {
//	  uint64 version = 1;                          1 to 2^53-1; follows the content
//	  repeated bytes command_signing_roots = 2;    1 to 16, distinct; X.509 DER of certificate authorities
//	  repeated ApproverKey approver_keys = 3;      the quorum part: 3 to 8
//	  uint32 approver_threshold = 4;
//	  repeated QuorumTier quorum_tiers = 5;
//	  uint32 unbatched_destructive_per_hour = 6;
//	  repeated Signature approver_set_signatures = 7;
//	  uint64 approver_set_epoch = 8;
//	}
//	SignedTrustBundle { bytes bundle = 1; Signature signature = 2; }
//
// The JoinService's signing key signs the bundle as it is sent, with purpose trust-bundle and the trust domain:
//
//	lp("better-compute/v1") ‖ lp("trust-bundle") ‖ lp(bundle) ‖ lp(trust domain)
//
// That key is the control plane's, so it is a crypto.Signer, in a file or on a token (hsm's NonApproverSigner), and never
// an approver's: that one signs statements only.
//
// # Two judgements
//
// Roots and version follow the newest bundle that verifies. The quorum does not: the key that signs bundles must not be
// what changes the approvers, so a set is taken by its own rule (quorum.Holder.Take). A set that is refused, malformed ones
// included, leaves the quorum as it is, while roots and version apply. A BundleHolder keeps both and judges them apart.
//
// # The version follows the content
//
// A machine takes only what is newer, so a changed bundle needs a higher version, and one that was replaced must not come
// back under a higher one, as a replica with an old configuration would bring it. History is what a publisher keeps for
// that: every content published, with its version. The content is ContentDigest,
//
//	SHA-256( u32(roots) ‖ { SHA-256(root DER) } ascending ‖ lp(approver_set_input) ‖ u64(epoch)
//	         ‖ u32(signatures) ‖ { lp(kid) ‖ lp(sig) } ascending )
//
// with epoch and signatures of the set, for a set that gets its signatures later must reach the machines, too.
//
// # Worked example
//
// A bundle of one root, without a quorum, at version 1 is
//
//	08 01            field 1, varint, 1
//	12 e4 02 30 82…  field 2, 356 bytes of X.509 DER
//
// It is published, signed, verified on a machine, and taken:
//
//	bundle, err := intent.NewTrustBundle(1, roots, quorum.Offer{Set: set, Epoch: 2, Signatures: signatures})
//	publication, history, err := history.Publish(bundle.ContentDigest(), 0)
//	bundle, err = bundle.WithVersion(publication.Version)
//	signed, err := intent.Sign(ctx, bundle, "compute.example.com", joinSigner)
//
//	signed, err := intent.ParseSignedTrustBundle(received)
//	verified, err := signed.Verify(joinKey, "compute.example.com")
//	holder, judgement := holder.Take(verified)   // judgement.Bundle taken, judgement.Quorum refused: approver-set-unsigned
//
// A new field is refused by the builds before it: it comes with a new message, or once every machine reads it.
package intent
