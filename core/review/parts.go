package review

import (
	"bufio"
	"io"

	"github.com/better-compute/approver/core/wire"
)

// A Part is a part of a review that is read as text, one after the other: what stands in it, and what was opened once it was
// read. Reading.Parts makes them.
type Part struct {
	draw func(p *printer)
	open func() // may be nil
}

// WriteText draws the part as WriteText draws the document: nothing in it is left out. The error is IO_ERROR.
func (p Part) WriteText(w io.Writer) error {
	to := &printer{w: bufio.NewWriterSize(w, 64<<10), detail: Whole, scale: 1}
	p.draw(to)
	if err := to.w.Flush(); err != nil {
		return wire.Errorf(wire.IOError, "", "cannot write the review: %w", err)
	}
	return nil
}

// Opened notes that all of the part was before a person's eyes.
func (p Part) Opened() {
	if p.open != nil {
		p.open()
	}
}

// Parts gives what has to be read, in parts: the verdict with the facts, the root and the counts; each finding that is no note,
// the severe first, and the notes together; each outlier; each other operation, or of too many the summary and each of the
// sample. Once all of them were opened the Reading is complete.
func (g *Reading) Parts() []Part {
	d := g.review.Document()
	parts := []Part{{draw: func(p *printer) {
		p.conclusion(d)
		p.facts(d)
		p.root(d)
		for _, t := range d.Tallies {
			p.tally(t)
		}
	}}}
	return append(append(parts, g.findingParts()...), g.operationParts()...)
}

// Closing is what stands at the end, where somebody decides: the verdict and the findings once more.
func (g *Reading) Closing() Part {
	return Part{draw: func(p *printer) { p.closing(g.review.Document()) }}
}

func (g *Reading) findingParts() (parts []Part) {
	d := g.review.Document()
	for _, severity := range []Severity{Stop, Acknowledge} {
		for i, f := range d.Findings {
			if f.Severity == severity {
				parts = append(parts, Part{func(p *printer) { p.findings(d.Findings[i : i+1]) }, func() { g.OpenFinding(i) }})
			}
		}
	}
	var notes []Finding
	for _, f := range d.Findings {
		if f.Severity == Note {
			notes = append(notes, f)
		}
	}
	if len(notes) > 0 {
		parts = append(parts, Part{draw: func(p *printer) { p.findings(notes) }})
	}
	return parts
}

func (g *Reading) operationParts() (parts []Part) {
	d := g.review.Document()
	numbers := make([]int, len(d.Operations)) // as WriteText numbers them: outliers come first
	n := 0
	for _, outlier := range []bool{true, false} {
		for i := range d.Operations {
			if d.Operations[i].Outlier == outlier {
				n++
				numbers[i] = n
			}
		}
	}
	summarised := make(map[int]bool)
	for _, group := range g.groups {
		for _, i := range group.Operations {
			summarised[i] = true
		}
	}
	for _, outlier := range []bool{true, false} {
		for i := range d.Operations {
			if d.Operations[i].Outlier == outlier && !summarised[i] {
				parts = append(parts, g.operationPart(i, numbers[i]))
			}
		}
	}
	for k, group := range g.groups {
		parts = append(parts, g.summaryPart(k))
		for _, i := range group.Sample {
			parts = append(parts, g.operationPart(i, numbers[i]))
		}
	}
	return parts
}

func (g *Reading) operationPart(i, n int) Part {
	d := g.review.Document()
	return Part{func(p *printer) {
		p.heading(d.Counts.String() + "s")
		if d.Counts != Operations {
			p.change(&d.Operations[i], n, len(d.Operations))
			return
		}
		p.operation(&d.Operations[i], n, len(d.Operations))
	}, func() { g.OpenOperation(i) }}
}

func (g *Reading) summaryPart(k int) Part {
	d := g.review.Document()
	return Part{func(p *printer) {
		p.heading(d.Counts.String() + "s")
		var group []*Operation
		for _, i := range g.groups[k].Operations {
			group = append(group, &d.Operations[i])
		}
		p.summary(g.groups[k].Summary, group)
	}, func() { g.OpenSummary(k) }}
}
