package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// A screen is one page of the program. It does no I/O, and is changed by update and place alone.
type screen interface {
	// title names the screen in the first row, in the program's own words.
	title(s *session) string
	// update takes a message: a tea.KeyMsg, or what a job of this screen sent.
	update(s *session, msg tea.Msg) step
	// place lays the screen out for so many columns and rows, both at least 1; it comes after every update, before view.
	place(s *session, width, height int)
	// view gives what stands in these columns and rows, at most; the root cuts what is over.
	view(s *session, width, height int) []row
	// commands are the keys that do something here, the more needed first.
	commands(s *session) []command
}

// A typist is a screen that takes text at times: then it is given every key, but for ctrl+c.
type typist interface{ typing() bool }

// A guarded screen is one on which a key could do harm: it is given no key that was typed before it stood on the screen, and
// no paste.
type guarded interface{ guarded() }

// A step is where an update leads.
type step struct {
	push screen // goes onto the stack
	over screen // goes onto push
	pop  bool   // leaves the screen, before push
	home bool   // leaves all screens above the Overview, or with pop all screens, before push
	quit bool
	cmd  tea.Cmd
}

// A leaver is a screen that has something to end when it is taken off the stack, such as a job, or a PIN to wipe.
type leaver interface{ left() }
