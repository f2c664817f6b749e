//go:build !linux

package tui

import (
	"os"

	tea "github.com/charmbracelet/bubbletea"
)

// A stopper is nothing here: that the program stood still is seen by its clock.
type stopper struct{}

func newStopper(*Model, *tea.Program, *os.File) *stopper { return nil }

func (*stopper) end() {}

func inputOf(tty *os.File) *os.File { return tty }
