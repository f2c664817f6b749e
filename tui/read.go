package tui

import "time"

// glance is how long the end of something must have stood on the screen before it counts as read: a key that is held down,
// or a line of keys that came at once, opens nothing.
const glance = 300 * time.Millisecond

// A reader is the rows of something that is to be opened, and since when its end has been on the screen.
type reader struct {
	scroll
	since time.Time // zero while the end is not on the screen
	upto  int       // all rows before this one were on the screen
	width int       // for which they were laid out
}

// gap tells whether rows above the last on the screen were never on it: somebody jumped to the end.
func (v *reader) gap() bool { return v.upto < min(v.offset+v.height, v.rows) }

// pass notes what is on the screen.
func (v *reader) pass(width int) {
	if v.width != width {
		v.width, v.upto = width, 0
	}
	if v.offset <= v.upto {
		v.upto = max(v.upto, v.offset+v.height)
	}
}

// look notes whether the end is on the screen, and tells whether it has been for a glance.
func (v *reader) look(s *session, end bool, width, height int) (read bool) {
	if readable(width, height) {
		v.pass(width)
	}
	switch {
	case !end || v.gap() || !readable(width, height):
		v.since = time.Time{}
	case v.since.IsZero():
		v.since = s.now()
	case v.since.Before(s.woke): // nobody saw what was drawn after
		v.since = s.woke
	}
	return !v.since.IsZero() && s.now().Sub(v.since) >= glance
}

// next follows the command for what is to be opened next: down to the end first, and on once that was read.
func (v *reader) next(s *session, end, opened bool) step {
	switch {
	case !end:
		v.move(pageDown)
		return step{}
	case !opened && v.gap(): // back to what was jumped over
		v.offset = max(v.upto-1, 0)
		return step{}
	case !opened: // too soon; and a key that is held down comes sooner than a glance, each time
		v.since = s.now()
		return step{}
	}
	return s.nextAfter()
}
