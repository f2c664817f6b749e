package scope

import (
	"slices"
	"time"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A Verdict says whether enough keys of a set approved a scope.
type Verdict struct {
	Required uint32
	Approved []quorum.KID // keys of the set whose signature verified
	Missing  []quorum.KID // the other keys of the set
	Ignored  []Ignored    // signatures that count for nothing
	Failure  error        // why the approval does not hold (ACCESS_DENIED), or nil
}

// An Ignored is a signature that does not count, with the reason.
type Ignored struct {
	KID quorum.KID `json:"kid"`
	Why string     `json:"why"`
}

// A Judge verifies signatures over one scope.
type Judge struct {
	Set         *quorum.Set
	TrustDomain string // the verifier's own, never the file's
	Time        review.Time
	NotAfter    uint64 // for a scope file that does not say when its approval ends; 0 takes the file's
}

// Judge holds signature files against the scope (WIRE.md §3, §5). Errors are those of a scope that contradicts the
// verifier's trust domain or end of the window, INVALID_INPUT for a Judge without set, time or trust domain,
// INVALID_STATE (clock) for a time that cannot be, and SCOPE_MISMATCH where a file is for another batch; whether the
// approval holds is in the Verdict. Signatures of the scope file itself are not taken in: what counts was handed over.
func (v *Verified) Judge(j Judge, files []*quorum.SignatureFile) (*Verdict, error) {
	switch {
	case j.Set == nil:
		return nil, wire.Errorf(wire.InvalidInput, "", "no approver set to judge by")
	case j.Time.Now.UnixMilli() <= 0:
		return nil, wire.Errorf(wire.InvalidInput, "", "no time to judge by")
	}
	if err := wire.CheckTrustDomain("the verifier's trust domain", j.TrustDomain); err != nil {
		return nil, err
	}
	policy := Policy{TrustDomain: j.TrustDomain, NotAfter: j.NotAfter, Time: j.Time}
	t, err := v.terms(&policy)
	if err != nil {
		return nil, err
	}
	if err := review.CheckVerifierClock(j.Time, time.UnixMilli(int64(t.notAfter))); err != nil {
		return nil, err
	}
	approval := v.approval(t)
	for _, f := range files {
		if err := v.checkSameBatch(f, t); err != nil {
			return nil, err
		}
		approval.Signatures = append(approval.Signatures, f.Signature())
	}
	verdict := &Verdict{Required: max(1, j.Set.RequiredApprovals(uint64(v.scope.Size())))}
	if verdict.Approved, err = approval.Approvers(j.Set, t.trustDomain, t.notAfter); err != nil {
		return nil, err // malformed: the window was not looked at
	}
	_, verdict.Failure = approval.Verify(j.Set, t.trustDomain, uint64(j.Time.Now.UnixMilli()))
	for _, key := range j.Set.Keys() {
		if !slices.Contains(verdict.Approved, key.KID()) {
			verdict.Missing = append(verdict.Missing, key.KID())
		}
	}
	verdict.Ignored = ignored(j.Set, verdict.Approved, files)
	return verdict, nil
}

// ignored tells why each file that did not add an approval did not.
func ignored(set *quorum.Set, approved []quorum.KID, files []*quorum.SignatureFile) (list []Ignored) {
	seen := make(map[quorum.KID]bool)
	for _, f := range files {
		key, member := set.Key(f.KID)
		switch {
		case !member:
			list = append(list, Ignored{f.KID, "the key is not in the approver set"})
		case !f.Verifies(key):
			list = append(list, Ignored{f.KID, "the signature does not verify"})
		case seen[f.KID]:
			list = append(list, Ignored{f.KID, "the key is counted once"})
		case !slices.Contains(approved, f.KID):
			list = append(list, Ignored{f.KID, "it shares its r with another signature"})
		}
		seen[f.KID] = seen[f.KID] || member && f.Verifies(key)
	}
	return list
}

// checkSameBatch refuses a signature file that says it is for something else.
func (v *Verified) checkSameBatch(f *quorum.SignatureFile, t terms) error {
	for _, field := range []struct {
		name         string
		signed, here any
	}{
		{"batchId", f.BatchID, v.scope.BatchID()},
		{"scopeRoot", f.ScopeRoot, v.scope.Root()},
		{"scopeSize", f.ScopeSize, uint64(v.scope.Size())},
		{"notAfter", f.NotAfter, t.notAfter},
		{"trustDomain", f.TrustDomain, t.trustDomain},
	} {
		if field.signed != field.here {
			return wire.Errorf(wire.ScopeMismatch, "", "the signature of key %s is for another batch: %s is %v there and %v here",
				f.KID, field.name, field.signed, field.here).
				With("kid", f.KID).With("field", field.name).With("signed", field.signed).With("here", field.here)
		}
	}
	return nil
}
