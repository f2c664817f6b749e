package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// A command is what a key asks for.
type command uint8

// The commands, in the order of the help.
const (
	nothing command = iota
	up
	down
	pageUp
	pageDown
	top
	bottom
	enter
	back
	next
	search
	filter
	showOverview
	showOperations
	showSubjects
	showFindings
	confirm
	decline
	help
	suspend
	quit
	commandCount
)

// A binding is the keys of a command, the first as the foot of a screen names it.
type binding struct {
	keys []string // as tea.KeyMsg.String gives them
	name string   // of the keys, for a person
	foot string   // what it does, in a word or two
	help string   // what it does, in a sentence
}

// bindings is the one table of keys: what they do, the help and the foot of each screen come from it.
var bindings = [commandCount]binding{
	up:             {[]string{"up", "k"}, "up k", "up", "One row up."},
	down:           {[]string{"down", "j"}, "down j", "down", "One row down."},
	pageUp:         {[]string{"pgup", "ctrl+b", "b"}, "PgUp b", "page up", "One page up."},
	pageDown:       {[]string{"pgdown", "ctrl+f", " "}, "PgDn space", "page", "One page down."},
	top:            {[]string{"home", "g"}, "Home g", "top", "To the first row."},
	bottom:         {[]string{"end", "G"}, "End G", "end", "To the last row."},
	enter:          {[]string{"enter", "right", "l"}, "Enter l", "open", "Opens what is marked with >. It never confirms anything."},
	back:           {[]string{"esc", "left", "h"}, "Esc h", "back", "Back to the screen before; cancels work that runs."},
	next:           {[]string{"n", "tab"}, "n Tab", "unread", "Opens what is still to be opened, one after the other."},
	search:         {[]string{"/"}, "/", "search", "Searches subjects while you type; Enter keeps the search, Esc ends it."},
	filter:         {[]string{"f"}, "f", "filter", "Shows only subjects of a kind, operation, site or finding, or by the expected list."},
	showOverview:   {[]string{"1"}, "1", "overview", "The overview: verdict, root, window, totals."},
	showOperations: {[]string{"2", "o"}, "2 o", "operations", "What would be done: each distinct operation, outliers first."},
	showSubjects:   {[]string{"3", "s"}, "3 s", "subjects", "All subjects."},
	showFindings:   {[]string{"4", "F"}, "4 F", "findings", "The findings, the severe first."},
	confirm:        {[]string{"A"}, "A", "approve", "To the questions before signing, once everything has been opened."},
	decline:        {[]string{"D"}, "D", "decline", "To decline, with a reason."},
	help:           {[]string{"?", "f1"}, "? F1", "keys", "This list; where letters are text F1 alone."},
	suspend:        {[]string{"ctrl+z"}, "^Z", "shell", "To the shell, on every screen; fg comes back. What was typed of a PIN is wiped."},
	quit:           {[]string{"q", "ctrl+c"}, "q ^C", "quit", "Leaves the program, and signs nothing more. ^C does so on every screen."},
}

// commandOf gives the command of a key, or nothing.
func commandOf(k tea.KeyMsg) command {
	if k.Alt {
		return nothing
	}
	return byKey[k.String()]
}

var byKey = func() map[string]command {
	m := make(map[string]command)
	for c, b := range bindings {
		for _, k := range b.keys {
			if _, twice := m[k]; twice {
				panic("tui: the key " + k + " has two commands")
			}
			m[k] = command(c)
		}
	}
	return m
}()
