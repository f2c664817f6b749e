// Package quiet keeps Lip Gloss from asking the terminal for its background, which Bubble Tea does as the program starts,
// whatever the command: bytes on every output that is a terminal, and five seconds where the terminal gives no answer. The
// language has packages that are ready initialised by the order of their import paths (The Go Programming Language
// Specification, "Program initialization"), and this one needs Lip Gloss alone, so that it comes before Bubble Tea. For
// example: after it lipgloss.HasDarkBackground() is true at once. No colour of the screen depends on it: they are such as read on
// light and dark ground, and the screen has a renderer of its own.
package quiet

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
