package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/medium"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/scope"
)

// batch notes the batch that is reviewed, and looks up what was signed of late. What a policy and the file contradict each
// other in, the review refuses.
func (m *memory) batch(v *scope.Verified, p *scope.Policy) error {
	if m.ledger == nil {
		return nil
	}
	h := v.Header()
	b := &ledger.Batch{ID: v.Scope().BatchID(), Root: ledger.Hash(v.Scope().Root()), Size: uint64(v.Scope().Size()), NotAfter: h.NotAfter, TrustDomain: p.TrustDomain}
	if b.TrustDomain == "" {
		b.TrustDomain = h.TrustDomain
	}
	if b.NotAfter == 0 {
		b.NotAfter = p.NotAfter
	}
	m.entry.Batch = b
	m.subjects = ledger.NewSubjects(v.Scope().Size(), func(yield func(string) bool) {
		for i := range v.Scope().Size() {
			if !yield(v.Leaf(i).Subject) {
				return
			}
		}
	})
	ledgerFile := medium.Input{Role: "ledger", Path: filepath.Join(m.folder, "ledger.db")}
	for _, f := range medium.Findings(m.reviewed, []medium.Input{ledgerFile}) {
		if f.Rule == review.SameMedium {
			m.found = append(m.found, f)
		}
	}
	earlier, err := m.earlierBatches()
	if err != nil || m.entry.Outcome == ledger.Declined {
		return err
	}
	return m.lookUp(p, earlier)
}

// unchecked notes a bare root, which nobody reviewed: from now on the end is recorded.
func (m *memory) unchecked(f *signFlags, p *scope.Policy) error {
	m.at(p.Time)
	m.settings(policySettings(&f.reviewFlags, p))
	m.begun = true
	m.entry.Batch = &ledger.Batch{ID: f.batch, Root: ledger.Hash(*p.Root), Size: f.size, NotAfter: p.NotAfter, TrustDomain: p.TrustDomain, Unchecked: true}
	if m.ledger == nil {
		return nil
	}
	_, err := m.earlierBatches()
	return err
}

// lookUp adds the findings of what was signed within 24 hours; earlier is how many other batches were.
func (m *memory) lookUp(p *scope.Policy, earlier int) error {
	b := *m.entry.Batch
	overlap, err := m.ledger.ApprovedSubjects(b, m.subjects, m.entry.At, m.entry.Clock)
	if err != nil {
		return err
	}
	if overlap.Subjects > 0 {
		m.found = append(m.found, review.NewFinding(review.AlreadyApprovedSubjects, review.Escape(fmt.Sprintf(
			"you approved %d of these %d subjects within 24 hours, in %s", overlap.Subjects, m.subjects.Len(), counted(overlap.BatchCount, "batch", "batches"))),
			batchPlaces(overlap.Batches, overlap.BatchCount)...))
	}
	set := p.Approvers
	if p.ThresholdUnknown {
		set = nil
	}
	if set == nil && earlier > 0 {
		m.found = append(m.found, review.NewFinding(review.SplitUnchecked, review.Escape(fmt.Sprintf(
			"you signed %s within 24 hours; without the approver set nobody knows what would be needed for all of them",
			counted(earlier, "other batch", "other batches")))))
	}
	splits, err := m.ledger.SplitBatches(b, set, m.entry.At, m.entry.Clock)
	for _, s := range splits {
		m.found = append(m.found, review.NewFinding(review.SplitBatches, review.Escape(fmt.Sprintf(
			"with %s signed within 24 hours this makes %d operations; over %d, %d approvals would be needed",
			counted(s.BatchCount, "batch", "batches"), s.Sum, s.Bound, s.Needed)), batchPlaces(s.Batches, s.BatchCount)...))
	}
	return err
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// batchPlaces names batches, and how many more there are.
func batchPlaces(ids []string, count int) (places []review.Text) {
	for _, id := range ids {
		places = append(places, review.Escape(id))
	}
	if more := count - len(ids); more > 0 {
		places = append(places, review.Escape(fmt.Sprintf("and %d more", more)))
	}
	return places
}

// policySettings gives what a scope was held against, for the record.
func policySettings(f *reviewFlags, p *scope.Policy) map[string]string {
	values := map[string]string{
		"trustDomain": p.TrustDomain, "maxHours": strconv.Itoa(p.MaxHours), "root": f.root,
		"allowUnbound": ifTrue(p.AllowUnbound), "allowOpaque": ifTrue(p.AllowOpaque), "now": f.now,
	}
	if k := f.kindsRead; k != nil && k.digest != nil {
		values["kinds"], values["kindsSha256"] = k.path, k.digest.SHA256.String()
	}
	if p.NotAfter != 0 {
		values["notAfter"] = strconv.FormatUint(p.NotAfter, 10)
	}
	if p.Approvers != nil {
		values["approverSet"] = fmt.Sprintf("%x", p.Approvers.Digest())
	}
	for i, line := range p.Configuration {
		values["configuration"+map[bool]string{true: "InsteadOf"}[i > 0]] = line
	}
	return values
}

// expected notes the expected list beside the settings, as it was read.
func (m *memory) expected(path string, data []byte) {
	if m.records() {
		m.entry.Policy["expect"], m.entry.Policy["expectSha256"] = path, fileOf(data).SHA256.String()
	}
}

func ifTrue(b bool) string {
	if b {
		return "true"
	}
	return ""
}
