package review

import (
	"crypto/rand"
	"math/big"
	"slices"
)

// SampleSize is how many operations are drawn at random from each kind that is read by its summary.
const SampleSize = 10

// A Reading remembers what a person has opened of a review, and knows what is to be opened before it is signed: every
// operation and every finding to acknowledge. Of a kind of which more than SummaryAbove operations remain when the outliers
// are set apart, the summary and a random sample of SampleSize stand for those; each outlier is opened all the same, and each
// that is opaque: no summary says what that does. What was opened stays opened. Only NewReading makes one; it is for one
// goroutine.
type Reading struct {
	review     *Review
	groups     []Group
	operations []reading // by index in the document
	findings   []reading
	summaries  []reading // by index in groups
	left       Left
}

// reading is how far one thing is read.
type reading struct{ due, opened bool }

// A Group is the operations of one kind that are read by their summary: those that are no outliers.
type Group struct {
	Summary    Summary // without columns where the fields are not known
	Operations []int   // indexes in the document, ascending
	Sample     []int   // SampleSize of them, ascending
}

// Left counts what is still to be opened.
type Left struct{ Operations, Summaries, Findings int }

// NewReading begins to read a review. The sample is drawn anew each time, so nobody who makes a batch can know it.
func NewReading(r *Review) *Reading {
	d := r.Document()
	g := &Reading{review: r, operations: make([]reading, len(d.Operations)), findings: make([]reading, len(d.Findings))}
	kinds, at := [][]int{}, map[string]int{}
	for i := range d.Operations {
		o := &d.Operations[i]
		if g.operations[i].due = true; o.Outlier || o.Opaque || d.Counts != Operations {
			continue
		}
		k, seen := at[o.Title.s]
		if !seen {
			k = len(kinds)
			at[o.Title.s] = k
			kinds = append(kinds, nil)
		}
		kinds[k] = append(kinds[k], i)
	}
	for _, operations := range kinds {
		if len(operations) > SummaryAbove {
			g.summarise(operations)
		}
	}
	for i, f := range d.Findings {
		g.findings[i].due = f.Severity == Acknowledge
	}
	g.left = Left{due(g.operations), due(g.summaries), due(g.findings)}
	return g
}

// summarise lets the summary and a sample stand for the operations of a kind.
func (g *Reading) summarise(operations []int) {
	for _, i := range operations {
		g.operations[i].due = false
	}
	sample := make([]int, 0, SampleSize)
	rest := slices.Clone(operations)
	for n := range SampleSize {
		other := n + randomBelow(len(rest)-n)
		rest[n], rest[other] = rest[other], rest[n]
		sample = append(sample, rest[n])
		g.operations[rest[n]].due = true
	}
	slices.Sort(sample)
	d := g.review.Document()
	g.groups = append(g.groups, Group{d.summary(d.Operations[operations[0]].Title), operations, sample})
	g.summaries = append(g.summaries, reading{due: true})
}

func randomBelow(n int) int {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic("review: no randomness: " + err.Error()) // crypto/rand ends the process before this
	}
	return int(i.Int64())
}

func due(list []reading) (n int) {
	for _, r := range list {
		if r.due {
			n++
		}
	}
	return n
}

// Review gives what is read.
func (g *Reading) Review() *Review { return g.review }

// Groups gives the kinds that are read by a summary and a sample, in the order of the document. Each holds SummaryAbove + 1
// operations or more.
func (g *Reading) Groups() []Group { return g.groups }

// OpenOperation notes that the operation at an index in the document was opened, with all of it before a person's eyes.
func (g *Reading) OpenOperation(i int) { open(&g.operations[i], &g.left.Operations) }

// OpenFinding notes that the finding at an index in the document was opened.
func (g *Reading) OpenFinding(i int) { open(&g.findings[i], &g.left.Findings) }

// OpenSummary notes that the summary at an index in Groups was opened.
func (g *Reading) OpenSummary(i int) { open(&g.summaries[i], &g.left.Summaries) }

func open(r *reading, left *int) {
	if r.due && !r.opened {
		*left--
	}
	r.opened = true
}

// Operation tells whether the operation at an index in the document has to be opened, and whether it was.
func (g *Reading) Operation(i int) (due, opened bool) {
	return g.operations[i].due, g.operations[i].opened
}

// Finding tells whether the finding at an index in the document has to be opened, and whether it was.
func (g *Reading) Finding(i int) (due, opened bool) { return g.findings[i].due, g.findings[i].opened }

// Summary tells whether the summary at an index in Groups was opened; it has to be.
func (g *Reading) Summary(i int) (opened bool) { return g.summaries[i].opened }

// Left counts what is still to be opened.
func (g *Reading) Left() Left { return g.left }

// Complete tells whether everything that has to be opened was. The zero Reading is of nothing, and not complete.
func (g *Reading) Complete() bool { return g.review != nil && g.left == Left{} }
