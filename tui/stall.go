package tui

import "time"

// stall is how long nothing may come, not even a tick, before the program is taken to have stood still: frozen, stopped, or
// on a machine that slept. What was typed meanwhile comes at once after it, and a moment of silence before it was none.
const stall = 2500 * time.Millisecond

// A forgetful screen holds what must not wait for somebody while the program stands still.
type forgetful interface{ forget() }

// Messages of what stops the program and lets it go on.
type (
	stopMsg   struct{ ready chan<- struct{} } // it is about to be stopped; ready is closed once nothing is held
	resumeMsg struct{}                        // it goes on
)

// beat notes that the program lives, and whether it stood still before. The machine's clock goes on while it sleeps, the
// monotonic one while somebody sets the other.
func (m *Model) beat() {
	now := m.session.now()
	last := m.lived
	m.lived = now
	if last.IsZero() || max(now.Sub(last), now.Round(0).Sub(last.Round(0))) <= stall {
		return
	}
	m.wake()
}

// wake begins anew after the program stood still: a guarded screen hears nothing until the keyboard was still, what was typed
// of a PIN is gone, and nothing was read meanwhile.
func (m *Model) wake() {
	m.lived = m.session.now()
	m.arm()
	m.forget()
}

func (m *Model) forget() {
	for _, s := range m.stack {
		if f, ok := s.(forgetful); ok {
			f.forget()
		}
	}
}
