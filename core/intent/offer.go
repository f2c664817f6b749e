package intent

import (
	"bytes"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// Offer gives what the bundle says of the approver set, for quorum.Holder.Take: fields 3 to 8. A bundle with none of them
// says nothing of a set, and gives the zero Offer; a removal has an epoch. The error is INVALID_INPUT, malformed-set,
// where a rule of WIRE.md §3 or the epoch's bounds are broken; it concerns the set alone.
func (b *TrustBundle) Offer() (quorum.Offer, error) {
	m := b.fields()
	if saysNothingOfASet(m) {
		return quorum.Offer{}, nil
	}
	if m.ApproverSetEpoch < 1 || m.ApproverSetEpoch > wire.MaxInteger {
		return quorum.Offer{}, malformedSet("epoch %d; wanted: 1 to 2^53-1", m.ApproverSetEpoch)
	}
	set, err := setOf(m)
	if err != nil {
		return quorum.Offer{}, err
	}
	o := quorum.Offer{Set: set, Epoch: m.ApproverSetEpoch}
	for _, s := range m.ApproverSetSignatures {
		o.Signatures = append(o.Signatures, quorum.UnverifiedSignature{KID: s.Kid, Sig: bytes.Clone(s.Sig)})
	}
	return o, nil
}

func saysNothingOfASet(m *bettercomputev1.TrustBundle) bool {
	return len(m.ApproverKeys) == 0 && m.ApproverThreshold == 0 && len(m.QuorumTiers) == 0 &&
		m.UnbatchedDestructivePerHour == 0 && len(m.ApproverSetSignatures) == 0 && m.ApproverSetEpoch == 0
}

func setOf(m *bettercomputev1.TrustBundle) (*quorum.Set, error) {
	if len(m.ApproverKeys) > wire.MaxKeys { // before any of them is read
		return nil, malformedSet("%d keys; at most %d are taken", len(m.ApproverKeys), wire.MaxKeys)
	}
	d := quorum.SetDraft{Threshold: m.ApproverThreshold, UnbatchedPerHour: m.UnbatchedDestructivePerHour}
	for i, k := range m.ApproverKeys {
		key, err := quorum.ParsePublicKey(k.SpkiDer)
		switch {
		case err != nil:
			return nil, malformedSet("key %d: %s", i, wire.MessageOf(err))
		case key.KID().String() != k.Kid:
			return nil, malformedSet("the key of kid %s stands under kid %q", key.KID(), k.Kid)
		}
		d.Keys = append(d.Keys, key)
	}
	for _, t := range m.QuorumTiers {
		d.Tiers = append(d.Tiers, quorum.Tier{MaxScopeSize: t.MaxScopeSize, Threshold: t.Threshold})
	}
	return quorum.NewSet(d)
}

func malformedSet(format string, args ...any) error {
	return wire.Errorf(wire.InvalidInput, "malformed-set", "trust bundle: approver set: "+format, args...)
}

// putOffer writes an offer into a message, its signatures in their form: a kid and 64 bytes.
func putOffer(m *bettercomputev1.TrustBundle, o quorum.Offer) error {
	m.ApproverSetEpoch = o.Epoch
	if o.Set == nil {
		if o.Epoch != 0 || len(o.Signatures) != 0 {
			return malformedSet("there is none beside its epoch or signatures")
		}
		return nil
	}
	if o.Epoch == 0 { // a removal at epoch 0 would be written as nothing at all
		return malformedSet("epoch 0; wanted: 1 to 2^53-1")
	}
	m.ApproverThreshold, m.UnbatchedDestructivePerHour = o.Set.Threshold(), o.Set.UnbatchedPerHour()
	for _, k := range o.Set.Keys() {
		m.ApproverKeys = append(m.ApproverKeys, &bettercomputev1.ApproverKey{Kid: k.KID().String(), SpkiDer: k.SPKI()})
	}
	for _, t := range o.Set.Tiers() {
		m.QuorumTiers = append(m.QuorumTiers, &bettercomputev1.QuorumTier{MaxScopeSize: t.MaxScopeSize, Threshold: t.Threshold})
	}
	for i, s := range o.Signatures {
		if _, err := quorum.ParseKID(s.KID); err != nil || len(s.Sig) != quorum.SigBytes {
			return malformedSet("signature %d: wanted: a kid and %d bytes", i, quorum.SigBytes)
		}
		m.ApproverSetSignatures = append(m.ApproverSetSignatures, &bettercomputev1.Signature{Kid: s.KID, Sig: bytes.Clone(s.Sig)})
	}
	return nil
}
