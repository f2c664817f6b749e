package quorum

// An Outcome is what became of one signature that was handed over for an approval.
type Outcome uint8

// The outcomes; an Outcome of zero is none. Of these only Counted counts.
const (
	Counted     Outcome = iota + 1 // the first valid one of a key of the set
	NotInSet                       // its kid names no key of the set
	NotValid                       // it does not verify for the key it names
	CountedOnce                    // it verifies, as one before it did
	SharedR                        // it verifies, and shares its r with one that counts: one act of signing
)

// String says it as a person reads it.
func (o Outcome) String() string {
	switch o {
	case Counted:
		return "counted"
	case NotInSet:
		return "the key is not in the approver set"
	case NotValid:
		return "the signature does not verify"
	case CountedOnce:
		return "the key is counted once"
	case SharedR:
		return "it shares its r with another signature"
	}
	return "none"
}

// Verified tells whether the signature is one over the statement by a key of the set, whether it counts or not.
func (o Outcome) Verified() bool { return o == Counted || o == CountedOnce || o == SharedR }

// Tally tells what becomes of each signature over a statement, in the order in which they stand: each key of the set
// counts once, by its first valid signature, and keys whose counted signatures share one r count once. It is the rule of
// WIRE.md §3 for approvals and of §4 for changes of a set.
func (s *Set) Tally(statement Statement, signatures []UnverifiedSignature) []Outcome {
	outcomes := make([]Outcome, len(signatures))
	seen := make(map[KID]bool)
	halves := make(map[[32]byte]bool) // the r of counted signatures
	for i, u := range signatures {
		key, member := s.byKID[u.KID]
		switch {
		case !member:
			outcomes[i] = NotInSet
		case len(u.Sig) != SigBytes || !key.Verify(statement, Sig(u.Sig)):
			outcomes[i] = NotValid
		case seen[key.KID()]:
			outcomes[i] = CountedOnce
		default:
			seen[key.KID()] = true
			r := [32]byte(u.Sig[:32])
			if outcomes[i] = Counted; halves[r] {
				outcomes[i] = SharedR
			}
			halves[r] = true
		}
	}
	return outcomes
}
