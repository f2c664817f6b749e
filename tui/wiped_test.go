package tui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
)

// No letter that comes to the PIN screen is kept where it came, whether it is taken or not.
func TestWhatIsTypedOfAPINIsWiped(t *testing.T) {
	for name, k := range map[string]tea.KeyMsg{
		"letter": {Type: tea.KeyRunes, Runes: []rune("8")},
		"paste":  {Type: tea.KeyRunes, Runes: []rune("86421357"), Paste: true},
		"burst":  {Type: tea.KeyRunes, Runes: []rune("86421357")},
		"alt":    {Type: tea.KeyRunes, Runes: []rune("8"), Alt: true},
	} {
		newPIN(newPINQuestion(Token{}), aPurpose).update(nil, k)
		require.Equal(t, make([]rune, len(k.Runes)), k.Runes, name)
	}
	d, _ := inDanger(t)
	early := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("864")}
	d.now = d.now.Add(time.Millisecond)
	d.send(early)
	require.Equal(t, make([]rune, 3), early.Runes, "typed too early")
	space := keyOf(" ")
	d.send(space)
	require.Equal(t, []rune(" "), space.Runes, "the library's one space is wiped")
}

// The name of a file cannot pass for the key that stands after it.
func TestNameOfAKeyEndsWhereItEnds(t *testing.T) {
	o := review.Operation{Title: review.Escape("a key joins"), Subjects: []review.Text{review.Escape("REALKID")}}
	o.SetFields(func() []review.Field {
		return []review.Field{{Name: review.Escape("file"), Value: []review.Text{review.Escape(`bob.pub" BOBSKID "x`)}}}
	})
	_, about, _ := changeLine(&o)
	require.Equal(t, `"bob.pub' BOBSKID 'x" REALKID`, about.String())
}
