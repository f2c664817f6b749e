package tui

import "time"

// glance is how long the end of something must have stood on the screen before it counts as read: a key that is held down,
// or a line of keys that came at once, opens nothing.
const glance = 300 * time.Millisecond

// A reader is the rows of something that is to be opened, and since when its end has been on the screen.
type reader struct {
	scroll
	since time.Time // zero while the end is not on the screen
}

// look notes whether the end is on the screen, and tells whether it has been for a glance.
func (v *reader) look(s *session, end bool, width, height int) (read bool) {
	switch {
	case !end || !readable(width, height):
		v.since = time.Time{}
	case v.since.IsZero():
		v.since = s.now()
	}
	return !v.since.IsZero() && s.now().Sub(v.since) >= glance
}

// next follows the command for what is to be opened next: down to the end first, and on once that was read.
func (v *reader) next(s *session, end, opened bool) step {
	switch {
	case !end:
		v.move(pageDown)
		return step{}
	case !opened: // too soon; and a key that is held down comes sooner than a glance, each time
		v.since = s.now()
		return step{}
	}
	return s.nextAfter()
}
