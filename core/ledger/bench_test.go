package ledger_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
)

// A rawRecord is what a program that knows nothing of ledgers decodes a record into.
type rawRecord struct {
	Version  int
	Seq      uint64
	Previous string
	At       uint64
	Clock    string
	Outcome  string
	What     string
	Command  string
	Refusal  *struct{ Code, Reason string }
	File     *struct {
		SHA256 string
		Size   uint64
	}
	Batch *struct {
		BatchID, ScopeRoot  string
		ScopeSize, NotAfter uint64
		TrustDomain         string
		Unchecked           bool
	}
	ApproverSet *struct {
		Epoch                  uint64
		SetSHA256, TrustDomain string
	}
	Subjects *struct {
		Count  uint64
		SHA256 string
	}
	Findings []string
	Policy   struct {
		SHA256   string
		Settings map[string]string
	}
	Key       *struct{ KID, TokenLabel, TokenSerial, ModuleSHA256 string }
	Program   struct{ Version, SHA256 string }
	Signature string
	Reason    string
}

// inTurns measures works against each other, a round of each in turn, and gives the median of each.
func inTurns(b *testing.B, works ...func()) []float64 {
	times := make([][]time.Duration, len(works))
	for b.Loop() {
		for i, work := range works {
			start := time.Now()
			work()
			times[i] = append(times[i], time.Since(start))
		}
	}
	medians := make([]float64, len(works))
	for i := range works {
		slices.SortFunc(times[i], cmp.Compare[time.Duration])
		medians[i] = float64(times[i][len(times[i])/2])
	}
	return medians
}

// BenchmarkVerifyExport measures the verification of an export of 5,000 records against the SHA-256 of its bytes and
// encoding/json over its lines, in turns.
func BenchmarkVerifyExport(b *testing.B) {
	export := bytes.NewBufferString(`{"format":"better-compute-approver-ledger","version":1}` + "\n")
	var head ledger.Head
	for i := range 5000 {
		rec, err := ledger.NewRecord(signing(alice, noon+uint64(i), batch(fmt.Sprintf("b%d", i), 9)), subjects(0, 9))
		require.NoError(b, err)
		rec.Seq, rec.Previous, rec.Signature = head.Seq+1, head.Hash, &quorum.Sig{1, 2, byte(i)}
		export.Write(append(rec.Encode(), '\n'))
		head = rec.Head()
	}
	data := export.Bytes()
	m := inTurns(b, func() {
		sha256.Sum256(data)
		for line := range bytes.Lines(data) {
			var r rawRecord
			if err := json.Unmarshal(line, &r); err != nil {
				b.Fatal(err)
			}
		}
	}, func() {
		if c, err := ledger.VerifyExport(bytes.NewReader(data)); err != nil || c.Head() != head {
			b.Fatal(err)
		}
	})
	b.ReportMetric(m[1]/m[0], "×sha256+json")
}

// BenchmarkCheck measures everything that a ledger says of a scope of 50,000 subjects before it is signed, with 1,000 records
// against 10, all of the last 24 hours, in turns: where both have approved as many subjects, and where 1,000 have approved a
// hundred times as many.
func BenchmarkCheck(b *testing.B) {
	set := newSet(b, 3, quorum.Tier{MaxScopeSize: 50_000, Threshold: 1})
	check := func(records, each int) func() {
		l := open(b, home(b))
		for i := range records {
			add(b, l, signing(alice, noon+uint64(i), batch(fmt.Sprintf("b%d", i), each)), subjects(each*i, each*(i+1)))
		}
		return func() {
			scope, now := batch("scope", 50_000), noon+hour
			o, err := l.ApprovedSubjects(scope, subjects(0, 50_000), now)
			_, err2 := l.SplitBatches(scope, set, now)
			if err := errorsOf(err, err2, l.CheckClock(now), l.CheckBatch(alice, scope)); err != nil || o.Subjects != records*each {
				b.Fatal(o.Subjects, err)
			}
		}
	}
	m := inTurns(b, func() { subjects(0, 50_000) }, check(10, 4000), check(1000, 40), check(10, 40))
	b.ReportMetric(m[2]/m[1], "1000/10-records")
	b.ReportMetric(m[2]/m[3], "1000/10-records-and-subjects")
	b.ReportMetric(m[2]/m[0], "×hashing-subjects")
}
