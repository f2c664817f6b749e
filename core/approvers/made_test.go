package approvers_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

var update = flag.Bool("update", false, "write the drawings of testdata anew")

const trustDomain = "compute.example.com"

var now = review.Time{Now: time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC)}

// privateKeys are the same in every run, so that drawings are.
var privateKeys = sync.OnceValue(func() (keys [130]*ecdsa.PrivateKey) {
	for i := range keys {
		var scalar [32]byte
		binary.BigEndian.PutUint64(scalar[24:], uint64(i)+1)
		key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar[:])
		if err != nil {
			panic(err)
		}
		keys[i] = key
	}
	return keys
})

var publicKeys = sync.OnceValue(func() (keys [130]quorum.PublicKey) {
	for i, k := range privateKeys() {
		key, err := quorum.NewPublicKey(&k.PublicKey)
		if err != nil {
			panic(err)
		}
		keys[i] = key
	}
	return keys
})

func kid(i int) quorum.KID { return publicKeys()[i].KID() }

func sign(t require.TestingT, i int, s quorum.Statement) quorum.Signature {
	digest := s.Digest()
	r, v, err := ecdsa.Sign(rand.Reader, privateKeys()[i], digest[:])
	require.NoError(t, err)
	signature := quorum.Signature{KID: kid(i)}
	r.FillBytes(signature.Sig[:32])
	v.FillBytes(signature.Sig[32:])
	return signature
}

func proof(t require.TestingT, i int) []byte {
	key := publicKeys()[i]
	return quorum.EncodeKeyProof(key, sign(t, i, quorum.ProofOfKey(key)))
}

// setSignature is the signature of a key over a set.
func setSignature(t require.TestingT, i int, set *quorum.Set, epoch uint64, domain string) *quorum.SetSignatureFile {
	s, err := quorum.ApproverSetChange(epoch, set, domain)
	require.NoError(t, err)
	return quorum.NewSetSignatureFile(s, sign(t, i, s))
}

// makeSet is a set of some keys, by their numbers.
func makeSet(t require.TestingT, keys []int, threshold, unbatched uint32, tiers ...quorum.Tier) *quorum.Set {
	d := quorum.SetDraft{Threshold: threshold, UnbatchedPerHour: unbatched, Tiers: tiers}
	for _, i := range keys {
		d.Keys = append(d.Keys, publicKeys()[i])
	}
	s, err := quorum.NewSet(d)
	require.NoError(t, err)
	return s
}

func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

// alice, bob and carol, two of whom must sign, are to become alice, bob and dave.
func made(t require.TestingT) approvers.Change {
	return approvers.Change{
		Current: makeSet(t, []int{0, 1, 2}, 2, 0), CurrentEpoch: 1, CurrentFrom: "set.json", CurrentKnown: "as you have it configured",
		Next: makeSet(t, []int{0, 1, 3}, 2, 0), Epoch: 2,
		Labels: map[quorum.KID]string{kid(0): "alice.pub", kid(1): "bob.pub", kid(2): "carol.pub", kid(3): "dave.pub"},
		Proofs: [][]byte{proof(t, 3)}, Key: kid(0), TrustDomain: trustDomain, Time: now,
	}
}

func reviewed(t require.TestingT, c approvers.Change) *review.Document {
	r, err := c.Review()
	require.NoError(t, err)
	return r.Document()
}

func drawn(t require.TestingT, d *review.Document, detail review.Detail) string {
	var b bytes.Buffer
	require.NoError(t, review.WriteText(&b, d, detail))
	return b.String()
}

// compareDrawing holds a drawing against the one that was read by a person and committed.
func compareDrawing(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", name, diff)
	}
}

func findings(d *review.Document) (rules []review.Rule) {
	for _, f := range d.Findings {
		rules = append(rules, f.Rule)
	}
	return rules
}

func find(d *review.Document, rule review.Rule) *review.Finding {
	for i := range d.Findings {
		if d.Findings[i].Rule == rule {
			return &d.Findings[i]
		}
	}
	return nil
}

func fact(d *review.Document, key string) *review.Fact {
	for i := range d.Facts {
		if d.Facts[i].Key == key {
			return &d.Facts[i]
		}
	}
	return nil
}
