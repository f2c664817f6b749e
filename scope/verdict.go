package scope

import (
	"bytes"
	"encoding/hex"
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
	Judged   []Judged     // every signature, in the order in which they were handed over
	Declines []Declined   // those that were handed over, in their order; none counts for or against anything
	Failure  error        // why the approval does not hold (ACCESS_DENIED), or nil

	// Unchecked are those of Approved of which a file whose signature verifies says that nobody saw the batch. It need not be
	// the signature that counts: no other one by the key takes that back.
	Unchecked []quorum.KID

	statement quorum.Statement
	counted   []quorum.Signature
}

// A Judged is one signature that was handed over: by which submission, counted from 0, and what became of it. The kid is
// as it came, of any form.
type Judged struct {
	Submission int
	KID        string
	Outcome    quorum.Outcome
}

// A Judge verifies signatures over one scope.
type Judge struct {
	Set         *quorum.Set
	TrustDomain string // the verifier's own, never the file's
	Time        review.Time
	NotAfter    uint64 // for a scope file that does not say when its approval ends; 0 takes the file's

	Declines []*quorum.DeclineFile // handed over, to be told of
}

// Judge holds signature files and combined approvals against the scope (WIRE.md §3, §5). Errors are those of a scope that
// contradicts the verifier's trust domain or end of the window, INVALID_INPUT for a Judge without set, time or trust
// domain, INVALID_STATE (clock) for a time that cannot be, and SCOPE_MISMATCH where a submission is for another batch;
// whether the approval holds is in the Verdict. Signatures of the scope file itself are not taken in: what counts was
// handed over.
func (v *Verified) Judge(j Judge, submissions []*quorum.Submission) (*Verdict, error) {
	t, err := v.judgeTerms(j)
	if err != nil {
		return nil, err
	}
	verdict := &Verdict{Required: max(1, j.Set.RequiredApprovals(uint64(v.scope.Size())))}
	if verdict.statement, err = v.scope.Approval(t.notAfter, t.trustDomain); err != nil {
		return nil, err
	}
	var signatures []quorum.UnverifiedSignature
	if verdict.Declines, err = v.judgeDeclines(&j, t); err != nil {
		return nil, err
	}
	for i, s := range submissions {
		if err := v.checkSameBatch(s, t); err != nil {
			return nil, err.With("submission", i)
		}
		for _, u := range s.Approval.Signatures {
			signatures = append(signatures, u)
			verdict.Judged = append(verdict.Judged, Judged{Submission: i, KID: u.KID})
		}
	}
	if err := verdict.count(j.Set, signatures); err != nil {
		return nil, err
	}
	verdict.noteUnchecked(submissions)
	verdict.noteBoth()
	combined, err := quorum.NewApprovalFile(verdict.statement, verdict.counted)
	if err != nil {
		return nil, err
	}
	_, verdict.Failure = combined.Approval.Verify(j.Set, t.trustDomain, uint64(j.Time.Now.UnixMilli()))
	return verdict, nil
}

// judgeTerms checks that the judge brings its own terms, and settles those of the scope by them.
func (v *Verified) judgeTerms(j Judge) (t terms, err error) {
	switch {
	case j.Set == nil:
		return t, wire.Errorf(wire.InvalidInput, "", "no approver set to judge by")
	case j.Time.Now.UnixMilli() <= 0:
		return t, wire.Errorf(wire.InvalidInput, "", "no time to judge by")
	}
	if err := wire.CheckTrustDomain("the verifier's trust domain", j.TrustDomain); err != nil {
		return t, err
	}
	if t, err = v.terms(&Policy{TrustDomain: j.TrustDomain, NotAfter: j.NotAfter, Time: j.Time}); err != nil {
		return t, err
	}
	return t, review.CheckVerifierClock(j.Time, time.UnixMilli(int64(t.notAfter)))
}

// count tells of each signature what becomes of it, and of each key of the set whether it approved.
func (d *Verdict) count(set *quorum.Set, signatures []quorum.UnverifiedSignature) error {
	for i, outcome := range set.Tally(d.statement, signatures) {
		d.Judged[i].Outcome = outcome
		if outcome != quorum.Counted {
			continue
		}
		kid, err := quorum.ParseKID(signatures[i].KID)
		if err != nil {
			return err
		}
		d.Approved = append(d.Approved, kid)
		d.counted = append(d.counted, quorum.Signature{KID: kid, Sig: quorum.Sig(signatures[i].Sig)})
	}
	for _, key := range set.Keys() {
		if !slices.Contains(d.Approved, key.KID()) {
			d.Missing = append(d.Missing, key.KID())
		}
	}
	return nil
}

// noteUnchecked tells which keys approved what nobody saw.
func (d *Verdict) noteUnchecked(submissions []*quorum.Submission) {
	for _, kid := range d.Approved {
		if slices.ContainsFunc(d.Judged, func(j Judged) bool {
			return j.KID == kid.String() && j.Outcome.Verified() && submissions[j.Submission].Unchecked
		}) {
			d.Unchecked = append(d.Unchecked, kid)
		}
	}
}

// Ignored gives the signatures that count for nothing.
func (d *Verdict) Ignored() []Judged {
	return slices.DeleteFunc(slices.Clone(d.Judged), func(j Judged) bool { return j.Outcome == quorum.Counted })
}

// Combined gives the approval of the signatures that counted, in ascending order of kid. The error is Failure: what does
// not hold is not combined.
func (d *Verdict) Combined() (*quorum.ApprovalFile, error) {
	if d.Failure != nil {
		return nil, d.Failure
	}
	return quorum.NewApprovalFile(d.statement, d.counted)
}

// checkSameBatch refuses a submission that says it is for something else.
func (v *Verified) checkSameBatch(s *quorum.Submission, t terms) *wire.Error {
	a, root := &s.Approval, v.scope.Root()
	mismatch := func(field string, signed, here any) *wire.Error {
		what, kid := "the combined approval", any(nil)
		if !s.Combined && len(a.Signatures) == 1 {
			kid = a.Signatures[0].KID
			what = "the signature of key " + a.Signatures[0].KID
		}
		err := wire.Errorf(wire.ScopeMismatch, "", "%s is for another batch: %s is %v there and %v here", what, field, signed, here)
		if kid != nil {
			err = err.With("kid", kid)
		}
		return err.With("field", field).With("signed", signed).With("here", here)
	}
	switch size := uint64(v.scope.Size()); {
	case a.BatchID != v.scope.BatchID():
		return mismatch("batchId", a.BatchID, v.scope.BatchID())
	case !bytes.Equal(a.ScopeRoot, root[:]):
		return mismatch("scopeRoot", hex.EncodeToString(a.ScopeRoot), root.String())
	case a.ScopeSize != size:
		return mismatch("scopeSize", a.ScopeSize, size)
	case a.NotAfter != t.notAfter:
		return mismatch("notAfter", a.NotAfter, t.notAfter)
	case s.TrustDomain != "" && s.TrustDomain != t.trustDomain: // the protobuf form names none
		return mismatch("trustDomain", s.TrustDomain, t.trustDomain)
	}
	return nil
}
