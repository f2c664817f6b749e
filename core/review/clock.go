package review

import (
	"strconv"
	"time"

	"github.com/better-compute/approver/core/wire"
)

// ReleaseDate is the day this release was made: no right clock shows an earlier one. It moves with each release.
var ReleaseDate = time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)

// longestWindow bounds how long any approval stays open.
const longestWindow = wire.MaxWindowHours * time.Hour

// A Time is a reading of the clock: when it is, and how that is known.
type Time struct {
	Now    time.Time
	ByHand bool // given with --now, not read from the machine
}

// CheckVerifierClock is for a verifier, who may judge as of a day before this release was made and then gives it by hand. A
// time that the machine shows is held against this release, any time against the longest window. The error is
// INVALID_STATE, clock.
func CheckVerifierClock(t Time, notAfter time.Time) error {
	if f, wrong := clockStop(t, notAfter, !t.ByHand); wrong {
		return f.Err()
	}
	return nil
}

// ClockFindings judges a reading against what cannot be: a time before this release, or so long before the end of a
// window that nobody could have opened it yet. notAfter may be the zero Time where no window is at stake. A time given
// by hand is a finding of its own.
func ClockFindings(t Time, notAfter time.Time) []Finding {
	var found []Finding
	if f, wrong := clockStop(t, notAfter, true); wrong {
		found = append(found, f)
	}
	if t.ByHand {
		found = append(found, NewFinding(ClockByHand, Escape("the time was given with --now: "+stamp(t.Now))))
	}
	return found
}

// clockStop tells whether a clock cannot be right; sinceRelease holds it against this release too.
func clockStop(t Time, notAfter time.Time, sinceRelease bool) (f Finding, wrong bool) {
	says := ""
	switch {
	case sinceRelease && t.Now.Before(ReleaseDate):
		says = "before this release was made (" + ReleaseDate.Format(time.DateOnly) + ")"
	case !notAfter.IsZero() && t.Now.Before(notAfter.Add(-longestWindow)):
		says = "more than " + strconv.Itoa(wire.MaxWindowHours) + " h before the window ends (" + stamp(notAfter) + "): the clock is slow, or the window longer than any may be"
	default:
		return Finding{}, false
	}
	f = NewFinding(Clock, Escape(t.source()+" "+stamp(t.Now)+", "+says))
	f.Details = map[string]any{"now": t.Now.UnixMilli()}
	return f, true
}

// source begins a sentence about the clock.
func (t Time) source() string {
	if t.ByHand {
		return "the clock given with --now is"
	}
	return "the clock shows"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
