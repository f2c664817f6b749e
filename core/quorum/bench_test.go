package quorum_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/better-compute/approver/core/quorum"
)

// plainVerification gives crypto/ecdsa's verification of a signature, with everything made ready before.
func plainVerification(b *testing.B, key testKey, s quorum.Statement, sig []byte) func() {
	digest := s.Digest()
	var builder cryptobyte.Builder
	builder.AddASN1(asn1.SEQUENCE, func(c *cryptobyte.Builder) {
		c.AddASN1BigInt(new(big.Int).SetBytes(sig[:32]))
		c.AddASN1BigInt(new(big.Int).SetBytes(sig[32:]))
	})
	der := builder.BytesOrPanic()
	return func() {
		if !ecdsa.VerifyASN1(&key.private.PublicKey, digest[:], der) {
			b.Fatal("does not verify")
		}
	}
}

// BenchmarkVerifyCommand measures what a machine does before it runs a batched command, with five signatures and a proof in
// a tree of 50,000 leaves, against its five P-256 verifications alone, in turns; also from the bytes that it was sent.
func BenchmarkVerifyCommand(b *testing.B) {
	const size, approvers, now = 50_000, 5, 1000
	keys := newKeys(b, 7)
	digest := sha256.Sum256([]byte("pay"))
	scope, err := quorum.HashScope("batch_01k0benchmark", size, 2, func(i int) (subject, kind, payloadSHA256 []byte) {
		return fmt.Appendf(nil, "node_gpu-%06d", i), []byte("node.reimage"), digest[:]
	})
	require.NoError(b, err)
	statement, err := scope.Approval(2000, domains[0])
	require.NoError(b, err)
	set, root := setOf(b, approvers, keys...), scope.Root()
	approval := &quorum.Approval{BatchID: scope.BatchID(), ScopeRoot: root[:], ScopeSize: size, NotAfter: 2000}
	var plain []func()
	for _, k := range keys[:approvers] {
		s := k.signUnverified(b, statement)
		approval.Signatures = append(approval.Signatures, s)
		plain = append(plain, plainVerification(b, k, statement, s.Sig))
	}
	command := quorum.BatchedCommand{BatchID: scope.BatchID(), Subject: "node_gpu-012345", Kind: "node.reimage", Payload: []byte("pay")}
	proof, ok := scope.ProofOf(quorum.Entry{Subject: command.Subject, Kind: command.Kind, PayloadSHA256: digest[:]})
	require.True(b, ok)
	sentApproval, sentProof := approval.Encode(), quorum.EncodeProof(proof)
	works := []func(){
		func() {
			for _, verify := range plain {
				verify()
			}
		},
		func() {
			if a, err := command.Verify(approval, &proof, set, domains[0], now); err != nil || !a.Bound || len(a.Approvers) != approvers {
				b.Fatal(a, err)
			}
		},
		func() {
			a, err := quorum.ParseApproval(sentApproval)
			require.NoError(b, err)
			p, err := quorum.ParseProof(sentProof)
			require.NoError(b, err)
			if _, err := command.Verify(a, &p, set, domains[0], now); err != nil {
				b.Fatal(err)
			}
		},
	}
	times := make([][]time.Duration, len(works))
	for b.Loop() {
		for i, work := range works {
			start := time.Now()
			work()
			times[i] = append(times[i], time.Since(start))
		}
	}
	median := func(i int) float64 {
		slices.SortFunc(times[i], cmp.Compare[time.Duration])
		return float64(times[i][len(times[i])/2])
	}
	b.ReportMetric(median(1)/median(0), "×verifications")
	b.ReportMetric(median(2)/median(0), "from-bytes-×verifications")
}
