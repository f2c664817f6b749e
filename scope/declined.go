package scope

import (
	"bytes"
	"slices"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

// A Declined is a decline that was handed over, and what became of it. It never counts: not as an approval, and not
// against one.
type Declined struct {
	KID     quorum.KID
	Reason  []review.Text  // lines; whoever signed wrote them
	Invalid quorum.Outcome // NotInSet or NotValid; zero where a key of the set said no
	Both    bool           // an approval by the same key counts all the same
}

// Valid tells whether a key of the set said no.
func (d Declined) Valid() bool { return d.Invalid == 0 }

// judgeDeclines holds declines against the scope, each over its own reason. The error is SCOPE_MISMATCH, with the position
// of a decline that is for another batch in details.
func (v *Verified) judgeDeclines(j *Judge, t terms) ([]Declined, error) {
	judged := make([]Declined, 0, len(j.Declines))
	for i, f := range j.Declines {
		if err := v.checkSameBatch(declineSubmission(f), t); err != nil {
			return nil, err.With("decline", i)
		}
		statement, err := v.scope.Decline(t.notAfter, t.trustDomain, f.Reason)
		if err != nil {
			return nil, err
		}
		d := Declined{KID: f.KID, Reason: review.EscapeLines(f.Reason)}
		if key, ok := j.Set.Key(f.KID); !ok {
			d.Invalid = quorum.NotInSet
		} else if !key.Verify(statement, f.Sig) {
			d.Invalid = quorum.NotValid
		}
		judged = append(judged, d)
	}
	return judged, nil
}

// declineSubmission gives what a decline says it is about, in the form in which checkSameBatch takes it. It is judged by
// nothing else.
func declineSubmission(f *quorum.DeclineFile) *quorum.Submission {
	return &quorum.Submission{TrustDomain: f.TrustDomain, Approval: quorum.Approval{
		BatchID: f.BatchID, ScopeRoot: bytes.Clone(f.ScopeRoot[:]), ScopeSize: f.ScopeSize, NotAfter: f.NotAfter,
		Signatures: []quorum.UnverifiedSignature{{KID: f.KID.String()}},
	}}
}

// noteBoth tells which declines stand beside a counted approval of the same key.
func (d *Verdict) noteBoth() {
	for i := range d.Declines {
		d.Declines[i].Both = d.Declines[i].Valid() && slices.Contains(d.Approved, d.Declines[i].KID)
	}
}
