package quorum_test

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A machine's question, with an answer that admits it.
type admitted struct {
	command  quorum.BatchedCommand
	approval *quorum.Approval
	proof    *merkle.Proof
	set      *quorum.Set
	domain   string
	now      uint64
}

func (a *admitted) verify() (*quorum.Admission, error) {
	return a.command.Verify(a.approval, a.proof, a.set, a.domain, a.now)
}

// newAdmitted is a batch of a leaf bound to the payload "pay", one that admits any payload, and three more.
func newAdmitted(t require.TestingT, keys []testKey, subject string) *admitted {
	digest := sha256.Sum256([]byte("pay"))
	entries := []quorum.Entry{{Subject: "bound", Kind: "node.wipe", PayloadSHA256: digest[:]}, {Subject: "any", Kind: "node.wipe"},
		{Subject: "c", Kind: "node.wipe"}, {Subject: "d", Kind: "node.wipe"}, {Subject: "e", Kind: "node.wipe"}}
	scope, err := quorum.NewScope("batch_1", entries)
	require.NoError(t, err)
	statement, err := scope.Approval(2000, domains[0])
	require.NoError(t, err)
	root, proof := scope.Root(), merkle.Proof{}
	for _, e := range entries {
		if e.Subject == subject {
			proof, _ = scope.ProofOf(e)
		}
	}
	a := &admitted{quorum.BatchedCommand{BatchID: "batch_1", Subject: subject, Kind: "node.wipe", Payload: []byte("pay")},
		&quorum.Approval{BatchID: "batch_1", ScopeRoot: root[:], ScopeSize: 5, NotAfter: 2000}, &proof, setOf(t, 2, keys...), domains[0], 2000}
	for _, k := range keys[:2] {
		a.approval.Signatures = append(a.approval.Signatures, k.signUnverified(t, statement))
	}
	return a
}

func TestBatchedCommand(t *testing.T) {
	keys := newKeys(t, 3)
	for _, subject := range []string{"bound", "any"} {
		a := newAdmitted(t, keys, subject)
		admission, err := a.verify()
		require.NoError(t, err)
		require.Equal(t, []quorum.KID{keys[0].public.KID(), keys[1].public.KID()}, admission.Approvers)
		require.Equal(t, subject == "bound", admission.Bound)
		digest := sha256.Sum256(a.command.Payload)
		wanted := digest[:]
		if subject == "any" {
			wanted = nil
		}
		require.Equal(t, quorum.LeafHash("batch_1", subject, "node.wipe", wanted), admission.Leaf)
		a.command.Payload = []byte("another")
		_, err = a.verify()
		require.Equal(t, subject == "bound", wire.ReasonOf(err) == "not-in-scope", "a leaf that is bound admits its payload alone")
	}
}

// Each refusal, and that the checks come in the order of WIRE.md §6: one that is earlier wins.
func TestBatchedCommandRefused(t *testing.T) {
	keys := newKeys(t, 3)
	refusals := []struct {
		reason string
		change func(*admitted)
	}{
		{"no-approval", func(a *admitted) { a.approval = nil }},
		{"no-proof", func(a *admitted) { a.proof = nil }},
		{"other-batch", func(a *admitted) { a.command.BatchID = "batch_2" }},
		{"malformed-approval", func(a *admitted) { a.approval.ScopeRoot = a.approval.ScopeRoot[:31] }},
		{"malformed-approval", func(a *admitted) { a.approval.ScopeSize = 0 }},
		{"malformed-approval", func(a *admitted) { a.approval.ScopeSize = 50_001 }},
		{"expired", func(a *admitted) { a.now++ }},
		{"too-few-approvals", func(a *admitted) { a.approval.Signatures = a.approval.Signatures[:1] }},
		{"too-few-approvals", func(a *admitted) { a.domain = domains[1] }},
		{"too-few-approvals", func(a *admitted) { a.approval.ScopeSize++ }},
		{"too-few-approvals", func(a *admitted) { a.set = setOf(t, 0) }},
		{"not-in-scope", func(a *admitted) { a.command.Subject = "c" }},
		{"not-in-scope", func(a *admitted) { a.command.Kind = "node.reboot" }},
		{"not-in-scope", func(a *admitted) { a.command.Payload = nil }},
		{"not-in-scope", func(a *admitted) { a.proof.Index++ }},
		{"not-in-scope", func(a *admitted) { a.proof.Siblings = a.proof.Siblings[1:] }},
	}
	for i, r := range refusals {
		for j, later := range refusals[i:] {
			a := newAdmitted(t, keys, "bound")
			if j > 0 {
				later.change(a)
			}
			r.change(a)
			admission, err := a.verify()
			require.Nil(t, admission)
			require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
			require.Equal(t, r.reason, wire.ReasonOf(err), "%s and %s", r.reason, later.reason)
		}
	}
}
