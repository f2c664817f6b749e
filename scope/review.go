package scope

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// Review holds the scope against a policy and makes the document that a person sees, tied to the statement that would be
// signed. A stop among its findings forbids signing (review.Review.Stop). Errors, in the order of WIRE.md §5:
// SCOPE_CHANGED, TRUST_DOMAIN_MISMATCH, INVALID_INPUT where trust domain or end are nowhere or contradict the file, and
// INVALID_STATE (already-approved) where the policy's own key approved the batch before.
func (d *Decoded) Review(p Policy) (*review.Review, error) {
	t, err := d.verified.terms(&p)
	if err != nil {
		return nil, err
	}
	if err := d.verified.CheckNotApproved(p.Key); err != nil {
		return nil, err
	}
	statement, err := d.verified.scope.Approval(t.notAfter, t.trustDomain)
	if err != nil {
		return nil, err
	}
	return d.review(&p, t, statement, nil)
}

// ReviewDecline makes the same document for saying no to the scope, for a reason that is shown in it: the approver's own
// text of 1 to 500 UTF-16 units. What is expired, opaque or unbound may be declined: stops stay among the findings and forbid
// nothing. Errors are those of Review, but for already-approved: who approved may decline, and a fact says that it takes
// nothing back; and INVALID_INPUT for a reason that is none.
func (d *Decoded) ReviewDecline(p Policy, reason string) (*review.Review, error) {
	t, err := d.verified.terms(&p)
	if err != nil {
		return nil, err
	}
	statement, err := d.verified.scope.Decline(t.notAfter, t.trustDomain, reason)
	if err != nil {
		return nil, err
	}
	facts := []review.Fact{{Key: "declineReason", Name: "you decline because", Note: "your own text; it is signed", Value: review.EscapeLines(reason)}}
	if err := d.verified.CheckNotApproved(p.Key); err != nil {
		facts = append(facts, review.Fact{Key: "declineAfterApproval", Name: "your approval", Value: texts([]string{p.Key.String()}),
			Note: "the file says that this key approved before; declining TAKES NOTHING BACK"})
	}
	return d.review(&p, t, statement, facts)
}

// review makes the document, with facts that come first, and ties it to what is signed.
func (d *Decoded) review(p *Policy, t terms, statement quorum.Statement, first []review.Fact) (*review.Review, error) {
	root := d.verified.scope.Root()
	doc := review.Document{
		What: "batch scope", Root: root[:], Size: d.verified.scope.Size(),
		Facts: append(first, d.facts(p, t)...), Tallies: d.tallies(), Operations: d.documentOperations(), Summaries: d.summaries(), Findings: d.findings(p, t),
	}
	escapes := d.escapes(doc.Facts)
	if len(escapes) > 0 {
		places := make([]string, len(escapes))
		for i, e := range escapes {
			doc.Escapes += e.count
			places[i] = fmt.Sprintf("%s: %d", e.place, e.count)
		}
		doc.Findings = append(doc.Findings, review.NewFinding(review.EscapedText,
			review.Escape(counted(doc.Escapes, "character")+" shown as escapes"), texts(places)...))
	}
	return review.New(statement, doc)
}

// CheckNotApproved refuses a key that the file says has approved the batch already (INVALID_STATE, already-approved). The
// zero KID is no key.
func (v *Verified) CheckNotApproved(key quorum.KID) error {
	if key.IsZero() || !slices.Contains(v.approvedKIDs(), key) {
		return nil
	}
	return wire.Errorf(wire.InvalidState, "already-approved", "the key %s has approved this batch already; nothing is signed", key).With("kid", key)
}

func (v *Verified) approvedKIDs() []quorum.KID {
	kids := slices.Clone(v.header.Approvals)
	for _, s := range v.header.Signatures {
		kids = append(kids, s.KID)
	}
	return kids
}

// approved gives the kids whose signatures in the file verify for the policy's set.
func (v *Verified) approved(p *Policy, t terms) []quorum.KID {
	if p.Approvers == nil {
		return nil
	}
	approval := v.approval(t)
	for _, s := range v.header.Signatures {
		approval.Signatures = append(approval.Signatures, quorum.UnverifiedSignature{KID: s.KID.String(), Sig: s.Sig[:]})
	}
	kids, err := approval.Approvers(p.Approvers, t.trustDomain, t.notAfter) // whether the window is open is told elsewhere
	if err != nil {
		return nil
	}
	return kids
}

func (v *Verified) approval(t terms) *quorum.Approval {
	root := v.scope.Root()
	return &quorum.Approval{BatchID: v.scope.BatchID(), ScopeRoot: root[:], ScopeSize: uint64(v.scope.Size()), NotAfter: t.notAfter}
}

// claimed gives the kids that the file names as approvers and whose signature is not verified.
func (v *Verified) claimed(p *Policy, t terms) (claimed []string) {
	approved := v.approved(p, t)
	for _, kid := range v.approvedKIDs() {
		if !slices.Contains(approved, kid) {
			claimed = append(claimed, kid.String())
		}
	}
	return compacted(claimed)
}

func (d *Decoded) facts(p *Policy, t terms) []review.Fact {
	h := &d.verified.header
	fact := func(key, name, note string, lines ...string) review.Fact {
		return review.Fact{Key: key, Name: name, Note: note, Value: texts(lines)}
	}
	source := "the file's own word"
	switch {
	case p.Configured:
		source = "from your configuration"
	case t.pinned:
		source = "given by you"
	}
	facts := []review.Fact{
		fact("batchId", "batch", "", d.verified.scope.BatchID()),
		fact("trustDomain", "trust domain", source, t.trustDomain),
	}
	facts = append(append(facts, p.window(t.notAfter)...),
		review.Fact{Key: "reason", Name: "reason", Note: "the proposer's own text", Value: optional(h.Reason)},
		review.Fact{Key: "proposedBy", Name: "proposed by", Note: "the file's word", Value: optional(proposal(h))})
	if h.CreatedByAgent != "" {
		facts = append(facts, fact("createdByAgent", "agent", "", h.CreatedByAgent), review.Fact{
			Key: "delegationId", Name: "delegation", Value: optional(h.DelegationID)})
	}
	if len(p.Configuration) > 0 {
		facts = append(facts, fact("configuration", "configuration", "yours", p.Configuration...))
	}
	if p.Expected != nil {
		facts = append(facts, review.Fact{Key: "expectedList", Name: "expected list", Note: fmt.Sprintf("%d listed", p.Expected.Len()),
			Value: texts([]string{cmp.Or(p.ExpectedFrom, "given")})})
	}
	if set := d.descriptorSet(); set != nil {
		facts = append(facts, fact("descriptorSet", "kinds decoded by", "SHA-256 of the descriptor set, to compare with the other approvers",
			hex.EncodeToString(set[:16]), hex.EncodeToString(set[16:])))
	}
	return append(facts, d.approvalFacts(p, t)...)
}

// descriptorSet gives the digest of the descriptor set that operations of an installation's kinds were decoded by, or nil
// where there is none. The root binds bytes, and not what they are called: who has another set is shown something else.
func (d *Decoded) descriptorSet() []byte {
	for _, k := range d.verified.kinds {
		if k != nil && k.DescriptorSetSHA256() != nil {
			return k.DescriptorSetSHA256()
		}
	}
	return nil
}

func optional(s string) []review.Text {
	if s == "" {
		return nil
	}
	return review.EscapeLines(s)
}

// proposal says who proposed the batch; of an agent's proposal it is the platform's own sentence.
func proposal(h *Header) string {
	if h.CreatedByAgent == "" {
		return h.CreatedBy
	}
	who := h.CreatedBy
	if who == "" {
		who = "nobody named"
	}
	delegation := ""
	if h.DelegationID != "" {
		delegation = " (delegation " + h.DelegationID + ")"
	}
	return "Proposed by agent " + h.CreatedByAgent + " for " + who + delegation + ": the reason is the agent's own text"
}

// window says when the approval ends, in UTC and as the clock on the wall shows it, and for how long it stays open.
func (p *Policy) window(notAfter uint64) []review.Fact {
	end := time.UnixMilli(int64(notAfter))
	location := p.Location
	if location == nil {
		location = time.Local
	}
	open := end.Sub(p.Time.Now)
	state := duration(open)
	if open < 0 {
		state = "closed " + duration(-open) + " ago"
	}
	return []review.Fact{
		{Key: "notAfter", Name: "window ends", Value: texts([]string{utc(end)}), Note: fmt.Sprintf("notAfter %d", notAfter)},
		{Key: "notAfterLocal", Name: "local time", Value: texts([]string{end.In(location).Format("2006-01-02 15:04:05 -0700 MST")})},
		{Key: "open", Name: "stays open", Value: texts([]string{state}), Note: "now is " + utc(p.Time.Now)},
	}
}

func (d *Decoded) approvalFacts(p *Policy, t terms) []review.Fact {
	approved := d.verified.approved(p, t)
	var lines []string
	for _, kid := range approved {
		lines = append(lines, kid.String()+" verified")
	}
	for _, kid := range d.verified.claimed(p, t) {
		lines = append(lines, kid+" claimed")
	}
	facts := []review.Fact{{Key: "approvals", Name: "approvals so far", Value: texts(lines)}}
	if p.Approvers != nil && !p.ThresholdUnknown {
		return append(facts, review.Fact{Key: "required", Name: "required", Note: "by the approver set", Value: texts([]string{
			fmt.Sprint(p.Approvers.RequiredApprovals(uint64(d.verified.scope.Size())))})})
	}
	if d.verified.header.Required > 0 {
		return append(facts, review.Fact{Key: "required", Name: "required", Note: "the file's word",
			Value: texts([]string{fmt.Sprint(d.verified.header.Required)})})
	}
	return facts
}

func (d *Decoded) tallies() []review.Tally {
	destructive := make(map[string]bool)
	byKind, byAgent := make(map[string]int), make(map[string]int)
	for _, o := range d.ordered {
		byKind[o.kindName] += o.size()
		destructive[o.kindName] = o.destructive()
		if o.kind != nil && o.kind.SubjectForm() != wire.SubjectBMC {
			continue
		}
		for _, leaf := range d.positions[o.first:o.last] {
			if s, _ := wire.ParseSubject(d.verified.leaves[leaf].subject); s.Form == wire.SubjectBMC {
				byAgent[string(s.Node)]++
			}
		}
	}
	tallies := []review.Tally{{Title: "by kind", Rows: rows(byKind, destructive)}}
	if len(byAgent) > 0 {
		tallies = append(tallies, review.Tally{Title: "by site agent", Rows: rows(byAgent, nil)})
	}
	return tallies
}

func rows(counts map[string]int, destructive map[string]bool) (rows []review.Count) {
	for name, n := range counts {
		rows = append(rows, review.Count{Name: review.Escape(name), N: n, Destructive: destructive[name]})
	}
	slices.SortFunc(rows, func(a, b review.Count) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.Name.String(), b.Name.String())
	})
	return rows
}

// destructive tells what the kind table says; of a kind that is in none, the worst is assumed.
func (o *operation) destructive() bool { return o.kind == nil || o.kind.Destructive() }

func (d *Decoded) subjects(o *operation) []review.Text {
	subjects := make([]review.Text, 0, o.size())
	for _, leaf := range d.positions[o.first:o.last] {
		subjects = append(subjects, review.Escape(string(d.verified.leaves[leaf].subject)))
	}
	return subjects
}

// An escapeCount tells where how many characters are shown as escapes.
type escapeCount struct {
	place string
	count int
}

// escapes counts, in the facts and in every text of every operation. Where an operation's payload holds none, which one
// scan tells, it is not decoded.
func (d *Decoded) escapes(facts []review.Fact) (found []escapeCount) {
	add := func(place string, count int) {
		if count > 0 {
			found = append(found, escapeCount{place, count})
		}
	}
	for _, f := range facts {
		n := 0
		for _, line := range f.Value {
			n += line.Escapes()
		}
		add(f.Name, n)
	}
	for i, o := range d.ordered {
		if o.kind == nil { // that of a known kind is its own
			add(fmt.Sprintf("operation %d, type", i+1), review.Escape(o.typeURL).Escapes())
		}
		if o.class == shown && !o.plain {
			countFields(d.fields(o), fmt.Sprintf("operation %d, %s", i+1, o.kindName), add)
		}
	}
	return found
}

// markPlain notes which operations have no text that needs an escape: only the others are decoded to count them. A line
// feed starts a line of a text, but is an escape in the key of a map.
func (d *Decoded) markPlain() {
	for i := range d.operations {
		o := &d.operations[i]
		if o.class != shown {
			continue
		}
		check := review.PlainLines
		if o.kind.HasMaps() {
			check = review.PlainBytes
		}
		o.plain = true
		o.kind.Texts(o.payload, func(text []byte) bool {
			o.plain = check(text)
			return o.plain
		})
	}
}

// countFields names an entry of a map whose key itself is shown with escapes by its position: a place is escaped as a whole,
// once.
func countFields(fields []review.Field, path string, add func(string, int)) {
	for i, f := range fields {
		at, n := path+"."+f.Name.String(), f.Name.Escapes()
		if n > 0 {
			at = fmt.Sprintf("%s, entry %d", path, i+1)
		}
		for _, lines := range [][]review.Text{f.Value, f.Usual} {
			for _, line := range lines {
				n += line.Escapes()
			}
		}
		add(at, n)
		countFields(f.Fields, at, add)
	}
}
