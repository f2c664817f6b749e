package review

import (
	"bufio"
	"io"

	"github.com/better-compute/approver/core/wire"
)

// A Detail says how much of a document WriteText draws.
type Detail uint8

// The details.
const (
	// Brief is to be read: 12 subjects an operation, long values shortened in the middle so that every field shows, and a
	// summary by field where a kind has more than 50 operations. Of outliers, up to 20, and of fields that differ it draws 25
	// times as much: 300 subjects, 200 lines, 4,000 bytes on a line. So it does of changes and parts, each of which it draws.
	// Wherever something is left out, it says so, and the end says where all of it can be seen.
	Brief Detail = iota
	// Whole leaves out nothing: every operation, every field, every subject, every line.
	Whole
)

// The bounds of what Brief draws.
const (
	briefSubjects = 12  // of an operation; places of a finding
	briefKinds    = 50  // whose operations are drawn
	briefOutliers = 20  // drawn whole, the rarest first
	briefRows     = 40  // of a tally or a summary
	briefBytes    = 160 // of a value on one line
	briefLines    = 8   // of a value on several
	closeScale    = 25  // times as much of an outlier, and of a field that differs
)

// columns is the width that no line with a text exceeds: were the terminal to wrap it, the text could pose as a line.
const columns = 80

// WriteText draws a document in plain text, ASCII but for what its texts hold, without colours, for 80 columns: the
// verdict, the facts, the root, the counts, the findings from severe to mild, then the operations, outliers first, and
// the verdict once more. A text never begins a line: where one goes on, "> " stands before it. The error is IO_ERROR.
func WriteText(w io.Writer, d *Document, detail Detail) error {
	p := &printer{w: bufio.NewWriterSize(w, 64<<10), detail: detail, scale: 1}
	if d.Counts != Operations { // there are few, and all are read
		p.scale = closeScale
	}
	p.conclusion(d)
	p.facts(d)
	p.root(d)
	for _, t := range d.Tallies {
		p.tally(t)
	}
	p.findings(d.Findings)
	p.operations(d)
	p.closing(d)
	if p.elided {
		p.line("")
		p.line("SHORTENED: where it says so above, something is left out. Everything is shown")
		p.line("before you confirm a signature, and written by --operations-out FILE.")
	}
	if err := p.w.Flush(); err != nil {
		return wire.Errorf(wire.IOError, "", "cannot write the review: %w", err)
	}
	return nil
}

// A printer draws; what it draws to keeps the first error.
type printer struct {
	w      *bufio.Writer
	detail Detail
	scale  int  // of the bounds of Brief
	elided bool // whether anything was left out so far
}

// line writes the program's own words as a line.
func (p *printer) line(s string) {
	p.w.WriteString(s)
	p.w.WriteByte('\n')
}

const blanks = "                                                                                "

// indent writes n spaces, 0 to columns.
func (p *printer) indent(n int) { p.w.WriteString(blanks[:max(n, 0)]) }

// bound gives how many of n things are drawn when Brief draws at most most, and notes what is left out.
func (p *printer) bound(n, most int) int {
	if most *= p.scale; p.detail == Whole || n <= most {
		return n
	}
	p.elided = true
	return most
}
