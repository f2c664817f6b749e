package approvers

import (
	"encoding/hex"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// held is a Change whose parts do not contradict each other.
type held struct {
	*Change
	before      *quorum.Set // what Next replaces; nil where that is not known, or nothing is replaced
	same        bool        // Next is the current set at the current epoch
	trustDomain string
	pinned      bool // the trust domain is the approver's own
	statement   quorum.Statement
	proven      map[quorum.KID]string // what shows of a key that its holder has it
}

func (c *Change) held() (h *held, err error) {
	h = &held{Change: c, before: c.Current}
	if err := h.settleTrustDomain(); err != nil {
		return nil, err
	}
	if h.statement, err = quorum.ApproverSetChange(c.Epoch, c.Next, h.trustDomain); err != nil {
		return nil, err
	}
	if err := h.checkSignatures(); err != nil {
		return nil, err
	}
	if err := h.checkEpoch(); err != nil {
		return nil, err
	}
	if err := h.verifySignatures(); err != nil {
		return nil, err
	}
	return h, h.readProofs()
}

func (h *held) settleTrustDomain() error {
	own, file := h.TrustDomain, h.FileTrustDomain
	switch h.pinned, h.trustDomain = own != "", own; {
	case h.pinned && file != "" && file != own:
		return wire.Errorf(wire.TrustDomainMismatch, "", "the file is for trust domain %q, yours is %q", file, own).
			With("file", file).With("own", own)
	case !h.pinned && file == "":
		return wire.Errorf(wire.InvalidInput, "", "neither a file nor a flag names the trust domain")
	case !h.pinned:
		h.trustDomain = file
	}
	return nil
}

// checkSignatures refuses signatures that say they are for something else.
func (h *held) checkSignatures() error {
	next := hexDigest(h.Next)
	for i, s := range h.Signatures {
		mismatch := func(field string, signed, here any) error {
			return wire.Errorf(wire.ScopeMismatch, "", "the signature of key %s is for another change: %s is %v there and %v here",
				s.Signature.KID, field, signed, here).
				With("signature", i).With("kid", s.Signature.KID).With("field", field).With("signed", signed).With("here", here)
		}
		switch signed := hexDigest(s.Set); {
		case s.TrustDomain != h.trustDomain:
			return wire.Errorf(wire.TrustDomainMismatch, "", "the signature of key %s is for trust domain %q, this review is for %q",
				s.Signature.KID, s.TrustDomain, h.trustDomain).
				With("signature", i).With("kid", s.Signature.KID).With("file", s.TrustDomain).With("own", h.trustDomain)
		case s.Epoch != h.Epoch:
			return mismatch("epoch", s.Epoch, h.Epoch)
		case signed != next:
			return wire.Errorf(wire.Conflict, "", "two sets for epoch %d: key %s signed set %s, this one is %s; only one can ever be taken",
				h.Epoch, s.Signature.KID, signed, next).
				With("signature", i).With("kid", s.Signature.KID).With("epoch", h.Epoch).With("other", signed).With("next", next)
		}
	}
	return nil
}

// checkEpoch refuses an epoch that no holder of the current set would take, and notes where nothing is replaced.
func (h *held) checkEpoch() error {
	if h.Current == nil {
		return nil
	}
	if h.CurrentEpoch < 1 || h.CurrentEpoch > wire.MaxInteger {
		return wire.Errorf(wire.InvalidInput, "malformed-set", "approver set: the current epoch is %d; wanted: 1 to 2^53-1", h.CurrentEpoch)
	}
	now, next := hexDigest(h.Current), hexDigest(h.Next)
	switch {
	case h.Epoch == h.CurrentEpoch && now != next:
		return wire.Errorf(wire.Conflict, "", "two sets for epoch %d: the current one is %s, this one is %s; a change needs a higher epoch",
			h.Epoch, now, next).With("epoch", h.Epoch).With("current", now).With("next", next)
	case h.Epoch < h.CurrentEpoch:
		return wire.Errorf(wire.AccessDenied, "stale-epoch", "epoch %d is below the current one, %d: no machine would take the set",
			h.Epoch, h.CurrentEpoch).With("held", h.CurrentEpoch).With("offered", h.Epoch)
	case h.Current.IsRemoval() && !h.Next.IsRemoval() && h.Epoch > quorum.MaxFirstEpoch:
		return wire.Errorf(wire.AccessDenied, "epoch-too-high", "epoch %d is over 2^32: after a removal no machine would take the set",
			h.Epoch).With("offered", h.Epoch)
	case h.Epoch == h.CurrentEpoch:
		h.before, h.same = nil, true
	}
	return nil
}

// verifySignatures refuses a signature that its key did not make, where the key is known: somebody forged or damaged it. One
// that verifies shows that its holder has the key, and so will the one that is to be made.
func (h *held) verifySignatures() error {
	h.proven = make(map[quorum.KID]string)
	for i, s := range h.Signatures {
		kid := s.Signature.KID
		for _, set := range []*quorum.Set{h.Current, h.Next} {
			if !has(set, kid) {
				continue
			}
			if key, _ := set.Key(kid); !s.Verifies(key) {
				return wire.Errorf(wire.AccessDenied, "bad-signature", "the signature that names key %s was not made by it, or was changed", kid).
					With("signature", i).With("kid", kid)
			}
			h.proven[kid] = "its signature over this change shows that its holder has the private key"
		}
	}
	if !h.Key.IsZero() {
		h.proven[h.Key] = "your signature will show that you have the private key"
	}
	return nil
}

// readProofs verifies the proofs. One that does not verify, or is of no key of the set, is refused, not passed over: somebody
// made it, and meant something by it.
func (h *held) readProofs() error {
	for i, data := range h.Proofs {
		key, err := quorum.ParseKeyProof(data)
		if err != nil {
			return wire.Errorf(wire.CodeOf(err), wire.ReasonOf(err), "%s", wire.MessageOf(err)).With("proof", i)
		}
		if !has(h.Next, key.KID()) {
			return wire.Errorf(wire.InvalidInput, "", "the proof is of key %s, which is not in the new set", key.KID()).With("proof", i).With("kid", key.KID())
		}
		h.proven[key.KID()] = "verified: its holder has the private key"
	}
	return nil
}

func hexDigest(s *quorum.Set) string {
	digest := s.Digest()
	return hex.EncodeToString(digest[:])
}

func has(s *quorum.Set, kid quorum.KID) bool {
	if s == nil {
		return false
	}
	_, ok := s.Key(kid)
	return ok
}

// isNew tells whether a key of the new set is not known to be in force.
func (h *held) isNew(kid quorum.KID) bool { return !has(h.Current, kid) }
