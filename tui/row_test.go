package tui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is longer than the row has a mark: in front of a text from outside, at the end of the program's own words.
func TestCutRowsAreMarked(t *testing.T) {
	for _, c := range []struct {
		row  row
		want string
	}{
		{row{lead: "> ", own: "kind ", text: "short"}, "> kind short"},
		{row{lead: "> ", own: "kind ", text: "node.reimage"}, ">+kind node.r"},
		{row{own: "site ", text: "a-long-site-name"}, "site+a-long-s"},
		{row{own: "the program's own words"}, "the program'+"},
		{row{lead: "  ", own: "the program's own words", text: "and more"}, " +the progra+"},
	} {
		var b strings.Builder
		c.row.marked(13).paint(&b, plainTheme(), 13)
		require.Equal(t, c.want, b.String())
	}
}

// What has to be noticed stands there in whole, where there is room for it.
func TestNoticesAreWhole(t *testing.T) {
	d := batch(t).size(40, 12).keys("A")
	require.True(t, strings.HasSuffix(d.view(), "! not yet: still to be opened: 4 \n  findings and 3 operations"), d.view())
	require.Len(t, strings.Split(d.view(), "\n"), 12)
	require.Len(t, strings.Split(d.size(20, 3).view(), "\n"), 3)
}
