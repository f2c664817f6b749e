package review

import (
	"time"

	"github.com/better-compute/approver/core/wire"
)

// ReleaseDate is the day this release was made: no right clock shows an earlier one. It moves with each release.
var ReleaseDate = time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)

// LongestWindow bounds how long any approval stays open: --max-hours is at most this (WIRE.md §9).
const LongestWindow = 720 * time.Hour

// A Time is a reading of the clock: when it is, and how that is known.
type Time struct {
	Now    time.Time
	ByHand bool // given with --now, not read from the machine
}

// ClockFindings judges a reading against what cannot be: a time before this release, or so long before the end of a
// window that nobody could have opened it yet. notAfter may be the zero Time where no window is at stake. A time given
// by hand is a finding of its own.
func ClockFindings(t Time, notAfter time.Time) []Finding {
	var found []Finding
	switch {
	case t.Now.Before(ReleaseDate):
		found = append(found, clockStop(t, "%s %s, before this release was made (%s)", t.source(), stamp(t.Now), ReleaseDate.Format(time.DateOnly)))
	case !notAfter.IsZero() && t.Now.Before(notAfter.Add(-LongestWindow)):
		found = append(found, clockStop(t, "%s %s, more than 720 h before the window ends (%s): the clock is slow, or the window longer than any may be",
			t.source(), stamp(t.Now), stamp(notAfter)))
	}
	if t.ByHand {
		found = append(found, NewFinding(ClockByHand, Escape("the time was given with --now: "+stamp(t.Now))))
	}
	return found
}

// source begins a sentence about the clock.
func (t Time) source() string {
	if t.ByHand {
		return "the clock given with --now is"
	}
	return "the clock shows"
}

func clockStop(t Time, format string, args ...any) Finding {
	f := NewFinding(Clock, Escape(wire.Errorf("", "", format, args...).Message))
	f.Details = map[string]any{"now": t.Now.UnixMilli()}
	return f
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
