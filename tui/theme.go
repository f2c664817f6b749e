package tui

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	_ "github.com/better-compute/approver/tui/quiet" // before Bubble Tea starts
)

// An ink is how a part of a row is drawn. It never carries meaning alone: a word or a mark does.
type ink uint8

// The inks.
const (
	plain  ink = iota
	faint      // what may be passed over: notes, keys
	strong     // titles
	chosen     // the row with the cursor
	alarm      // STOP, DESTRUCTIVE
	warn       // ACKNOWLEDGE, OUTLIER, what is still to be opened
	good       // what holds
	paper      // black on white whatever the colours are: a QR code
	inkCount
)

// A Theme holds the control sequences around each ink. The sixteen colours of the terminal are used, of them such as read
// on light and dark ground.
type Theme [inkCount]struct{ before, after string }

// NewTheme makes the theme of a renderer, which knows what its terminal can do, and honours NO_COLOR.
func NewTheme(r *lipgloss.Renderer) *Theme {
	style := r.NewStyle
	styles := [inkCount]lipgloss.Style{
		plain: style(), faint: style().Faint(true), strong: style().Bold(true), chosen: style().Reverse(true),
		alarm: style().Bold(true).Foreground(lipgloss.ANSIColor(1)), warn: style().Bold(true).Foreground(lipgloss.ANSIColor(5)),
		good: style().Foreground(lipgloss.ANSIColor(2)),
	}
	t := new(Theme)
	for i, s := range styles {
		t[i].before, t[i].after, _ = strings.Cut(s.Render("x"), "x")
	}
	return t
}

// paint appends s in the ink.
func (t *Theme) paint(b *strings.Builder, i ink, s string) {
	if s == "" {
		return
	}
	b.WriteString(t[i].before)
	b.WriteString(s)
	b.WriteString(t[i].after)
}
