package quorum_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

func TestDeclineFiles(t *testing.T) {
	for _, v := range golden.DeclineFiles() {
		t.Run(v.Name, func(t *testing.T) {
			f, err := quorum.ParseDeclineFile(v.Bytes())
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, f)
				return
			}
			require.Equal(t, v.ReasonText, f.Reason)
			require.Equal(t, v.Verifies, f.Verifies(publicKey(t, "alice")))
			require.False(t, f.Verifies(publicKey(t, "bob")))
			require.True(t, quorum.IsDeclineFile(v.Bytes()))
			require.Equal(t, v.Canonical, string(v.Bytes()) == string(f.Encode()), "%s", f.Encode())
			again, err := quorum.ParseDeclineFile(f.Encode())
			require.NoError(t, err)
			require.Equal(t, f, again)
		})
	}
}

// twoNodes is a batch of two leaves.
func twoNodes(t require.TestingT) *quorum.Scope {
	scope, err := quorum.NewScope("batch_1", []quorum.Entry{{Subject: "node_a", Kind: "node.wipe"}, {Subject: "node_b", Kind: "node.wipe"}})
	require.NoError(t, err)
	return scope
}

// approvalAndDecline are both over one batch.
func approvalAndDecline(t require.TestingT) (approval, decline quorum.Statement) {
	scope := twoNodes(t)
	approval, err := scope.Approval(1790000000000, domains[0])
	require.NoError(t, err)
	decline, err = scope.Decline(1790000000000, domains[0], "wrong image")
	require.NoError(t, err)
	return approval, decline
}

// The purposes of the vectors that no statement can be made of here, for their roots have no leaves, are those of files.
func TestStatementsOfFiles(t *testing.T) {
	seen := 0
	for _, v := range golden.SigningInputs() {
		if v.Purpose != string(quorum.PurposeBatchDecline) {
			continue
		}
		seen++
		sig, err := quorum.ParseSig(v.Sig)
		require.NoError(t, err)
		kid, err := quorum.ParseKID(v.KID)
		require.NoError(t, err)
		f := &quorum.DeclineFile{KID: kid, Sig: sig, BatchID: string(unhex(t, v.Parts[0])), ScopeRoot: merkle.Hash(unhex(t, v.Parts[1])),
			ScopeSize: number(t, v.Parts[2]), NotAfter: number(t, v.Parts[3]), TrustDomain: string(unhex(t, v.Parts[4])), Reason: string(unhex(t, v.Parts[5]))}
		require.True(t, f.Verifies(publicKey(t, v.Signer)))
		for name, change := range map[string]func(f *quorum.DeclineFile){
			"batch": func(f *quorum.DeclineFile) { f.BatchID += "x" }, "root": func(f *quorum.DeclineFile) { f.ScopeRoot[9]++ },
			"size": func(f *quorum.DeclineFile) { f.ScopeSize++ }, "end": func(f *quorum.DeclineFile) { f.NotAfter++ },
			"trust domain": func(f *quorum.DeclineFile) { f.TrustDomain += "x" }, "reason": func(f *quorum.DeclineFile) { f.Reason += "x" },
			"the border of reason and trust domain": func(f *quorum.DeclineFile) {
				f.TrustDomain, f.Reason = f.TrustDomain+f.Reason[:1], f.Reason[1:]
			},
		} {
			changed := *f
			change(&changed)
			require.False(t, changed.Verifies(publicKey(t, v.Signer)), name)
		}
	}
	require.NotZero(t, seen)
}

func TestDeclineStatement(t *testing.T) {
	scope := twoNodes(t)
	_, s := approvalAndDecline(t)
	root := scope.Root()
	require.Equal(t, hex.EncodeToString(wire.SigningInput("batch-decline", []byte("batch_1"), root[:], wire.U64(2), wire.U64(1790000000000),
		[]byte(domains[0]), []byte("wrong image"))), hex.EncodeToString(s.Input()))
	stated, ok := s.Root()
	require.True(t, ok)
	require.Equal(t, root, merkle.Hash(stated))
	for _, reason := range []string{strings.Repeat("x", 500), strings.Repeat("🛑", 250), "\n", "\ufffd"} {
		_, err := scope.Decline(0, domains[0], reason)
		require.NoError(t, err)
	}
	for _, reason := range []string{"", strings.Repeat("x", 501), strings.Repeat("🛑", 250) + "x", "\xff", "\xed\xa0\xbd"} {
		s, err := scope.Decline(0, domains[0], reason)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%q", reason)
		require.Equal(t, quorum.Statement{}, s)
	}
	_, err := scope.Decline(0, "", "x")
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	_, err = scope.Decline(wire.MaxInteger+1, domains[0], "x")
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}

// A decline is no approval and an approval no decline, however one is put into the place of the other.
func TestApprovalsAndDeclinesSwapped(t *testing.T) {
	keys := newKeys(t, 2)
	set, key := setOf(t, 1, keys...), keys[0]
	approval, decline := approvalAndDecline(t)
	yes, no := key.sign(t, approval), key.sign(t, decline)
	require.True(t, key.public.Verify(approval, yes.Sig))
	require.True(t, key.public.Verify(decline, no.Sig))
	require.False(t, key.public.Verify(decline, yes.Sig))
	require.False(t, key.public.Verify(approval, no.Sig))

	given := func(s quorum.Signature) []quorum.UnverifiedSignature {
		return []quorum.UnverifiedSignature{{KID: s.KID.String(), Sig: s.Sig[:]}}
	}
	require.Equal(t, []quorum.Outcome{quorum.Counted}, set.Tally(approval, given(yes)))
	require.Equal(t, []quorum.Outcome{quorum.NotValid}, set.Tally(approval, given(no)))
	require.Equal(t, []quorum.Outcome{quorum.NotValid}, set.Tally(decline, given(yes)))

	root, _ := approval.Root()
	approved := &quorum.Approval{BatchID: "batch_1", ScopeRoot: root[:], ScopeSize: 2, NotAfter: 1790000000000, Signatures: given(yes)}
	_, err := approved.Verify(set, domains[0], 1)
	require.NoError(t, err)
	approved.Signatures = given(no)
	kids, err := approved.Verify(set, domains[0], 1)
	require.Equal(t, "too-few-approvals", wire.ReasonOf(err))
	require.Nil(t, kids)

	require.True(t, quorum.NewSignatureFile(approval, yes).Verifies(key.public))
	require.False(t, quorum.NewSignatureFile(approval, no).Verifies(key.public))
	require.True(t, quorum.NewDeclineFile(decline, no).Verifies(key.public))
	require.False(t, quorum.NewDeclineFile(decline, yes).Verifies(key.public))
	require.Panics(t, func() { quorum.NewSignatureFile(decline, no) })
	require.Panics(t, func() { quorum.NewDeclineFile(approval, yes) })
	require.Panics(t, func() { _, _ = quorum.NewApprovalFile(decline, []quorum.Signature{no}) })
	requireFilesApart(t, key.public, quorum.NewSignatureFile(approval, yes).Encode(), quorum.NewDeclineFile(decline, no).Encode())
}

// requireFilesApart wants that no reader takes one file for the other, also when its format is written over.
func requireFilesApart(t *testing.T, key quorum.PublicKey, approval, decline []byte) {
	require.False(t, quorum.IsDeclineFile(approval))
	require.True(t, quorum.IsDeclineFile(decline))
	_, err := quorum.ParseDeclineFile(approval)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	_, err = quorum.ParseSignatureFile(decline)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	_, err = quorum.ParseSubmission(decline)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "what is handed over as an approval")
	renamed := strings.Replace(string(decline), quorum.FormatBatchDecline, quorum.FormatBatchSignature, 1)
	_, err = quorum.ParseSignatureFile([]byte(renamed))
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "a signature has no reason")
	renamed = strings.Replace(renamed, `,"reason":"wrong image"`, "", 1)
	f, err := quorum.ParseSignatureFile([]byte(renamed))
	require.NoError(t, err)
	require.False(t, f.Verifies(key), "made to look like an approval, it still verifies as none")
	renamed = strings.Replace(string(approval), quorum.FormatBatchSignature, quorum.FormatBatchDecline, 1)
	_, err = quorum.ParseDeclineFile([]byte(renamed))
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "a decline has a reason")
	renamed = strings.Replace(renamed, "}", `,"reason":"wrong image"}`, 1)
	d, err := quorum.ParseDeclineFile([]byte(renamed))
	require.NoError(t, err)
	require.False(t, d.Verifies(key), "made to look like a decline, it still verifies as none")
}

// Each statement that is reviewed has one file, which reads back as it was written and verifies; none reads another's.
func TestSignedFiles(t *testing.T) {
	key := newKeys(t, 1)[0]
	approval, decline := approvalAndDecline(t)
	set := setOf(t, 1, key)
	statements := map[quorum.Purpose]quorum.Statement{quorum.PurposeBatchApproval: approval, quorum.PurposeBatchDecline: decline,
		quorum.PurposeApproverSet: change(t, set, 7)}
	for purpose, s := range statements {
		file := s.File(key.sign(t, s))
		require.True(t, file.Verifies(key.public), purpose)
		for other, reader := range statements {
			back, err := reader.ParseFile(file.Encode())
			if other == purpose {
				require.NoError(t, err)
				require.True(t, back.Verifies(key.public), purpose)
				require.Equal(t, file.Encode(), back.Encode())
				continue
			}
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "a %s read as a %s", purpose, other)
			require.True(t, back == nil, "and no nil of some type")
		}
	}
	f := statements[quorum.PurposeApproverSet].File(key.sign(t, statements[quorum.PurposeApproverSet])).(*quorum.SetSignatureFile)
	require.EqualValues(t, 7, f.Epoch)
	require.Equal(t, domains[0], f.TrustDomain)
	require.True(t, f.Set.Equal(set))
	digest, ok := statements[quorum.PurposeApproverSet].Root()
	require.True(t, ok)
	require.Equal(t, set.Digest(), digest)
	require.Panics(t, func() { quorum.NewSetSignatureFile(approval, quorum.Signature{}) })
	for _, none := range []quorum.Statement{{}, quorum.ProofOfKey(key.public), quorum.KeyTrial(key.public, [32]byte{})} {
		require.Panics(t, func() { none.File(quorum.Signature{}) })
		_, err := none.ParseFile(f.Encode())
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
		_, ok := none.Root()
		require.False(t, ok)
	}
}

func TestApproverSetChange(t *testing.T) {
	set := setOf(t, 0)
	for name, err := range map[string]error{
		"malformed-set": func() error { _, err := quorum.ApproverSetChange(1, nil, domains[0]); return err }(),
		"epoch 0":       func() error { _, err := quorum.ApproverSetChange(0, set, domains[0]); return err }(),
		"epoch 2^53":    func() error { _, err := quorum.ApproverSetChange(1<<53, set, domains[0]); return err }(),
		"no domain":     func() error { _, err := quorum.ApproverSetChange(1, set, ""); return err }(),
		"a bad domain":  func() error { _, err := quorum.ApproverSetChange(1, set, "A"); return err }(),
	} {
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
		require.Equal(t, !strings.Contains(name, "domain"), wire.ReasonOf(err) == "malformed-set", name)
	}
	built := 0
	for _, v := range golden.SetDigests().Digests {
		set, _, err := quorum.ParseSetFile([]byte(v.File))
		require.NoError(t, err)
		s, err := quorum.ApproverSetChange(v.Epoch, set, v.TrustDomain)
		require.NoError(t, err)
		require.Equal(t, v.SigningInput, hex.EncodeToString(s.Input()), v.Name)
		built++
	}
	for _, v := range independentSets(t) {
		s, err := quorum.ApproverSetChange(v.Epoch, v.build(t), v.TrustDomain)
		require.NoError(t, err)
		require.Equal(t, v.SigningInput, hex.EncodeToString(s.Input()), v.Name)
		built++
	}
	require.Greater(t, built, 5)
}
