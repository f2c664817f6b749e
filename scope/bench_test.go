package scope

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A fleet is a scope file of many leaves, and the messages that its verification hashes.
type fleet struct {
	file     []byte
	payloads [][]byte
	leaves   [][]byte // 0x00 ‖ … , what a leaf hash covers
	sorted   []merkle.Hash
}

// newFleet makes reimages of machines with names and payloads as fleets have them: about 160 bytes, three SHA-256 blocks.
// Each machine has a payload of its own when distinct is set, else all have one of four.
func newFleet(size int, distinct bool) *fleet {
	const batch = "batch_01k0benchmark"
	f := &fleet{}
	entries := make([]quorum.Entry, size)
	var leaves bytes.Buffer
	for i := range size {
		n := i % 4
		if distinct {
			n = i
		}
		image := sha256.Sum256([]byte("image"))
		payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(&bettercomputev1.ReimageRequest{
			Image: "ubuntu-24.04-gpu", ImageSha256: image[:], WipeDisks: true,
			PreserveMounts: []string{"/srv/models", "/var/lib/etcd"}, UserData: fmt.Sprintf("#!/bin/sh\nhostnamectl set-hostname gpu-node-%06d\nsystemctl enable bcd\n", n),
		})
		if err != nil {
			panic(err)
		}
		digest := sha256.Sum256(payload)
		subject := fmt.Sprintf("node_gpu-a%03d-n%04d", i/4096, i%4096)
		entries[i] = quorum.Entry{Subject: subject, Kind: "node.reimage", PayloadSHA256: digest[:]}
		f.payloads = append(f.payloads, payload)
		message := wire.AppendLP(wire.AppendLP(wire.AppendLP([]byte{0}, batch), subject), "node.reimage")
		f.leaves = append(f.leaves, wire.AppendLP(message, digest[:]))
		if i > 0 {
			leaves.WriteByte(',')
		}
		fmt.Fprintf(&leaves, "\n"+`{"subject":"%s","kind":"node.reimage","payloadSha256":"%s","payload":{"typeUrl":"type.googleapis.com/bettercompute.v1.ReimageRequest","value":"%s"}}`,
			subject, hex.EncodeToString(digest[:]), base64.StdEncoding.EncodeToString(payload))
	}
	tree, err := quorum.HashScope(batch, size, 1, func(i int) (subject, kind, digest []byte) {
		return []byte(entries[i].Subject), []byte(entries[i].Kind), entries[i].PayloadSHA256
	})
	if err != nil {
		panic(err)
	}
	for i := range size {
		f.sorted = append(f.sorted, tree.Leaf(i))
	}
	f.file = fmt.Appendf(nil, `{"format":"better-compute-batch-scope","version":1,"batchId":"%s","scopeRoot":"%s","scopeSize":%d,"notAfter":4102444800000,"trustDomain":"compute.example.com","leaves":[%s`+"\n]}\n",
		batch, tree.Root(), size, leaves.Bytes())
	return f
}

// hashAlone is F1: the hashing alone, over the same messages, with nothing around it.
func (f *fleet) hashAlone() {
	for _, p := range f.payloads {
		sha256.Sum256(p)
	}
	for _, l := range f.leaves {
		sha256.Sum256(l)
	}
	level := f.sorted
	above := make([]merkle.Hash, len(level))
	for n := len(level); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			above[i] = merkle.NodeHash(&level[2*i], &level[2*i+1])
		}
		if n%2 == 1 {
			above[n/2] = level[n-1]
		}
		level = above
	}
}

var lifted = limits{fileBytes: math.MaxInt64, leaves: 1 << 24, batchBytes: 1 << 34}

func (f *fleet) verify(tb testing.TB, workers int) *Verified {
	p, err := parse(bytes.NewReader(f.file), workers, lifted)
	if err != nil {
		tb.Fatal(err)
	}
	v, err := p.Verify(VerifyOptions{Kinds: kinds.Builtin(), Workers: workers})
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// interleave runs each of the works in turn, again and again, so that a busy moment falls on all of them, and gives the
// median time of each.
func interleave(b *testing.B, works ...func()) []time.Duration {
	times := make([][]time.Duration, len(works))
	for b.Loop() {
		for i, work := range works {
			runtime.GC()
			start := time.Now()
			work()
			times[i] = append(times[i], time.Since(start))
		}
	}
	medians := make([]time.Duration, len(works))
	for i := range times {
		slices.SortFunc(times[i], cmp.Compare[time.Duration])
		medians[i] = times[i][len(times[i])/2]
	}
	return medians
}

// BenchmarkVerify measures the whole verification, parse to root, against the hashing alone.
func BenchmarkVerify(b *testing.B) {
	for _, size := range []int{1_000, 50_000, 1_000_000} {
		f := newFleet(size, true)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("leaves=%d/workers=%d", size, workers), func(b *testing.B) {
				m := interleave(b, f.hashAlone, func() { f.verify(b, workers) })
				b.ReportMetric(float64(m[1])/float64(m[0]), "×F1")
				b.ReportMetric(float64(m[0])/1e6, "F1-ms")
			})
		}
	}
}

// BenchmarkGrowth measures what twenty times the leaves take.
func BenchmarkGrowth(b *testing.B) {
	small, large := newFleet(50_000, true), newFleet(1_000_000, true)
	b.Run("leaves=1000000", func(b *testing.B) {
		m := interleave(b, func() { small.verify(b, 2) }, func() { large.verify(b, 2) })
		b.ReportMetric(float64(m[1])/float64(m[0]), "×50000-leaves")
	})
}

// BenchmarkParse measures the reading alone beside what libraries take to read the same file into structs, of which none
// is as strict.
func BenchmarkParse(b *testing.B) {
	f := newFleet(50_000, true)
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	peers := []struct {
		name string
		work func()
	}{
		{"encoding/json", func() { check(stdjson.Unmarshal(f.file, new(oracleFile))) }},
		{"scanner-1-worker", func() { _, err := parse(bytes.NewReader(f.file), 1, lifted); check(err) }},
		{"scanner-2-workers", func() { _, err := parse(bytes.NewReader(f.file), 2, lifted); check(err) }},
		{"json-v2", func() { check(json.Unmarshal(f.file, new(oracleFile), json.RejectUnknownMembers(true))) }},
	}
	works := make([]func(), len(peers))
	for i := range peers {
		works[i] = peers[i].work
	}
	m := interleave(b, works...)
	for i := range peers {
		b.ReportMetric(float64(m[i])/float64(m[0]), peers[i].name)
	}
}

// BenchmarkStages tells the stages after the verification apart, against the hashing alone, where every machine has a
// payload of its own and where few differ.
func BenchmarkStages(b *testing.B) {
	for name, distinct := range map[string]bool{"distinct": true, "alike": false} {
		b.Run(name, func(b *testing.B) {
			f := newFleet(50_000, distinct)
			v := f.verify(b, 2)
			d := v.Decode()
			p := testPolicy()
			doc := document(b, d, p)
			m := interleave(b, f.hashAlone, func() { v.Decode() }, func() { document(b, d, p) }, func() {
				if err := review.WriteText(io.Discard, doc, review.Brief); err != nil {
					b.Fatal(err)
				}
			})
			for i, stage := range []string{"decode", "review", "draw"} {
				b.ReportMetric(float64(m[i+1])/float64(m[0]), stage+"-×F1")
			}
		})
	}
}

// Nothing is allocated for a leaf: what 20,000 more cost is a few chunks and slices.
func TestNoAllocationsForEachLeaf(t *testing.T) {
	small, large := newFleet(1_000, true), newFleet(21_000, true)
	for _, workers := range []int{1, 2} {
		few := testing.AllocsPerRun(3, func() { small.verify(t, workers) })
		many := testing.AllocsPerRun(3, func() { large.verify(t, workers) })
		require.Less(t, (many-few)/20_000, 0.01, "%v allocations for 1,000 leaves, %v for 21,000", few, many)
	}
}
