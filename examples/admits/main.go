// Admits asks what a machine asks before it runs a destructive command: does an approval that enough approvers signed admit
// this operation on this subject? It uses the core library alone: no scope file, nobody's word but the approvers'.
//
//	go run ./examples/admits -approval approval.binpb -proof proof.binpb -approvers alice.pub,bob.pub,carol.pub -threshold 2 \
//	    -trust-domain compute.example.com -subject gpu-0417 -kind node.reboot -payload-sha256 HEX [-now TIME]
//
// It prints who approved and ends with 0, or says why not and ends with 1.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A question is a command that a machine was given, and by what the machine judges.
type question struct {
	approval, proof, approvers, trustDomain, subject, kind, payloadSHA256, now string
	threshold                                                                  uint
}

func main() {
	var q question
	flag.StringVar(&q.approval, "approval", "", "combined approval, protobuf")
	flag.StringVar(&q.proof, "proof", "", "inclusion proof, protobuf")
	flag.StringVar(&q.approvers, "approvers", "", "the .pub files of the approvers this machine holds, comma-separated")
	flag.UintVar(&q.threshold, "threshold", 0, "how many of them must have signed")
	flag.StringVar(&q.trustDomain, "trust-domain", "", "this machine's own trust domain")
	flag.StringVar(&q.subject, "subject", "", "what the command acts on")
	flag.StringVar(&q.kind, "kind", "", "the command's kind")
	flag.StringVar(&q.payloadSHA256, "payload-sha256", "", "SHA-256 of the command's payload, hex; none where any payload is admitted")
	flag.StringVar(&q.now, "now", "", "time, RFC 3339 (default: the clock's)")
	flag.Parse()
	if err := q.answer(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, review.Escape(err.Error()))
		os.Exit(1)
	}
}

func (q *question) answer(w io.Writer) error {
	set, err := q.set()
	if err != nil {
		return err
	}
	now := time.Now()
	if q.now != "" {
		if now, err = time.Parse(time.RFC3339, q.now); err != nil {
			return err
		}
	}
	data, err := durable.ReadFile(q.approval, wire.MaxFileBytes)
	if err != nil {
		return err
	}
	approval, err := quorum.ParseApproval(data)
	if err != nil {
		return err
	}
	kids, err := approval.Verify(set, q.trustDomain, uint64(now.UnixMilli()))
	if err != nil {
		return err
	}
	// The size and root are those that were signed. The proof brings neither.
	if err := q.proven(approval); err != nil {
		return err
	}
	fmt.Fprintf(w, "admitted: %s %s\n", review.Escape(q.kind), review.Escape(q.subject))
	for _, kid := range kids {
		fmt.Fprintln(w, "approved by", kid)
	}
	return nil
}

// proven tells whether the command's own leaf, computed from the command, is in the approved batch.
func (q *question) proven(approval *quorum.Approval) error {
	data, err := durable.ReadFile(q.proof, wire.MaxFileBytes)
	if err != nil {
		return err
	}
	proof, err := quorum.ParseProof(data)
	if err != nil {
		return err
	}
	var digest []byte
	if q.payloadSHA256 != "" {
		if digest, err = wire.ParseHex("-payload-sha256", q.payloadSHA256, 32); err != nil {
			return err
		}
	}
	leaf := quorum.LeafHash(approval.BatchID, q.subject, q.kind, digest)
	return proof.Verify(leaf, approval.ScopeSize, [32]byte(approval.ScopeRoot)) // 32 bytes, or Verify had refused
}

func (q *question) set() (*quorum.Set, error) {
	if q.approvers == "" {
		return nil, errors.New("-approvers is missing")
	}
	draft := quorum.SetDraft{Threshold: uint32(q.threshold)}
	for path := range strings.SplitSeq(q.approvers, ",") {
		data, err := durable.ReadFile(path, wire.MaxFileBytes)
		if err != nil {
			return nil, err
		}
		key, err := quorum.ParsePublicPEM(data)
		if err != nil {
			return nil, err
		}
		draft.Keys = append(draft.Keys, key)
	}
	return quorum.NewSet(draft)
}
