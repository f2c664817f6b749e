package tui

import (
	"strings"

	"github.com/better-compute/approver/core/review"
)

// A by says what a selection goes by.
type by uint8

const (
	byNothing by = iota
	byKind
	byOperation
	bySite
	byFinding
	asExpected // not among the findings that hold the batch against the expected list
)

// A selection is which subjects are shown.
type selection struct {
	by        by
	name      string // of a kind
	operation int    // by its index
	site      int    // by its index
	finding   int    // by its index
}

// says names the selection: the program's own words, and the text of what they are about.
func (f selection) says(s *session) (own, text string) {
	switch d := s.document(); f.by {
	case byKind:
		return "kind ", f.name
	case byOperation:
		return d.Counts.String() + " " + review.Number(f.operation+1) + " ", d.Operations[f.operation].Title.String()
	case bySite:
		return "site ", s.index.sites[f.site].name
	case byFinding:
		return "finding " + string(d.Findings[f.finding].Rule), ""
	case asExpected:
		return "as the expected list has it", ""
	}
	return "all", ""
}

// subjects gives the subjects of the selection, ascending; nil stands for all. It may take some milliseconds where it goes
// by a finding or the expected list.
func (f selection) subjects(s *session) []uint32 {
	x, d := s.index, s.document()
	switch f.by {
	case byKind:
		found := []uint32{}
		for i := range d.Operations {
			if d.Operations[i].Title.String() == f.name {
				found = appendRange(found, x.first[i], x.first[i+1])
			}
		}
		return found
	case byOperation:
		return appendRange([]uint32{}, x.first[f.operation], x.first[f.operation+1])
	case bySite:
		found := []uint32{}
		for n, site := range x.site {
			if site == uint32(f.site) {
				found = append(found, uint32(n))
			}
		}
		return found
	case byFinding:
		return x.named(&d.Findings[f.finding], false)
	case asExpected:
		all := review.Finding{}
		for _, finding := range d.Findings {
			if isExpectation(finding.Rule) {
				all.Places = append(all.Places, finding.Places...)
			}
		}
		return x.named(&all, true)
	}
	return nil
}

func appendRange(list []uint32, from, to uint32) []uint32 {
	for n := from; n < to; n++ {
		list = append(list, n)
	}
	return list
}

// isExpectation tells whether a rule holds the batch against the expected list.
func isExpectation(r review.Rule) bool {
	return r == review.ExpectMissing || r == review.ExpectUnexpected || r == review.ExpectDoubled
}

// named gives the subjects that a finding's places name, or with others those that they do not name. A place is a subject,
// alone or with the kind and the digest after it.
func (x *subjectIndex) named(f *review.Finding, others bool) []uint32 {
	wanted := make(map[string]bool, len(f.Places))
	for _, place := range f.Places {
		wanted[place.String()] = true
		if words := strings.Fields(place.String()); len(words) > 2 {
			wanted[words[0]+" "+words[1]] = true
		}
	}
	found := []uint32{}
	for i := range x.doc.Operations {
		o := &x.doc.Operations[i]
		for j, t := range o.Subjects {
			if (wanted[t.String()] || wanted[t.String()+" "+o.Title.String()]) != others {
				found = append(found, x.first[i]+uint32(j))
			}
		}
	}
	return found
}
