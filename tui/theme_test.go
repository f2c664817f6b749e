package tui

import (
	"regexp"
	"testing"

	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
)

var sequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colours add nothing that a screen without them does not say, are the terminal's own sixteen, and NO_COLOR has none.
func TestMeaningIsNeverByColourAlone(t *testing.T) {
	o := openedScope(t, scopeFile(t, 15, mixed), testPolicy())
	for _, way := range ways {
		d := driveOpened(t, o).keys(way...)
		without := d.view()
		require.NotContains(t, without, "\x1b")
		for _, profile := range []termenv.Profile{termenv.ANSI, termenv.ANSI256, termenv.TrueColor} {
			d.m.theme = themeOf(profile)
			with := d.view()
			require.Contains(t, with, "\x1b[", "%v", way)
			require.Equal(t, without, sequence.ReplaceAllString(with, ""), "%v", way)
			require.NotRegexp(t, "\x1b\\[[0-9;]*(38|48);", with)
		}
	}
}
