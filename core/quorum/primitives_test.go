package quorum_test

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/hsm"
)

// primitives gives each function of the platform's own primitives (better-compute/pki) beside what does it in Go.
var primitives = []struct {
	platform string
	names    string
	does     []any
}{
	{"createApproverKey", "hsm.GenerateFileKey, hsm.Admin.GenerateKey", []any{hsm.GenerateFileKey, (*hsm.Admin).GenerateKey}},
	{"approverKeyOf", "quorum.NewPublicKey, quorum.ParsePublicKey", []any{quorum.NewPublicKey, quorum.ParsePublicKey}},
	{"batchSubject", "kinds.Table.Subject", []any{(*kinds.Table).Subject}},
	{"isBmcKind", "kinds.Kind.SubjectForm", []any{(*kinds.Kind).SubjectForm}}, // is wire.SubjectBMC
	{"batchScope", "quorum.NewScope", []any{quorum.NewScope}},
	{"batchScope.root", "quorum.Scope.Root", []any{(*quorum.Scope).Root}},
	{"batchScope.size", "quorum.Scope.Size", []any{(*quorum.Scope).Size}},
	{"batchScope.proofOf", "quorum.Scope.ProofOf", []any{(*quorum.Scope).ProofOf}},
	{"verifyBatchProof", "quorum.ProofFile.VerifyIn, merkle.Proof.Verify", []any{(*quorum.ProofFile).VerifyIn, merkle.Proof.Verify}},
	{"signBatchApproval", "quorum.Scope.Approval, ceremony.Accepted.Sign", []any{(*quorum.Scope).Approval, (*ceremony.Accepted).Sign}},
	{"requiredApprovals", "quorum.Set.RequiredApprovals", []any{(*quorum.Set).RequiredApprovals}},
	{"verifyBatchApproval", "quorum.Approval.Verify", []any{(*quorum.Approval).Verify}},
	{"verifyBatchCommand", "quorum.BatchedCommand.Verify", []any{quorum.BatchedCommand.Verify}},
	{"approverSetOf", "intent.TrustBundle.Offer", []any{(*intent.TrustBundle).Offer}},
	{"approverSetInput", "quorum.Set.Input", []any{(*quorum.Set).Input}},
	{"approverSetDigest", "quorum.Set.Digest", []any{(*quorum.Set).Digest}},
	{"sameApproverSet", "quorum.Set.Equal", []any{(*quorum.Set).Equal}},
	{"signApproverSet", "quorum.ApproverSetChange, ceremony.Accepted.Sign", []any{quorum.ApproverSetChange, (*ceremony.Accepted).Sign}},
	{"verifyApproverSetChange", "quorum.Holder.Take", []any{quorum.Holder.Take}},
}

// Every primitive of the platform has its like in Go, under the name said.
func TestPrimitives(t *testing.T) {
	for _, p := range primitives {
		var names []string
		for _, f := range p.does {
			full := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
			name := full[strings.LastIndex(full, "/")+1:]
			names = append(names, strings.NewReplacer("(*", "", ")", "").Replace(name))
		}
		require.Equal(t, p.names, strings.Join(names, ", "), p.platform)
	}
}

// A signed batch, from the key to the machine that runs a command of it. What stands here for a review is in core/ceremony.
func Example_primitives() {
	ctx, domain := context.Background(), "compute.example.com"
	alice, err := hsm.GenerateFileKey() // createApproverKey
	if err != nil {
		panic(err)
	}
	set, err := quorum.NewSet(quorum.SetDraft{Keys: []quorum.PublicKey{alice.Public()}, Threshold: 1}) // approverKeyOf: Public
	if err != nil {
		panic(err)
	}
	payload := []byte{0x0a, 9, '1', '0', '.', '0', '.', '7', '.', '1', '2', 0x10, 3}
	subject, err := kinds.Builtin().Subject("bmc.power", "site1-agent", payload) // batchSubject
	if err != nil {
		panic(err)
	}
	scope, err := quorum.NewScope("batch_one", []quorum.Entry{{Subject: subject, Kind: "bmc.power"}, {Subject: "gpu-0001", Kind: "node.reboot"}}) // batchScope
	if err != nil {
		panic(err)
	}
	statement, err := scope.Approval(1798675200000, domain) // signBatchApproval: what a key signs,
	if err != nil {
		panic(err)
	}
	signature, err := alice.Sign(ctx, statement) // and, in core/ceremony once a review was accepted, its signing
	if err != nil {
		panic(err)
	}
	root := scope.Root()
	approval := &quorum.Approval{BatchID: "batch_one", ScopeRoot: root[:], ScopeSize: uint64(scope.Size()), NotAfter: 1798675200000,
		Signatures: []quorum.UnverifiedSignature{{KID: signature.KID.String(), Sig: signature.Sig[:]}}}
	proof, _ := scope.ProofOf(quorum.Entry{Subject: subject, Kind: "bmc.power"})
	command := quorum.BatchedCommand{BatchID: "batch_one", Subject: subject, Kind: "bmc.power", Payload: payload}
	admission, err := command.Verify(approval, &proof, set, domain, 1798632000000) // verifyBatchCommand
	fmt.Println(subject, len(admission.Approvers), admission.Bound, err)

	removal, err := quorum.NewSet(quorum.SetDraft{})
	if err != nil {
		panic(err)
	}
	machine, err := quorum.NewHolder(quorum.HolderDraft{Set: set, Epoch: 1, TrustDomain: domain})
	if err != nil {
		panic(err)
	}
	_, _, err = machine.Take(quorum.Offer{Set: removal, Epoch: 2}) // verifyApproverSetChange
	fmt.Println(err)
	// Output:
	// bmc:site1-agent/10.0.7.12 1 false <nil>
	// ACCESS_DENIED: approver set: 0 of 1 required keys of the set in force signed this set for epoch 2 of compute.example.com
}
