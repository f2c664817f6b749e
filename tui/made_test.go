package tui

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/scope"
)

// startTime is when the tests' clock begins; the window of their scopes closes six hours later.
var startTime = time.Date(2027, 1, 20, 2, 0, 0, 0, time.UTC)

const trustDomain = "compute.example.com"

// A leafOf gives the fields of a leaf of a scope, as JSON, without the braces.
type leafOf func(t require.TestingT, i int) string

// reimages gives leaves that reimage machines: with one of so many scripts, or each with its own where that is 0.
func reimages(scripts int) leafOf {
	return func(t require.TestingT, i int) string {
		host := i
		if scripts > 0 {
			host = i % scripts
		}
		image := "ubuntu-24.04-gpu"
		return reimage(t, i, image, fmt.Sprintf("#!/bin/sh\nhostnamectl set-hostname gpu-node-%06d\nsystemctl enable bcd\n", host))
	}
}

func reimage(t require.TestingT, i int, image, script string) string {
	digest := sha256.Sum256([]byte(image))
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(&bettercomputev1.ReimageRequest{
		Image: image, ImageSha256: digest[:], WipeDisks: true, PreserveMounts: []string{"/srv/models", "/var/lib/etcd"}, UserData: script,
	})
	require.NoError(t, err)
	return fmt.Sprintf(`"subject":"gpu-a%03d-n%04d","kind":"node.reimage","payload":{"typeUrl":"type.googleapis.com/bettercompute.v1.ReimageRequest","value":"%s"}`,
		i/4096, i%4096, base64.StdEncoding.EncodeToString(payload))
}

// mixed is a small batch with an outlier and a power cycle through two site agents.
func mixed(t require.TestingT, i int) string {
	switch {
	case i == 3:
		return reimage(t, i, "ubuntu-22.04-gpu", "#!/bin/sh\necho hello\n")
	case i >= 12:
		payload, err := proto.Marshal(&bettercomputev1.BmcOperationRequest{Address: fmt.Sprintf("10.0.0.%d", i),
			Operation: &bettercomputev1.BmcOperationRequest_Power{Power: bettercomputev1.BmcOperationRequest_CYCLE}})
		require.NoError(t, err)
		return fmt.Sprintf(`"subject":"bmc:site-%d/10.0.0.%d","kind":"bmc.power","payload":{"typeUrl":"type.googleapis.com/bettercompute.v1.BmcOperationRequest","value":"%s"}`,
			i%2, i, base64.StdEncoding.EncodeToString(payload))
	}
	return reimage(t, i, "ubuntu-24.04-gpu", "#!/bin/sh\necho hello\n")
}

// scopeFile gives a bare array of leaves.
func scopeFile(t require.TestingT, size int, leaf leafOf) []byte {
	var b bytes.Buffer
	for i := range size {
		b.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
		b.WriteString("{" + leaf(t, i) + "}")
	}
	b.WriteString("]")
	return b.Bytes()
}

func testPolicy() scope.Policy {
	return scope.Policy{Time: review.Time{Now: startTime}, Location: time.UTC, TrustDomain: trustDomain, NotAfter: uint64(startTime.Add(6 * time.Hour).UnixMilli())}
}

// decoded takes the road from leaves to what is reviewed.
func decoded(t require.TestingT, leaves []byte) *scope.Decoded {
	parsed, err := scope.Parse(bytes.NewReader(leaves), 2)
	require.NoError(t, err)
	verified, err := parsed.Verify(scope.VerifyOptions{Kinds: kinds.Builtin(), BatchID: "batch_01k0night", Workers: 2})
	require.NoError(t, err)
	return verified.Decode()
}

// openedScope gives a batch as a road would.
func openedScope(t require.TestingT, leaves []byte, p scope.Policy) *Opened {
	d := decoded(t, leaves)
	r, err := d.Review(p)
	require.NoError(t, err)
	return &Opened{
		Path: review.Escape("/media/stick/scope.json"), SHA256: sha256.Sum256(leaves), Review: r, NotAfter: startTime.Add(6 * time.Hour),
		RootSays: "recomputed here from all leaves",
		Leaf: func(operation, subject int) (Leaf, error) {
			hash, proof, err := d.LeafOf(operation, subject)
			return Leaf{hash, d.Verified().Scope().Size(), proof}, err
		},
		Decline: func(reason string) (*review.Review, error) { return d.ReviewDecline(p, reason) },
	}
}

func testKeys(t require.TestingT, numbers ...int) (keys []quorum.PublicKey) {
	for _, n := range numbers {
		var scalar [32]byte
		binary.BigEndian.PutUint64(scalar[24:], uint64(n)+1)
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar[:])
		require.NoError(t, err)
		key, err := quorum.NewPublicKey(&private.PublicKey)
		require.NoError(t, err)
		keys = append(keys, key)
	}
	return keys
}

func testSet(t require.TestingT, threshold uint32, numbers ...int) *quorum.Set {
	s, err := quorum.NewSet(quorum.SetDraft{Threshold: threshold, Keys: testKeys(t, numbers...)})
	require.NoError(t, err)
	return s
}

// openedChange gives a change of the approver set as a road would.
func openedChange(t require.TestingT, current, to *quorum.Set, label string) *Opened {
	c := approvers.Change{Current: current, CurrentEpoch: 1, CurrentFrom: "set.json", Next: to, Epoch: 2, TrustDomain: trustDomain,
		Labels: map[quorum.KID]string{testKeys(t, 3)[0].KID(): label}, Time: review.Time{Now: startTime}}
	r, err := c.Review()
	require.NoError(t, err)
	return &Opened{Path: review.Escape("set.json"), Review: r}
}

// openedDocument gives any document; its subjects are counted here, and its root is that of some batch.
func openedDocument(t require.TestingT, d review.Document) *Opened {
	tree, err := quorum.NewScope("batch_any", []quorum.Entry{{Subject: "any", Kind: "node.wipe"}})
	require.NoError(t, err)
	s, err := tree.Approval(uint64(startTime.Add(time.Hour).UnixMilli()), trustDomain)
	require.NoError(t, err)
	root := tree.Root()
	d.What, d.Root, d.Size = "batch scope", root[:], 0
	for i := range d.Operations {
		d.Size += len(d.Operations[i].Subjects)
	}
	r, err := review.New(s, d)
	require.NoError(t, err)
	return &Opened{Path: review.Escape("any.json"), Review: r, NotAfter: startTime.Add(time.Hour)}
}
