package quorum_test

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// approvalOf gives an approval as a vector says it.
func approvalOf(t testing.TB, v *golden.Approval) quorum.Approval {
	a := quorum.Approval{BatchID: v.BatchID, ScopeRoot: unhex(t, v.ScopeRoot), ScopeSize: v.ScopeSize, NotAfter: v.NotAfter}
	for _, s := range v.Signatures {
		sig, err := base64.RawURLEncoding.DecodeString(s.Sig)
		require.NoError(t, err)
		if len(sig) == 0 {
			sig = nil
		}
		a.Signatures = append(a.Signatures, quorum.UnverifiedSignature{KID: s.KID, Sig: sig})
	}
	return a
}

func TestCombinedApprovals(t *testing.T) {
	for _, v := range golden.CombinedApprovals().Messages {
		t.Run(v.Name, func(t *testing.T) {
			a, err := quorum.ParseApproval(golden.Base64(v.Binpb))
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, a)
				return
			}
			require.Empty(t, cmp.Diff(approvalOf(t, v.Approval), *a))
			require.Equal(t, v.Binpb, base64.StdEncoding.EncodeToString(a.Encode()))
			s, err := quorum.ParseSubmission(golden.Base64(v.Binpb))
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(*a, s.Approval))
		})
	}
	for _, v := range golden.CombinedApprovals().Files {
		t.Run(v.Name, func(t *testing.T) {
			f, err := quorum.ParseApprovalFile(v.Bytes())
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, f)
				return
			}
			require.Empty(t, cmp.Diff(&quorum.ApprovalFile{Approval: approvalOf(t, v.Approval), TrustDomain: v.TrustDomain}, f))
			require.Equal(t, v.Binpb, base64.StdEncoding.EncodeToString(f.Approval.Encode()))
			require.Equal(t, v.Canonical, string(v.Bytes()) == string(f.Encode()), "%s", f.Encode())
			again, err := quorum.ParseApprovalFile(f.Encode())
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(f, again))
		})
	}
}

func TestBatchProofs(t *testing.T) {
	for _, v := range golden.BatchProofs().Messages {
		t.Run(v.Name, func(t *testing.T) {
			p, err := quorum.ParseProof(golden.Base64(v.Binpb))
			if !outcome(t, v.Outcome, err) {
				require.Empty(t, cmp.Diff(merkle.Proof{}, p))
				return
			}
			require.EqualValues(t, v.Proof.Index, p.Index)
			require.Len(t, p.Siblings, len(v.Proof.Siblings))
			for i, s := range v.Proof.Siblings {
				require.Equal(t, s, p.Siblings[i].String())
			}
			require.Equal(t, v.Binpb, base64.StdEncoding.EncodeToString(quorum.EncodeProof(p)))
		})
	}
	for _, v := range golden.BatchProofs().Files {
		t.Run(v.Name, func(t *testing.T) {
			f, err := quorum.ParseProofFile(v.Bytes())
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, f)
				return
			}
			require.Equal(t, v.Binpb, base64.StdEncoding.EncodeToString(quorum.EncodeProof(f.Proof)))
			require.Equal(t, v.Canonical, string(v.Bytes()) == string(f.Encode()), "%s", f.Encode())
			approved := &quorum.Approval{BatchID: f.BatchID, ScopeRoot: f.ScopeRoot[:], ScopeSize: f.ScopeSize}
			require.NoError(t, f.Verify(approved))
			require.NoError(t, f.VerifyIn(f.ScopeRoot, f.ScopeSize))
			require.Equal(t, "not-in-scope", wire.ReasonOf(f.VerifyIn(f.ScopeRoot, f.ScopeSize*2)))
			require.Equal(t, "not-in-scope", wire.ReasonOf(f.VerifyIn(f.LeafHash(), 2)))
			for reason, change := range map[string]func(a *quorum.Approval){
				"other-batch":        func(a *quorum.Approval) { a.BatchID += "x" },
				"not-in-scope":       func(a *quorum.Approval) { a.ScopeSize *= 2 },
				"malformed-approval": func(a *quorum.Approval) { a.ScopeRoot = a.ScopeRoot[:31] },
			} {
				other := *approved
				change(&other)
				outcome(t, golden.Outcome{Want: "refused", Code: "ACCESS_DENIED", Reason: reason}, f.Verify(&other))
			}
		})
	}
}

func TestSetDigests(t *testing.T) {
	for _, v := range golden.SetDigests().Digests {
		set, _, err := quorum.ParseSetFile([]byte(v.File))
		require.NoError(t, err, v.Name)
		digest := set.Digest()
		require.Equal(t, v.Input, hex.EncodeToString(set.Input()), v.Name)
		require.Equal(t, v.SetSHA256, hex.EncodeToString(digest[:]), v.Name)
	}
	for _, v := range golden.ApproverSetFiles() {
		if v.OK() {
			set, _, err := quorum.ParseSetFile(v.Bytes())
			require.NoError(t, err, v.Name)
			digest := set.Digest()
			require.Equal(t, v.SetSHA256, hex.EncodeToString(digest[:]), v.Name)
		}
	}
	for _, v := range golden.SetDigests().Signatures {
		t.Run(v.Name, func(t *testing.T) {
			f, err := quorum.ParseSetSignatureFile(v.Bytes())
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, f)
				return
			}
			digest := f.Set.Digest()
			require.Equal(t, v.Epoch, f.Epoch)
			require.Equal(t, v.SetSHA256, hex.EncodeToString(digest[:]))
			require.Equal(t, v.KID, f.Signature.KID.String())
			require.Equal(t, v.Verifies, f.Verifies(publicKey(t, "alice")))
			require.Equal(t, v.Canonical, string(v.Bytes()) == string(f.Encode()), "%s", f.Encode())
		})
	}
}
