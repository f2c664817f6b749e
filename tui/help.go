package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// A helpScreen lists every key, those of the screen it was asked on first, and what the marks mean.
type helpScreen struct {
	scroll
	of     []command
	typing bool // letters are text there
	sheet  sheet
}

func newHelp(of screen, s *session) screen {
	t, ok := of.(typist)
	return &helpScreen{of: of.commands(s), typing: ok && t.typing()}
}

func (o *helpScreen) title(*session) string { return "Keys" }

func (o *helpScreen) commands(*session) []command { return []command{back, pageDown} }

func (o *helpScreen) update(_ *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	if c := commandOf(k); !o.move(c) && (c == back || c == enter) {
		return step{pop: true}
	}
	return step{}
}

func (o *helpScreen) place(_ *session, width, height int) {
	if o.sheet.width != width {
		o.lay(width)
	}
	o.set(len(o.sheet.rows), height)
}

func (o *helpScreen) view(*session, int, int) []row { return o.sheet.rows[o.offset:o.end()] }

func (o *helpScreen) lay(width int) {
	p := sheet{width: width}
	p.heading("On the screen before")
	if o.typing {
		p.say(2, plain, "Letters are text that is typed there. Of the keys below only those count that are no letters, and F1.")
	}
	here := make(map[command]bool)
	for _, c := range o.of {
		here[c] = true
		p.lead("  "+bindings[c].name, 14, plain, bindings[c].help)
	}
	p.heading("On most screens")
	for c := up; c < commandCount; c++ {
		if !here[c] {
			p.lead("  "+bindings[c].name, 14, plain, bindings[c].help)
		}
	}
	p.heading("Marks")
	for _, m := range [][2]string{
		{"[ ]", "to be opened before you can sign"}, {"[x]", "opened: all that it does stood on the screen, and the first of its subjects"}, {" -", "need not be opened"},
		{"!=", "an outlier: few subjects have it; beside a field, the one that differs"}, {"D", "destructive"},
		{">", "what Enter opens, or where you type"}, {"\\", "the text goes on from the row above"}, {"+", "longer than the row; Enter shows all of it"},
		{"<U+202E>", "a character that would not show, or would change what shows"},
	} {
		p.lead("  "+m[0], 14, plain, m[1])
	}
	o.sheet = p
}
