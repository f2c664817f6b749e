package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// quiet is how long the keyboard must have been still before a guarded screen hears it. Keys that repeat come faster.
const quiet = 700 * time.Millisecond

// A Config is what a Model starts with.
type Config struct {
	Road  *Road
	Now   func() time.Time
	Theme *Theme
}

// A Model is the program: a stack of screens over one session. It is a tea.Model.
type Model struct {
	session *session
	theme   *Theme
	stack   []screen
	still   time.Time // when the keyboard was last used, or a guarded screen came up
	deaf    bool      // the guarded screen has heard nothing yet
	lived   time.Time // when a message came last
	suspend func()    // stops the program, as ^Z does elsewhere; nil where it cannot be
	cmd     tea.Cmd   // of the first screen
	ended   bool
}

func newModel(c Config, first func(s *session) (screen, tea.Cmd)) *Model {
	m := &Model{session: &session{road: c.Road, now: c.Now, width: 80, height: 24}, theme: c.Theme}
	screen, cmd := first(m.session)
	m.cmd = cmd
	m.push(screen)
	return m
}

// tick moves the clock on the screen.
type tick struct{}

func nextTick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} }) }

// Init starts the clock and what the first screen has to do.
func (m *Model) Init() tea.Cmd { return tea.Batch(nextTick(), m.cmd) }

// Update takes a message and changes the screens. The screen on top is placed before, since time has passed on it, and after.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.beat()
	m.place()
	cmd := m.update(msg)
	m.place()
	return m, cmd
}

func (m *Model) place() { m.top().place(m.session, m.session.width, m.bodyHeight()) }

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.session.width, m.session.height = max(msg.Width, 1), max(msg.Height, 1)
		return nil
	case tick:
		return tea.Batch(nextTick(), m.take(m.top().update(m.session, msg)))
	case stopMsg:
		m.forget()
		close(msg.ready)
		return nil
	case resumeMsg:
		m.wake()
		return nil
	case jobMsg:
		return m.job(msg)
	case tea.KeyMsg:
		return m.key(msg)
	}
	return m.take(m.top().update(m.session, msg))
}

// job hands on what a job says to the screen that started it. What comes after its end, or its screen's, is dropped.
func (m *Model) job(msg jobMsg) tea.Cmd {
	if msg.job.ended || !slices.Contains(m.stack, msg.job.owner) {
		return nil
	}
	if msg.done {
		msg.job.ended = true
		return m.take(msg.job.owner.update(m.session, msg.msg))
	}
	return tea.Batch(msg.job.listen(), m.take(msg.job.owner.update(m.session, msg.msg)))
}

// key hands a key to the screen on top, unless it is for all screens or must not pass.
func (m *Model) key(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyCtrlC {
		return m.take(step{quit: true})
	}
	if k.Type == tea.KeyCtrlZ {
		return m.suspended()
	}
	m.session.key()
	if k.Type == tea.KeyF1 {
		return m.help()
	}
	if _, ok := m.top().(guarded); ok && !m.leads(k) && !m.hears(k) {
		wipeKey(k)
		return nil
	}
	m.session.notice = ""
	if t, ok := m.top().(typist); !ok || !t.typing() {
		switch c := commandOf(k); {
		case k.Paste:
			return nil
		case c == quit:
			return m.take(step{quit: true})
		case c == help:
			return m.help()
		}
	}
	return m.take(m.top().update(m.session, k))
}

// help leads to the keys of the screen on top, and from there back.
func (m *Model) help() tea.Cmd {
	if _, ok := m.top().(*helpScreen); ok {
		return m.take(step{pop: true})
	}
	return m.take(step{push: newHelp(m.top(), m.session)})
}

// leads tells whether a key can do no harm on a guarded screen: it turns the page, or leaves. It is no silence either.
func (m *Model) leads(k tea.KeyMsg) bool {
	if k.Paste || k.Alt || k.Type != tea.KeyPgUp && k.Type != tea.KeyPgDown && k.Type != tea.KeyEsc {
		return false
	}
	m.still = m.session.now()
	return true
}

// suspended stops the program until its shell lets it go on.
func (m *Model) suspended() tea.Cmd {
	suspend := m.suspend
	if suspend == nil {
		return nil
	}
	return func() tea.Msg { suspend(); return nil }
}

// hears tells whether a key may reach the guarded screen on top: it was typed after a moment of silence on that screen.
func (m *Model) hears(k tea.KeyMsg) bool {
	if k.Paste {
		m.session.notice = "pasted text is not taken here"
		return false
	}
	if !m.deaf {
		return true
	}
	now := m.session.now()
	silence := now.Sub(m.still)
	m.still = now
	if silence < quiet {
		m.session.notice = "typed before this screen came, and dropped: wait a moment, then press once"
		return false
	}
	m.deaf = false
	return true
}

// take follows a step.
func (m *Model) take(s step) tea.Cmd {
	if s.quit {
		m.leave(0)
		m.ended = true
		return tea.Quit
	}
	switch {
	case s.home && s.pop:
		m.leave(0)
	case s.home:
		m.leave(1 + max(slices.IndexFunc(m.stack, func(s screen) bool { _, ok := s.(*overview); return ok }), 0))
	case s.pop && len(m.stack) == 1 && s.push == nil:
		m.session.notice = "this is the first screen; q leaves the program"
	case s.pop:
		m.leave(len(m.stack) - 1)
	}
	if s.push != nil {
		m.push(s.push)
		if s.over != nil {
			m.push(s.over)
		}
	} else if s.pop || s.home {
		m.arm() // a screen below may be guarded too
	}
	return s.cmd
}

// leave takes screens off the stack until n are left; one that is left at the end of the program stays to be drawn.
func (m *Model) leave(n int) {
	for i := len(m.stack) - 1; i >= n; i-- {
		if l, ok := m.stack[i].(leaver); ok {
			l.left()
		}
	}
	m.stack = m.stack[:max(n, 0)]
}

func (m *Model) push(s screen) {
	m.stack = append(m.stack, s)
	m.arm()
	s.place(m.session, m.session.width, m.bodyHeight())
}

// arm makes the screen that has come up deaf, if it is guarded, and begin anew what is looked at there.
func (m *Model) arm() {
	if r, ok := m.top().(interface{ anew() }); ok {
		r.anew()
	}
	_, m.deaf = m.top().(guarded)
	m.still = m.session.now()
}

func (m *Model) top() screen {
	if len(m.stack) == 0 {
		return blank{}
	}
	return m.stack[len(m.stack)-1]
}
