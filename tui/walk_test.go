package tui

import (
	"context"
	"regexp"
	"strconv"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

var position = regexp.MustCompile(`word (\d+) of the root`)

// answer types the right answer to the question on the screen, and Enter.
func (d *driver) answer() {
	r := d.m.session.opened.Review
	answer := strconv.Itoa(r.Document().Size)
	if at := position.FindStringSubmatch(d.view()); at != nil {
		n, err := strconv.Atoi(at[1])
		require.NoError(d.t, err)
		answer = review.Words(r.Document().Root)[n-1]
	}
	for _, c := range answer {
		d.keys(string(c))
	}
	d.keys("enter")
}

// A walker presses whatever it likes; what it finds on the way must hold at every step.
type walker struct {
	*driver
	signed bool
}

func newWalker(t require.TestingT, o *Opened) *walker {
	w := &walker{driver: driveOpened(t, o)}
	w.m.session.road.Sign = func(context.Context, *Opened, *ceremony.Accepted, Asks) (*Done, error) {
		w.signed = true
		return nil, wire.Errorf(wire.KeyUnavailable, "", "no key here")
	}
	return w
}

// step does one thing at random.
func (w *walker) step(t *rapid.T, keys []string) {
	switch rapid.IntRange(0, 19).Draw(t, "what") {
	case 0:
		w.size(rapid.IntRange(0, 200).Draw(t, "width"), rapid.IntRange(0, 60).Draw(t, "height"))
	case 1:
		w.m.Update(tick{})
	case 2:
		w.send(tea.KeyMsg{Type: tea.KeyRunes, Paste: true, Runes: []rune(rapid.String().Draw(t, "paste"))})
	case 3:
		w.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(rapid.StringN(1, 3, -1).Draw(t, "runes"))})
	case 4:
		w.send(keyOf(rapid.SampledFrom(keys).Draw(t, "burst")))
	case 5:
		w.now = w.now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
	case 6:
		w.send(rapid.SampledFrom([]tea.Msg{tea.FocusMsg{}, tea.BlurMsg{}, tea.MouseMsg{}, struct{}{}, nil}).Draw(t, "message"))
	case 7, 8:
		if c, ok := w.m.top().(*confirmScreen); ok {
			for range 60 {
				if !c.open {
					w.keys("pgdown")
				}
			}
			for range 3 {
				w.answer()
			}
		}
	case 9, 10, 11:
		w.keys("n")
	case 12:
		for range rapid.IntRange(1, 200).Draw(t, "n") {
			w.keys("n")
		}
		w.keys("A")
	default:
		w.keys(rapid.SampledFrom(keys).Draw(t, "key"))
	}
}

// Whatever is typed, pasted, resized or sent: nothing panics, every screen fits, and what asks for a signature is never
// reached before everything was opened, nor after the window closed.
func TestRandomWalk(t *testing.T) {
	docs := []*Opened{
		openedScope(t, scopeFile(t, 15, mixed), testPolicy()), openedScope(t, scopeFile(t, 90, reimages(0)), testPolicy()),
		openedScope(t, scopeFile(t, 3, reimages(0)), testPolicy()), openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 2, 0, 1, 3), "dave.pub"), hostile(t, "\x1b[2J\u202e日本"),
	}
	var keys []string
	for _, b := range bindings {
		for _, k := range b.keys {
			if k != "ctrl+c" && k != "q" {
				keys = append(keys, k)
			}
		}
	}
	keys = append(keys, "backspace", "ctrl+u", "A", "A", "x", "0")
	confirmed, signed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWalker(t, rapid.SampledFrom(docs).Draw(t, "document"))
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			w.step(t, keys)
			view := w.view()
			requireSafe(t, view, max(w.m.session.width, 1), max(w.m.session.height, 1))
			if c, ok := w.m.top().(*confirmScreen); ok && !c.review.Document().Declines() {
				confirmed++
				require.True(t, w.m.session.reading.Complete(), "Confirm before everything was opened")
			}
		}
		if w.signed {
			signed++
			require.True(t, w.m.session.reading.Complete(), "signed before everything was opened")
		}
	})
	require.Positive(t, confirmed, "no walk came as far as Confirm")
	require.Positive(t, signed, "no walk came as far as a signature, of %d steps on Confirm", confirmed)
}
