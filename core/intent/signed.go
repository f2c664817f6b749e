package intent

import (
	"bytes"
	"context"
	"crypto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// purposeTrustBundle is what the JoinService's key signs a bundle for (WIRE.md §1).
const purposeTrustBundle = "trust-bundle"

// maxEnvelopeBytes is more than the tags, lengths, kid and signature around a bundle come to.
const maxEnvelopeBytes = 1 << 10

// A SignedTrustBundle is a bundle as it is sent and a signature, nothing of it verified.
type SignedTrustBundle struct {
	bundle    []byte // TrustBundle, as sent: these bytes are signed
	signature quorum.UnverifiedSignature
}

// Sign signs a bundle for the machines of a trust domain, by the JoinService's P-256 key, which has no other job: one that
// is an approver's in the bundle is refused with INVALID_CONFIG. The signature verified before it is given out. Other
// errors: INVALID_INPUT for the trust domain, UNSUPPORTED for another kind of key, KEY_UNAVAILABLE. A crypto.Signer takes
// no context: ctx is looked at before the key is asked.
func Sign(ctx context.Context, b *TrustBundle, trustDomain string, signer crypto.Signer) (*SignedTrustBundle, error) {
	if err := wire.CheckTrustDomain("trust domain", trustDomain); err != nil {
		return nil, err
	}
	if b.Version() == 0 {
		return nil, wire.Errorf(wire.InvalidInput, "", "there is no trust bundle to sign")
	}
	key, err := publicOf(signer)
	if err != nil {
		return nil, err
	}
	if err := b.checkOneJob(key); err != nil {
		return nil, err
	}
	s := &SignedTrustBundle{bundle: b.Encode()}
	sig, err := sign(ctx, signer, key, s.input(trustDomain))
	if err != nil {
		return nil, err
	}
	s.signature = quorum.UnverifiedSignature{KID: key.KID().String(), Sig: sig}
	return s, nil
}

// checkOneJob refuses a bundle that makes the JoinService's own key an approver: whoever has it could then approve what it sends.
func (b *TrustBundle) checkOneJob(join quorum.PublicKey) error {
	for _, k := range b.fields().ApproverKeys {
		if k.Kid == join.KID().String() || bytes.Equal(k.SpkiDer, join.SPKI()) {
			return wire.Errorf(wire.InvalidConfig, "", "the JoinService's signing key %s is an approver of the bundle; a key has one job", join.KID())
		}
	}
	return nil
}

func (s *SignedTrustBundle) input(trustDomain string) []byte {
	return wire.SigningInput(purposeTrustBundle, s.bundle, []byte(trustDomain))
}

// ParseSignedTrustBundle reads the protobuf message SignedTrustBundle strictly: bounded, canonical, with a bundle and a
// signature of any bytes. The bundle is not looked at before Verify. The error is INVALID_INPUT.
func ParseSignedTrustBundle(binpb []byte) (*SignedTrustBundle, error) {
	const what = "signed trust bundle"
	m := new(bettercomputev1.SignedTrustBundle)
	if err := readMessage(what, MaxBundleBytes+maxEnvelopeBytes, binpb, m); err != nil {
		return nil, err
	}
	if len(m.Bundle) == 0 || m.Signature == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "%s: it has no bundle or no signature", what)
	}
	return &SignedTrustBundle{m.Bundle, quorum.UnverifiedSignature{KID: m.Signature.Kid, Sig: m.Signature.Sig}}, nil
}

// Encode gives the protobuf message SignedTrustBundle in its one canonical encoding.
func (s *SignedTrustBundle) Encode() []byte {
	if s == nil {
		return nil
	}
	return writeMessage(&bettercomputev1.SignedTrustBundle{
		Bundle: s.bundle, Signature: &bettercomputev1.Signature{Kid: s.signature.KID, Sig: s.signature.Sig},
	})
}

// UnverifiedBundle gives the bundle's bytes as they were sent; whoever has not verified them knows nothing of them.
func (s *SignedTrustBundle) UnverifiedBundle() []byte {
	if s == nil {
		return nil
	}
	return bytes.Clone(s.bundle)
}

// A VerifiedBundle is a bundle that the JoinService's key signed for a trust domain. Only Verify makes one.
type VerifiedBundle struct {
	bundle      *TrustBundle
	trustDomain string
}

// Bundle gives the bundle.
func (v *VerifiedBundle) Bundle() *TrustBundle {
	if v == nil {
		return nil
	}
	return v.bundle
}

// TrustDomain gives the trust domain it was verified under, the verifier's own.
func (v *VerifiedBundle) TrustDomain() string {
	if v == nil {
		return ""
	}
	return v.trustDomain
}

// Verify gives the bundle where joinKey, the JoinService's signing key as the verifier has pinned it, signed it for the
// verifier's own trust domain. Errors: ACCESS_DENIED, untrusted-signer for another key's kid (details expected, found), bad-signature;
// INVALID_INPUT for the trust domain, and for a bundle that is signed and not of its form; INVALID_CONFIG for one that makes
// joinKey an approver, which Sign would not have signed: none of it is used, so that roots and quorum stay as they were.
func (s *SignedTrustBundle) Verify(joinKey quorum.PublicKey, trustDomain string) (*VerifiedBundle, error) {
	if err := wire.CheckTrustDomain("trust domain", trustDomain); err != nil {
		return nil, err
	}
	if s == nil {
		return nil, wire.Errorf(wire.AccessDenied, "bad-signature", "there is no signed trust bundle")
	}
	if joinKey.IsZero() || s.signature.KID != joinKey.KID().String() {
		return nil, wire.Errorf(wire.AccessDenied, "untrusted-signer", "the trust bundle is signed by key %q; the JoinService's is %s", s.signature.KID, joinKey.KID()).
			With("expected", joinKey.KID()).With("found", s.signature.KID)
	}
	if !verifies(joinKey, s.input(trustDomain), s.signature.Sig) {
		return nil, wire.Errorf(wire.AccessDenied, "bad-signature",
			"the trust bundle's signature by key %s does not verify for trust domain %s: it is of other bytes, or for another domain or purpose", joinKey.KID(), trustDomain)
	}
	b, err := ParseTrustBundle(s.bundle)
	if err != nil {
		return nil, err
	}
	if err := b.checkOneJob(joinKey); err != nil {
		return nil, err
	}
	return &VerifiedBundle{b, trustDomain}, nil
}
