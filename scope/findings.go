package scope

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// findings judges the scope in the order of checks (WIRE.md §5); what stops stands first.
func (d *Decoded) findings(p *Policy, t terms) []review.Finding {
	found := p.WindowFindings(t.notAfter)
	found = append(found, d.classFindings(p)...)
	found = append(found, d.expectFindings(p)...)
	found = append(found, d.originFindings(p, t)...)
	found = append(found, d.operationFindings(p, t)...)
	return append(found, p.Other...)
}

// classFindings are about leaves whose operation cannot be shown, and leaves that admit any.
func (d *Decoded) classFindings(p *Policy) (found []review.Finding) {
	opaque := func(o *operation) bool { return o.class == digestOnly || o.class == unknown }
	if places := d.places(opaque); len(places) > 0 {
		found = append(found, lift(p.AllowOpaque, review.NewFinding(review.Opaque,
			review.Escape(fmt.Sprintf("%s an operation that cannot be shown", leavesBind(len(places), "bind"))), places...)))
	}
	if places := d.places(func(o *operation) bool { return o.class == unbound }); len(places) > 0 {
		found = append(found, lift(p.AllowUnbound, review.NewFinding(review.Unbound,
			review.Escape(fmt.Sprintf("%s any payload of the kind", leavesBind(len(places), "admit"))), places...)))
	}
	return found
}

func leavesBind(n int, verb string) string {
	if n == 1 {
		return "1 leaf " + verb + "s"
	}
	return fmt.Sprintf("%d leaves %s", n, verb)
}

// counted gives a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func lift(allowed bool, f review.Finding) review.Finding {
	f.Details = map[string]any{"leaves": f.Places}
	if allowed {
		f, _ = f.Lifted()
	}
	return f
}

// places names the leaves of some operations.
func (d *Decoded) places(of func(*operation) bool) (places []review.Text) {
	for _, o := range d.ordered {
		if !of(o) {
			continue
		}
		for _, leaf := range d.positions[o.first:o.last] {
			places = append(places, review.Escape(string(d.verified.leaves[leaf].subject)+" "+o.kindName))
		}
	}
	return places
}

func (d *Decoded) expectFindings(p *Policy) (found []review.Finding) {
	if p.Expected == nil {
		return []review.Finding{review.NewFinding(review.NoExpect, review.Escape("no expected list was given"))}
	}
	diff := p.Expected.Compare(d.verified)
	details := map[string]any{"missing": texts(diff.Missing), "unexpected": texts(diff.Unexpected), "doubled": texts(diff.Doubled)}
	add := func(rule review.Rule, list []string, says string) {
		if len(list) == 0 {
			return
		}
		f := review.NewFinding(rule, review.Escape(fmt.Sprintf("%d %s", len(list), says)), texts(list)...)
		f.Details = details
		found = append(found, f)
	}
	add(review.ExpectMissing, diff.Missing, "on the expected list and not in the batch")
	add(review.ExpectUnexpected, diff.Unexpected, "in the batch and not on the expected list")
	add(review.ExpectDoubled, diff.Doubled, "in the batch more often than on the expected list")
	return found
}

func texts(list []string) []review.Text {
	t := make([]review.Text, len(list))
	for i, s := range list {
		t[i] = review.Escape(s)
	}
	return t
}

// originFindings are about where things come from: the trust domain, the key, the proposer, the approvals.
func (d *Decoded) originFindings(p *Policy, t terms) (found []review.Finding) {
	h := &d.verified.header
	if !t.pinned {
		found = append(found, review.NewFinding(review.TrustDomainUnpinned,
			review.Escape("the trust domain "+t.trustDomain+" is the file's word; none was given or configured")))
	}
	found = append(found, p.KeyFindings()...)
	if h.CreatedByAgent != "" {
		found = append(found, review.NewFinding(review.AgentProposed, review.Escape(proposal(h))))
	}
	if claimed := d.verified.claimed(p, t); len(claimed) > 0 {
		found = append(found, review.NewFinding(review.ApprovalsClaimed,
			review.Escape("the file claims "+counted(len(claimed), "approval")+", not verified"), texts(claimed)...))
	}
	return found
}

func (d *Decoded) operationFindings(p *Policy, t terms) (found []review.Finding) {
	found = append(found, d.outlierFindings()...)
	if names := d.kindNames(); len(names) > 1 {
		found = append(found, review.NewFinding(review.MixedKinds, review.Escape(fmt.Sprintf("the batch holds %d kinds", len(names))), texts(names)...))
	}
	open := time.UnixMilli(int64(t.notAfter)).Sub(p.Time.Now)
	if n := d.repeatable(); n > 0 && open > 24*time.Hour {
		found = append(found, review.NewFinding(review.Repeatable, review.Escape(fmt.Sprintf(
			"%s may be reimaged or wiped at any time within %s", counted(n, "machine"), duration(open)))))
	}
	if twice := d.addressTwice(); len(twice) > 0 {
		found = append(found, review.NewFinding(review.AddressTwice,
			review.Escape("two addresses of one site agent differ only in letter case"), texts(twice)...))
	}
	if pairs := d.mapOrder(); len(pairs) > 0 {
		found = append(found, review.NewFinding(review.MapOrder,
			review.Escape("operations differ in nothing but the order of map entries"), texts(pairs)...))
	}
	if places := d.runsAsRoot(); len(places) > 0 {
		found = append(found, review.NewFinding(review.RunsAsRoot,
			review.Escape("operations carry text that a machine runs with full rights"), texts(places)...))
	}
	return found
}

// repeatable counts the machines that lose their disks.
func (d *Decoded) repeatable() (n int) {
	for _, o := range d.ordered {
		if o.kindName == "node.reimage" || o.kindName == "node.wipe" {
			n += o.size()
		}
	}
	return n
}

// outlierFindings gives one finding for each kind that has rare operations.
func (d *Decoded) outlierFindings() (found []review.Finding) {
	for _, kind := range d.kindNames() {
		t := d.tables[kind]
		if t == nil {
			continue
		}
		var subjects []review.Text
		var fields []string
		for _, o := range t.operations {
			if !o.rare {
				continue
			}
			subjects = append(subjects, d.subjects(o)...)
			for _, odd := range o.odd {
				fields = append(fields, string(odd.column.field.Name()))
			}
		}
		for _, c := range t.columns {
			if c.mixed {
				found = append(found, review.NewFinding(review.Outlier, review.Escape(fmt.Sprintf(
					"%s: %s has %d values without a common form: what an odd one would be cannot be told, so each is to be read", kind, c.field.Name(), len(c.values)))))
			}
		}
		if len(subjects) == 0 {
			continue
		}
		message := fmt.Sprintf("%s: %d of %d subjects have an operation that few have", kind, len(subjects), t.subjects)
		if fields = compacted(fields); len(fields) > 0 {
			message += ", different in " + strings.Join(fields, ", ")
		}
		found = append(found, review.NewFinding(review.Outlier, review.Escape(message), subjects...))
	}
	return found
}

// kindNames gives the distinct kinds, sorted.
func (d *Decoded) kindNames() (names []string) {
	for i, o := range d.ordered {
		if i == 0 || o.kindName != d.ordered[i-1].kindName {
			names = append(names, o.kindName)
		}
	}
	return compacted(names)
}

// addressTwice gives the subjects that are equal to another one when letter case is put aside.
func (d *Decoded) addressTwice() (twice []string) {
	first := make(map[string]string)
	for i := range d.verified.leaves {
		s, _ := wire.ParseSubject(d.verified.leaves[i].subject)
		if s.Form != wire.SubjectBMC {
			continue
		}
		subject := string(d.verified.leaves[i].subject)
		folded := string(s.Node) + "/" + strings.ToLower(string(s.Target))
		if other, ok := first[folded]; !ok {
			first[folded] = subject
		} else if other != subject {
			twice = append(twice, other, subject)
		}
	}
	return compacted(twice)
}

// mapOrder names the operations that are equal once map entries are put in order.
func (d *Decoded) mapOrder() (pairs []string) {
	first := make(map[string]int)
	for i, o := range d.ordered {
		if o.class != shown || !o.kind.HasMaps() {
			continue
		}
		key := o.kindName + "\x00" + string(o.kind.SortMaps(o.withoutRelayed()))
		if j, ok := first[key]; ok {
			pairs = append(pairs, fmt.Sprintf("%s: operations %d and %d", o.kindName, j+1, i+1))
		} else {
			first[key] = i
		}
	}
	return pairs
}

// runsAsRoot names the kinds with user data, or with the body of a relayed request.
func (d *Decoded) runsAsRoot() (places []string) {
	for _, kind := range slices.Sorted(maps.Keys(scripts)) { // a batch may have thousands of kinds that nobody knows
		operations, subjects := 0, 0
		for _, o := range d.ordered {
			if o.kindName == kind && o.root {
				operations++
				subjects += o.size()
			}
		}
		if operations > 0 {
			places = append(places, fmt.Sprintf("%s: %s, in %s on %s", kind, scripts[kind].name, counted(operations, "operation"), counted(subjects, "subject")))
		}
	}
	return places
}

// scripts are the fields whose text a machine runs or applies with full rights.
var scripts = map[string]struct {
	name   string
	number protowire.Number
}{
	"node.reimage":   {"user_data", 5},
	"site.httpProxy": {"body", 5},
}
