package tui

import "time"

// glance is how long the end of something must have stood on the screen before it counts as read: a key that is held down,
// or a line of keys that came at once, opens nothing.
const glance = 300 * time.Millisecond

// A reader is the rows of something that is to be opened, and since when those on the screen have been there.
type reader struct {
	scroll
	came  []time.Time // when each row on the screen came there
	first int         // of them
	upto  int         // all rows before this one have stood on the screen for a glance
	width int         // for which they were laid out
}

// anew begins the glance again: something else was on the screen.
func (v *reader) anew() { v.came = nil }

// gap tells whether rows up to the last on the screen have not stood there for a glance: they flew by, or were jumped over.
func (v *reader) gap() bool { return v.upto < v.end() }

// pass notes what is on the screen, and how far all of it has been there for a glance.
func (v *reader) pass(now time.Time, width int) {
	if v.width != width {
		v.width, v.upto, v.came = width, 0, nil
	}
	came := make([]time.Time, v.end()-v.offset)
	for i := range came {
		came[i] = now
		if was := v.offset + i - v.first; was >= 0 && was < len(v.came) {
			came[i] = v.came[was]
		}
	}
	v.came, v.first = came, v.offset
	for v.offset <= v.upto && v.upto < v.end() && now.Sub(came[v.upto-v.offset]) >= glance {
		v.upto++
	}
}

// look notes what is on the screen, and tells whether all down to the end has been there for a glance.
func (v *reader) look(s *session, end bool, width, height int) (read bool) {
	if !readable(width, height) {
		v.anew()
		return false
	}
	if v.offset != v.first && s.hurried { // a key that is held down: nobody reads meanwhile
		v.anew()
	}
	v.pass(s.now(), width)
	return end && !v.gap()
}

// follow follows a command that moves, and says so where it passed over what is to be read.
func (v *reader) follow(s *session, c command, due, opened bool) bool {
	if !v.move(c) {
		return false
	}
	if due && !opened && v.upto < v.offset {
		s.notice = "rows between were not shown; n shows them"
	}
	return true
}

// next follows the command for what is to be opened next: down to the end first, and on once that was read.
func (v *reader) next(s *session, end, opened bool) step {
	switch {
	case !end:
		v.move(pageDown)
		return step{}
	case !opened && v.upto < v.offset: // back to what flew by
		v.offset = max(v.upto-1, 0)
		return step{}
	case !opened: // too soon; and a key that is held down comes sooner than a glance, each time
		v.anew()
		return step{}
	}
	return s.nextAfter()
}
