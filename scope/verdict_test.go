package scope

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

var builtin = kinds.Builtin()

type testKey struct {
	private *ecdsa.PrivateKey
	kid     quorum.KID
}

func privateKeys(t *testing.T) (keys []testKey) {
	for _, k := range golden.Keys() {
		block, _ := pem.Decode([]byte(k.PrivatePEM))
		private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		require.NoError(t, err)
		kid, err := quorum.ParseKID(k.KID)
		require.NoError(t, err)
		keys = append(keys, testKey{private.(*ecdsa.PrivateKey), kid})
	}
	return keys
}

func (k testKey) sign(t *testing.T, digest []byte) (quorum.KID, quorum.Sig) {
	r, s, err := ecdsa.Sign(rand.Reader, k.private, digest)
	require.NoError(t, err)
	var sig quorum.Sig
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return k.kid, sig
}

func submissions(files ...*quorum.SignatureFile) (list []*quorum.Submission) {
	for _, f := range files {
		list = append(list, f.Submission())
	}
	return list
}

// signatureFile is the file of a golden key's signature over the scope.
func signatureFile(t *testing.T, i int, v *Verified) *quorum.SignatureFile {
	kid, sig := signAs(t, i, v.Scope())
	statement, err := v.Scope().Approval(4102444800000, "compute.example.com")
	require.NoError(t, err)
	return quorum.NewSignatureFile(statement, quorum.Signature{KID: kid, Sig: sig})
}

func TestJudge(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	judge := Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)}}
	alice, bob, dave := signatureFile(t, 0, v), signatureFile(t, 1, v), signatureFile(t, 3, v)
	broken := *bob
	broken.Sig[7] ^= 1
	for _, c := range []struct {
		name     string
		files    []*quorum.SignatureFile
		approved int
		ignored  string
		failure  string
	}{
		{"two of three", []*quorum.SignatureFile{alice, bob}, 2, "", ""},
		{"one", []*quorum.SignatureFile{alice}, 1, "", "too-few-approvals"},
		{"one twice", []*quorum.SignatureFile{alice, alice}, 1, "the key is counted once", "too-few-approvals"},
		{"a stranger", []*quorum.SignatureFile{alice, dave}, 1, "the key is not in the approver set", "too-few-approvals"},
		{"a broken one", []*quorum.SignatureFile{alice, &broken}, 1, "the signature does not verify", "too-few-approvals"},
		{"a broken one and the good one of the same key", []*quorum.SignatureFile{alice, &broken, bob}, 2, "the signature does not verify", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdict, err := v.Judge(judge, submissions(c.files...))
			require.NoError(t, err)
			require.Len(t, verdict.Approved, c.approved)
			require.Len(t, verdict.Missing, 3-c.approved, "the signature inside the scope file counts for nothing here")
			require.EqualValues(t, 2, verdict.Required)
			require.Equal(t, c.failure, wire.ReasonOf(verdict.Failure))
			if c.ignored != "" {
				require.Len(t, verdict.Ignored(), 1)
				require.Equal(t, c.ignored, verdict.Ignored()[0].Outcome.String())
			} else {
				require.Empty(t, verdict.Ignored())
			}
		})
	}
	late := judge
	late.Time.Now = time.UnixMilli(4102444800001)
	verdict, err := v.Judge(late, submissions(alice, bob))
	require.NoError(t, err)
	require.Len(t, verdict.Approved, 2, "who signed is told all the same")
	require.Equal(t, "expired", wire.ReasonOf(verdict.Failure))
	_, err = verdict.Combined()
	require.Equal(t, verdict.Failure, err)
}

// A key whose signature counts has approved unchecked where any signature by it that verifies says so, and only there.
func TestJudgeNamesUnchecked(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	judge := Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)}}
	alice, bob, dave := signatureFile(t, 0, v), signatureFile(t, 1, v), signatureFile(t, 3, v)
	unseen := func(f *quorum.SignatureFile) *quorum.SignatureFile {
		marked := *f
		marked.Unchecked = true
		return &marked
	}
	broken := unseen(alice)
	broken.Sig[7] ^= 1
	for name, c := range map[string]struct {
		files []*quorum.SignatureFile
		want  []quorum.KID
	}{
		"none":                     {[]*quorum.SignatureFile{alice, bob}, nil},
		"the one that counts":      {[]*quorum.SignatureFile{unseen(alice), bob}, []quorum.KID{alice.KID}},
		"one counted before":       {[]*quorum.SignatureFile{alice, bob, unseen(alice)}, []quorum.KID{alice.KID}},
		"one that does not verify": {[]*quorum.SignatureFile{broken, alice, bob}, nil},
		"one of a stranger":        {[]*quorum.SignatureFile{unseen(dave), alice, bob}, nil},
		"both":                     {[]*quorum.SignatureFile{unseen(bob), unseen(alice)}, []quorum.KID{bob.KID, alice.KID}},
	} {
		verdict, err := v.Judge(judge, submissions(c.files...))
		require.NoError(t, err, name)
		require.Equal(t, c.want, verdict.Unchecked, name)
	}
}

// A combined approval is judged as the signatures in it, whatever else is handed over and in whichever form.
func TestJudgeTakesCombinedApprovals(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	judge := Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)}}
	alice, bob, dave := signatureFile(t, 0, v), signatureFile(t, 1, v), signatureFile(t, 3, v)
	verdict, err := v.Judge(judge, submissions(dave, bob, alice))
	require.NoError(t, err)
	combined, err := verdict.Combined()
	require.NoError(t, err)
	require.Len(t, combined.Approval.Signatures, 2, "what counts for nothing is not combined")
	require.Less(t, combined.Approval.Signatures[0].KID, combined.Approval.Signatures[1].KID)
	for name, data := range map[string][]byte{"JSON": combined.Encode(), "protobuf": combined.Approval.Encode()} {
		submission, err := quorum.ParseSubmission(data)
		require.NoError(t, err, name)
		verdict, err := v.Judge(judge, append(submissions(alice), submission))
		require.NoError(t, err, name)
		require.NoError(t, verdict.Failure, name)
		require.Len(t, verdict.Approved, 2, name)
		require.Equal(t, []Judged{{1, alice.KID.String(), quorum.CountedOnce}}, verdict.Ignored(), name)
		require.Equal(t, Judged{0, alice.KID.String(), quorum.Counted}, verdict.Judged[0], name)

		submission.Approval.NotAfter++
		_, err = v.Judge(judge, []*quorum.Submission{submission})
		require.Equal(t, wire.ScopeMismatch, wire.CodeOf(err), name)
		require.ErrorContains(t, err, "the combined approval is for another batch: notAfter", name)
	}
	// In protobuf a kid may be anything; the trust domain is the verifier's alone.
	foreign := combined.Approval
	foreign.Signatures = append([]quorum.UnverifiedSignature{{KID: "\x1b[2J", Sig: []byte{1}}, {KID: alice.KID.String(), Sig: []byte{1}}}, foreign.Signatures...)
	submission, err := quorum.ParseSubmission(foreign.Encode())
	require.NoError(t, err)
	verdict, err = v.Judge(judge, []*quorum.Submission{submission})
	require.NoError(t, err)
	require.NoError(t, verdict.Failure)
	require.Equal(t, []Judged{{0, "\x1b[2J", quorum.NotInSet}, {0, alice.KID.String(), quorum.NotValid}}, verdict.Ignored())
}

// More signatures than an approval may have can be handed over: what is combined has those that count.
func TestJudgeTakesMoreThanAnApprovalHolds(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	judge := Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)}}
	alice, bob := signatureFile(t, 0, v), signatureFile(t, 1, v)
	verdict, err := v.Judge(judge, append(submissions(slices.Repeat([]*quorum.SignatureFile{alice}, wire.MaxSignatures)...), bob.Submission()))
	require.NoError(t, err)
	require.NoError(t, verdict.Failure)
	require.Len(t, verdict.Ignored(), wire.MaxSignatures-1)
	combined, err := verdict.Combined()
	require.NoError(t, err)
	require.Len(t, combined.Approval.Signatures, 2)
}

func TestJudgeRefusesOtherBatches(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	judge := Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)}}
	for name, change := range map[string]func(*quorum.SignatureFile){
		"batchId":     func(f *quorum.SignatureFile) { f.BatchID = "other" },
		"scopeRoot":   func(f *quorum.SignatureFile) { f.ScopeRoot[0] ^= 1 },
		"scopeSize":   func(f *quorum.SignatureFile) { f.ScopeSize++ },
		"notAfter":    func(f *quorum.SignatureFile) { f.NotAfter++ },
		"trustDomain": func(f *quorum.SignatureFile) { f.TrustDomain = "staging.example.com" },
	} {
		f := signatureFile(t, 0, v)
		change(f)
		_, err := v.Judge(judge, submissions(f))
		require.Equal(t, wire.ScopeMismatch, wire.CodeOf(err), name)
		require.ErrorContains(t, err, name)
	}
	judge.TrustDomain = "staging.example.com"
	_, err := v.Judge(judge, submissions(signatureFile(t, 0, v)))
	require.Equal(t, wire.TrustDomainMismatch, wire.CodeOf(err))
}

// A verifier that forgot to say what it judges by gets no verdict: nothing is taken from the file instead.
func TestJudgeWantsItsOwnTerms(t *testing.T) {
	v, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 2, s) })
	good := Judge{Set: set, TrustDomain: "compute.example.com", Time: review.Time{Now: time.UnixMilli(testNow)}}
	files := submissions(signatureFile(t, 0, v), signatureFile(t, 1, v))
	for name, forget := range map[string]func(*Judge){
		"set": func(j *Judge) { j.Set = nil }, "time": func(j *Judge) { j.Time = review.Time{} }, "trust domain": func(j *Judge) { j.TrustDomain = "" },
	} {
		j := good
		forget(&j)
		verdict, err := v.Judge(j, files)
		require.Nil(t, verdict, name)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
	}
	p, err := Parse(strings.NewReader(`[{"subject":"a","kind":"node.wipe"}]`), 1)
	require.NoError(t, err)
	_, err = p.Verify(VerifyOptions{BatchID: "b"})
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}
