package tui

import (
	"time"

	"github.com/better-compute/approver/core/review"
)

// A session is what all screens share.
type session struct {
	road    *Road
	now     func() time.Time
	opened  *Opened         // nil before a file is open
	reading *review.Reading // of opened.Review
	index   *subjectIndex   // of the document's subjects
	notice  string          // the program's own words above the keys, until the next key
	done    *Done           // what was signed, at the end
	failed  error           // why the file that the program was started with was not opened
	keyed   time.Time       // when the last key came
	hurried bool            // it came sooner after the one before than a person presses
	width   int             // of the terminal
	height  int
}

// open takes a file that was opened, with the index of its subjects (newSubjectIndex), which the job that opened it made.
func (s *session) open(o *Opened, index *subjectIndex) {
	s.opened, s.reading, s.index = o, review.NewReading(o.Review), index
}

// close forgets what was open.
func (s *session) close() { s.opened, s.reading, s.index = nil, nil, nil }

// repeat is how soon a key that is held down comes again, at the slowest. A person who reads presses later.
const repeat = 150 * time.Millisecond

// key notes that a key came.
func (s *session) key() {
	now := s.now()
	s.hurried, s.keyed = !s.keyed.IsZero() && now.Sub(s.keyed) < repeat, now
}

// document gives what is read.
func (s *session) document() *review.Document { return s.opened.Review.Document() }

// closed tells whether the window has ended.
func (s *session) closed() bool {
	return !s.opened.NotAfter.IsZero() && s.now().After(s.opened.NotAfter)
}

// hindrance says why nothing can be confirmed yet, in the program's own words, or "".
func (s *session) hindrance() string {
	switch left := s.reading.Left(); {
	case s.opened.Review.Stop() != nil:
		if s.opened.Decline != nil {
			return "STOP: this cannot be signed; D declines"
		}
		return "STOP: this cannot be signed"
	case s.opened.Bar.String() != "":
		return "it can only be read here; the overview says why"
	case s.closed():
		return "the window has closed"
	case !s.reading.Complete():
		return "not yet: still to be opened: " + leftToOpen(left, s.document().Counts)
	}
	return ""
}

// leftToOpen counts in words what is still to be opened.
func leftToOpen(left review.Left, unit review.Unit) string {
	var parts []string
	add := func(n int, noun string) {
		if n > 0 {
			parts = append(parts, review.Counted(n, noun))
		}
	}
	add(left.Findings, "finding")
	add(left.Summaries, "summary")
	add(left.Operations, unit.String())
	if len(parts) == 0 {
		return "nothing"
	}
	return list(parts)
}
