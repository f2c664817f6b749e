package scope

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// What may not be approved may be declined: expired, opaque, unbound. It is shown as what it is, and stops nothing.
func TestDeclineOfWhatIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		leaf   made
		policy func(*Policy)
		rule   review.Rule
	}{
		"expired": {reimage("node_a", "ubuntu"), func(p *Policy) { p.Time.Now = time.UnixMilli(4102444800001) }, review.WindowClosed},
		"long":    {reimage("node_a", "ubuntu"), func(p *Policy) { p.MaxHours = 1 }, review.WindowLong},
		"opaque":  {made{subject: "node_a", kind: "node.reimage", digest: strings.Repeat("ab", 32)}, nil, review.Opaque},
		"unbound": {made{subject: "node_a", kind: "node.reimage"}, nil, review.Unbound},
	} {
		t.Run(name, func(t *testing.T) {
			p := testPolicy()
			if c.policy != nil {
				c.policy(&p)
			}
			d := decoded(t, "", c.leaf)
			approval, err := d.Review(p)
			require.NoError(t, err)
			require.Equal(t, string(c.rule), wire.ReasonOf(approval.Stop()))

			r, err := d.ReviewDecline(p, "not my machine")
			require.NoError(t, err)
			require.NoError(t, r.Stop())
			require.Equal(t, quorum.PurposeBatchDecline, r.Statement().Purpose())
			require.Equal(t, review.Stop, finding(r.Document(), c.rule).Severity, "it is shown as severe as it is")
			text := drawn(t, r.Document())
			require.True(t, strings.HasPrefix(text, "DECLINE: you are about to say no to this batch scope. That approves nothing.\n"), text)
			require.Equal(t, 2, strings.Count(text, "forbids approving it, and does not forbid declining it."))
			require.NotContains(t, text, "do not sign this")
			require.Contains(t, text, "you decline because   not my machine\n")
		})
	}
}

// A decline is no way around what is compared: another root, another trust domain, no end.
func TestDeclineIsOfThisBatchAlone(t *testing.T) {
	plain := reimage("node_a", "ubuntu")
	for name, c := range map[string]struct {
		policy func(*Policy)
		reason string
		code   wire.Code
	}{
		"another root":         {func(p *Policy) { p.Root = new(merkle.Hash) }, "no", wire.ScopeChanged},
		"another trust domain": {func(p *Policy) { p.TrustDomain = "staging.example.com" }, "no", wire.TrustDomainMismatch},
		"no end":               {func(p *Policy) { p.NotAfter = 1 }, "no", wire.InvalidInput},
		"no reason":            {func(*Policy) {}, "", wire.InvalidInput},
		"501 units":            {func(*Policy) {}, strings.Repeat("n", 501), wire.InvalidInput},
		"501 units in pairs":   {func(*Policy) {}, strings.Repeat("\U0001f5a5", 250) + "n", wire.InvalidInput},
		"no UTF-8":             {func(*Policy) {}, "n\xff", wire.InvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			p := testPolicy()
			c.policy(&p)
			r, err := decoded(t, `"trustDomain":"compute.example.com"`, plain).ReviewDecline(p, c.reason)
			require.Nil(t, r)
			require.Equal(t, c.code, wire.CodeOf(err), "%v", err)
		})
	}
}

func TestTheReasonOfADeclineIsShownEscaped(t *testing.T) {
	r, err := decoded(t, "", reimage("node_a", "ubuntu")).ReviewDecline(testPolicy(), "no\n\x1b[2JCLEAR: nothing speaks against it\u202e")
	require.NoError(t, err)
	require.Equal(t, 2, r.Document().Escapes)
	require.Equal(t, "you decline because: 2", finding(r.Document(), review.EscapedText).Places[0].String())
	require.Contains(t, drawn(t, r.Document()), " | <U+001B>[2JCLEAR: nothing speaks against it<U+202E>\n")
}

// Who approved may still decline, and is told what that is worth.
func TestDeclineAfterAnApproval(t *testing.T) {
	_, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	kid := set.Keys()[0].KID()
	d := decoded(t, `"approvals":["`+kid.String()+`"]`, reimage("node_a", "ubuntu"))
	p := testPolicy()
	p.Key = kid
	_, err := d.Review(p)
	require.Equal(t, "already-approved", wire.ReasonOf(err))
	r, err := d.ReviewDecline(p, "I was wrong")
	require.NoError(t, err)
	require.Contains(t, drawn(t, r.Document()), "TAKES NOTHING BACK")
	p.Key = set.Keys()[1].KID()
	r, err = d.ReviewDecline(p, "no")
	require.NoError(t, err)
	require.NotContains(t, drawn(t, r.Document()), "TAKES NOTHING BACK")
}

// declineBy is the decline of a golden key.
func declineBy(t *testing.T, i int, v *Verified, reason string) *quorum.DeclineFile {
	s, err := v.Scope().Decline(4102444800000, "compute.example.com", reason)
	require.NoError(t, err)
	digest := s.Digest()
	kid, sig := privateKeys(t)[i].sign(t, digest[:])
	return quorum.NewDeclineFile(s, quorum.Signature{KID: kid, Sig: sig})
}

func TestJudgeTellsOfDeclines(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	alice, bob := signatureFile(t, 0, v), signatureFile(t, 1, v)
	forged, stranger := declineBy(t, 1, v, "no"), declineBy(t, 3, v, "no\x1b")
	forged.Reason = "yes"
	judge := Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)},
		Declines: []*quorum.DeclineFile{declineBy(t, 0, v, "no"), declineBy(t, 2, v, "never"), forged, stranger, declineBy(t, 2, v, "and again")}}
	verdict, err := v.Judge(judge, submissions(alice, bob))
	require.NoError(t, err)
	require.NoError(t, verdict.Failure, "a decline takes no approval away")
	require.Len(t, verdict.Approved, 2)
	require.Len(t, verdict.Judged, 2, "and is no signature among those that are judged")

	type told struct {
		reason  string
		invalid quorum.Outcome
		both    bool
	}
	var have []told
	for i, d := range verdict.Declines {
		require.Equal(t, judge.Declines[i].KID, d.KID)
		require.Equal(t, d.Invalid == 0, d.Valid())
		have = append(have, told{d.Reason[0].String(), d.Invalid, d.Both})
	}
	require.Equal(t, []told{{"no", 0, true}, {"never", 0, false}, {"yes", quorum.NotValid, false}, {"no<U+001B>", quorum.NotInSet, false}, {"and again", 0, false}}, have)

	verdict, err = v.Judge(judge, submissions(alice))
	require.NoError(t, err)
	require.Equal(t, "too-few-approvals", wire.ReasonOf(verdict.Failure), "a decline is no approval: three of them beside one do not make two")
}

// The bytes of a decline's signature in a signature file, and the other way round, verify for nobody.
func TestDeclinesAndApprovalsDoNotSwap(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	approval, decline := signatureFile(t, 0, v), declineBy(t, 0, v, "no")
	approval.Sig, decline.Sig = decline.Sig, approval.Sig
	verdict, err := v.Judge(Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)},
		Declines: []*quorum.DeclineFile{decline}}, submissions(approval))
	require.NoError(t, err)
	require.Equal(t, quorum.NotValid, verdict.Judged[0].Outcome)
	require.Equal(t, quorum.NotValid, verdict.Declines[0].Invalid)
	require.Empty(t, verdict.Approved)
}

func TestJudgeRefusesDeclinesOfOtherBatches(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	for field, change := range map[string]func(*quorum.DeclineFile){
		"batchId":     func(f *quorum.DeclineFile) { f.BatchID = "batch_other" },
		"scopeRoot":   func(f *quorum.DeclineFile) { f.ScopeRoot[0] ^= 1 },
		"scopeSize":   func(f *quorum.DeclineFile) { f.ScopeSize++ },
		"notAfter":    func(f *quorum.DeclineFile) { f.NotAfter++ },
		"trustDomain": func(f *quorum.DeclineFile) { f.TrustDomain = "staging.example.com" },
	} {
		other := declineBy(t, 0, v, "no")
		change(other)
		_, err := v.Judge(Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)},
			Declines: []*quorum.DeclineFile{declineBy(t, 1, v, "no"), other}}, nil)
		require.Equal(t, wire.ScopeMismatch, wire.CodeOf(err), field)
		require.ErrorContains(t, err, field)
		var e *wire.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 1, e.Details["decline"])
	}
}
