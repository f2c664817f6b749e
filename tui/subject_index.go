package tui

import (
	"slices"
	"strings"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A subjectIndex holds the subjects of a document in its order, to be searched in a keystroke's time.
type subjectIndex struct {
	doc    *review.Document
	first  []uint32 // of each operation, the number of its first subject; at the end the number of all
	folded string   // all subjects in lower case, each after a line feed, which no text holds
	start  []uint32 // of each subject in folded; at the end the length
	sites  []site   // site agents, in the order in which they first come
	site   []uint32 // of each subject the index in sites, or none
}

// A site is a site agent and the number of its subjects.
type site struct {
	name string
	n    int
}

const noSite = ^uint32(0)

func newSubjectIndex(d *review.Document) *subjectIndex {
	x := &subjectIndex{doc: d, first: make([]uint32, 0, len(d.Operations)+1), start: make([]uint32, 0, d.Size+1), site: make([]uint32, 0, d.Size)}
	var b strings.Builder
	b.Grow(24 * d.Size)
	at := make(map[string]uint32)
	for i := range d.Operations {
		x.first = append(x.first, uint32(len(x.start)))
		for _, t := range d.Operations[i].Subjects {
			b.WriteByte('\n')
			x.start = append(x.start, uint32(b.Len()))
			fold(&b, t.String())
			x.site = append(x.site, x.siteOf(t.String(), at))
		}
	}
	x.first = append(x.first, uint32(len(x.start)))
	x.start = append(x.start, uint32(b.Len()+1))
	x.folded = b.String()
	return x
}

// fold writes the text in lower case, as far as it is ASCII.
func fold(b *strings.Builder, s string) {
	from := 0
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b.WriteString(s[from:i])
			b.WriteByte(c | 0x20)
			from = i + 1
		}
	}
	b.WriteString(s[from:])
}

// siteOf gives the site agent of a subject, as its form names it.
func (x *subjectIndex) siteOf(subject string, at map[string]uint32) uint32 {
	if !strings.HasPrefix(subject, "bmc:") {
		return noSite
	}
	s, ok := wire.ParseSubject([]byte(subject))
	if !ok || s.Form != wire.SubjectBMC {
		return noSite
	}
	i, seen := at[string(s.Node)]
	if !seen {
		i = uint32(len(x.sites))
		at[string(s.Node)] = i
		x.sites = append(x.sites, site{name: string(s.Node)})
	}
	x.sites[i].n++
	return i
}

// size gives the number of all subjects.
func (x *subjectIndex) size() int { return len(x.start) - 1 }

// of gives the operation of the nth subject, and which of its subjects it is.
func (x *subjectIndex) of(n int) (operation, subject int) {
	i, found := slices.BinarySearch(x.first, uint32(n))
	if !found {
		i--
	}
	return i, n - int(x.first[i])
}

// text gives the nth subject.
func (x *subjectIndex) text(n int) review.Text {
	o, i := x.of(n)
	return x.doc.Operations[o].Subjects[i]
}

// find gives the subjects among some that hold the query, in lower case; nil subjects are all of them.
func (x *subjectIndex) find(query string, among []uint32) []uint32 {
	if among != nil && len(among) < x.size()/8 {
		found := []uint32{} // not nil, which would be all
		for _, n := range among {
			if strings.Contains(x.folded[x.start[n]:x.start[n+1]-1], query) {
				found = append(found, n)
			}
		}
		return found
	}
	found := x.scan(query)
	if among == nil {
		return found
	}
	return intersect(found, among)
}

// scan looks for the query in all subjects.
func (x *subjectIndex) scan(query string) []uint32 {
	found := make([]uint32, 0, 1024)
	for pos, n := 0, 0; ; {
		i := strings.Index(x.folded[pos:], query)
		if i < 0 {
			return found
		}
		for pos += i; int(x.start[n+1]) <= pos; n++ {
		}
		found = append(found, uint32(n))
		pos = int(x.start[n+1]) - 1
		if pos >= len(x.folded) {
			return found
		}
	}
}

// intersect gives what two ascending lists share, in a; it reuses its memory.
func intersect(a, b []uint32) []uint32 {
	out := a[:0]
	for _, n := range a {
		for len(b) > 0 && b[0] < n {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == n {
			out = append(out, n)
		}
	}
	return out
}
