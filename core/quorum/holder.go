package quorum

import (
	"encoding/hex"

	"github.com/better-compute/approver/core/wire"
)

// MaxFirstEpoch is the highest epoch at which a set is taken that nobody has signed: a higher one could freeze the quorum
// for ever (WIRE.md §4). Signed sets go up to 2^53-1.
const MaxFirstEpoch = 1 << 32

// A HolderDraft is what a machine keeps of its quorum, before it is checked.
type HolderDraft struct {
	Set         *Set      // the set in force; nil, or a removal, where there is none
	Epoch       uint64    // of the set in force or, without one, the highest ever held; 0 where none ever was
	TrustDomain string    // the machine's own, from its configuration and never from an offer; "" where it has none
	Pin         *[32]byte // the digest of the only first set that is taken; nil where any is
}

// A Holder is the quorum that a machine holds: a set with its epoch, or none. It is immutable; Take gives the next one.
// The zero Holder is a new machine, which never held a set and has neither trust domain nor pin.
type Holder struct {
	set         *Set // nil where there is none
	epoch       uint64
	trustDomain string
	pin         [32]byte
	pinned      bool
}

// NewHolder checks what a machine has kept. The error is INVALID_INPUT, malformed-set for an epoch over 2^53-1, or of 0
// beside a set.
func NewHolder(d HolderDraft) (Holder, error) {
	h := Holder{epoch: d.Epoch, trustDomain: d.TrustDomain}
	if d.Set != nil && !d.Set.IsRemoval() {
		h.set = d.Set
	}
	if h.set != nil || h.epoch != 0 {
		if err := checkEpoch(h.epoch); err != nil {
			return Holder{}, err
		}
	}
	if d.TrustDomain != "" {
		if err := wire.CheckTrustDomain("trust domain", d.TrustDomain); err != nil {
			return Holder{}, err
		}
	}
	if d.Pin != nil {
		h.pin, h.pinned = *d.Pin, true
	}
	return h, nil
}

// Set gives the set in force, or nil where there is none.
func (h Holder) Set() *Set { return h.set }

// Epoch gives the epoch of the set in force or, without one, the highest ever held; 0 where none ever was.
func (h Holder) Epoch() uint64 { return h.epoch }

// TrustDomain gives the machine's own trust domain, or "" where it has none.
func (h Holder) TrustDomain() string { return h.trustDomain }

// Pin gives the digest of the only first set that is taken; ok is false where any is.
func (h Holder) Pin() (digest [32]byte, ok bool) { return h.pin, h.pinned }

// An Offer is the quorum part of a trust bundle: a set, its epoch and signatures over both. Signatures of the set that is
// replaced and of the new set's own keys may be mixed; only those of keys that the holder has count, and each of them
// costs a verification, so whoever reads a bundle bounds their number.
type Offer struct {
	Set        *Set
	Epoch      uint64
	Signatures []UnverifiedSignature
}

// Taken is what a holder did with an offer that it did not refuse.
type Taken uint8

// What a holder does; a Taken of zero is nothing that was done, as beside an error.
const (
	NothingToDo Taken = iota + 1 // the set is in force at this epoch already
	Kept                         // the set in force stays at its epoch, or none stays none
	TookSet                      // the set offered is in force at the epoch offered
)

// String says it as a person reads it.
func (t Taken) String() string {
	switch t {
	case NothingToDo:
		return "nothing to do"
	case Kept:
		return "kept"
	case TookSet:
		return "taken"
	}
	return "none"
}

// Take judges an offer by the table of WIRE.md §4, in its order (the verifyApproverSetChange of the platform's own
// primitives), and gives the holder that is there then, which is h unless the set was taken. Errors: INVALID_INPUT
// malformed-set comes before everything; the others are ACCESS_DENIED with the reason no-trust-domain, no-threshold,
// stale-epoch (details held, offered), approver-set-unsigned (details required, signers), pin-mismatch (details pin,
// digest) or epoch-too-high. A refusal changes nothing, and says nothing about the rest of a bundle.
func (h Holder) Take(o Offer) (Holder, Taken, error) {
	if o.Set == nil {
		return h, 0, malformed("there is none")
	}
	if err := checkEpoch(o.Epoch); err != nil {
		return h, 0, err
	}
	judge := h.judgeChange
	if h.set == nil {
		judge = h.judgeFirst
	}
	taken, err := judge(o)
	if err != nil || taken != TookSet {
		return h, taken, err
	}
	next := h
	next.set, next.epoch = o.Set, o.Epoch
	if o.Set.IsRemoval() {
		next.set = nil
	}
	return next, TookSet, nil
}

// judgeChange is the table of WIRE.md §4 for a holder of a set, a row a case.
func (h Holder) judgeChange(o Offer) (Taken, error) {
	same := h.set.Equal(o.Set)
	switch {
	case same && o.Epoch == h.epoch:
		return NothingToDo, nil
	case h.trustDomain == "":
		return 0, refuse("no-trust-domain", "this holder has no trust domain of its own, so no signature can be for it")
	case h.set.threshold == 0:
		return 0, refuse("no-threshold", "the threshold of the set in force is 0, which admits no change")
	case same && o.Epoch < h.epoch:
		return Kept, nil
	case o.Epoch <= h.epoch:
		return 0, h.staleEpoch(o)
	}
	switch err := h.checkSigned(o); {
	case err == nil:
		return TookSet, nil
	case same:
		return Kept, nil
	default:
		return 0, err
	}
}

// judgeFirst is the order of checks of WIRE.md §4 for a holder without a set, whom nobody's signature can convince.
func (h Holder) judgeFirst(o Offer) (Taken, error) {
	digest := o.Set.Digest()
	switch {
	case o.Set.IsRemoval():
		return Kept, nil
	case h.pinned && digest != h.pin:
		return 0, refuse("pin-mismatch", "the set has digest %x; this holder is pinned to %x", digest, h.pin).
			With("pin", hex.EncodeToString(h.pin[:])).With("digest", hex.EncodeToString(digest[:]))
	case o.Epoch <= h.epoch:
		return 0, h.staleEpoch(o)
	case o.Epoch > MaxFirstEpoch:
		return 0, refuse("epoch-too-high", "epoch %d of a first set is over 2^32", o.Epoch).With("offered", o.Epoch)
	}
	return TookSet, nil
}

// Tally tells what becomes of each signature of an offer for this holder, in their order: only keys of the set in force
// count. It is nil where no set is in force.
func (h Holder) Tally(o Offer) []Outcome {
	if h.set == nil || o.Set == nil {
		return nil
	}
	return h.set.Tally(o.Set.changeStatement(o.Epoch, h.trustDomain), o.Signatures)
}

func (h Holder) checkSigned(o Offer) error {
	signers := make([]KID, 0, len(h.set.keys))
	for i, outcome := range h.Tally(o) {
		if outcome == Counted {
			signers = append(signers, KID{o.Signatures[i].KID})
		}
	}
	if uint64(len(signers)) < uint64(h.set.threshold) {
		return refuse("approver-set-unsigned", "%d of %d required keys of the set in force signed this set for epoch %d of %s",
			len(signers), h.set.threshold, o.Epoch, h.trustDomain).With("required", h.set.threshold).With("signers", signers)
	}
	return nil
}

func (h Holder) staleEpoch(o Offer) error {
	return refuse("stale-epoch", "epoch %d is not higher than %d, which was held", o.Epoch, h.epoch).
		With("held", h.epoch).With("offered", o.Epoch)
}

func refuse(reason, format string, args ...any) *wire.Error {
	return wire.Errorf(wire.AccessDenied, reason, "approver set: "+format, args...)
}
