package tui

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/better-compute/approver/core/review"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the screens of testdata anew")

// plainTheme draws as a terminal without colours does.
func plainTheme() *Theme { return themeOf(termenv.Ascii) }

func themeOf(p termenv.Profile) *Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p)
	return NewTheme(r)
}

// A driver sits before the program: it types, resizes, lets time pass, and looks.
type driver struct {
	t   require.TestingT
	m   *Model
	now time.Time
	ran []tea.Msg // what commands gave
}

// driveOpened begins at the overview of a file.
func driveOpened(t require.TestingT, o *Opened) *driver {
	d := &driver{t: t, now: startTime}
	d.m = newModel(Config{Road: &Road{}, Now: func() time.Time { return d.now }, Theme: plainTheme()}, func(s *session) (screen, tea.Cmd) {
		s.open(o, newSubjectIndex(o.Review.Document()))
		return newOverview(s), nil
	})
	return d
}

// send hands a message on and runs what comes of it, but for the clock.
func (d *driver) send(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	select {
	case msg := <-done:
		d.got(msg)
	case <-time.After(20 * time.Millisecond): // a tick, or the wait for what a job tells
	}
}

func (d *driver) got(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil, tick:
	case tea.BatchMsg:
		for _, cmd := range msg {
			d.run(cmd)
		}
	default:
		d.ran = append(d.ran, msg)
		d.send(msg)
	}
}

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp,
	"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "tab": tea.KeyTab, "backspace": tea.KeyBackspace, "ctrl+c": tea.KeyCtrlC,
	"f1": tea.KeyF1, "ctrl+u": tea.KeyCtrlU, "ctrl+b": tea.KeyCtrlB, "ctrl+f": tea.KeyCtrlF,
}

func keyOf(name string) tea.KeyMsg {
	if t, ok := named[name]; ok {
		return tea.KeyMsg{Type: t}
	}
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// keys types, a second apart.
func (d *driver) keys(names ...string) *driver {
	for _, name := range names {
		d.now = d.now.Add(time.Second)
		d.send(keyOf(name))
	}
	return d
}

// pass lets time pass in which the program lives.
func (d *driver) pass(time time.Duration) *driver {
	d.now = d.now.Add(time)
	d.send(tick{})
	return d
}

func (d *driver) size(width, height int) *driver {
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	return d
}

func (d *driver) view() string { return d.m.View() }

func (d *driver) sees(texts ...string) *driver {
	view := d.view()
	for _, text := range texts {
		require.Contains(d.t, view, text)
	}
	return d
}

func (d *driver) seesNot(texts ...string) *driver {
	view := d.view()
	for _, text := range texts {
		require.NotContains(d.t, view, text)
	}
	return d
}

// readAll opens everything that is to be opened, as a person does: n, again and again.
func (d *driver) readAll() *driver {
	for range 1000 {
		if d.m.session.reading.Complete() {
			return d
		}
		d.keys("n")
	}
	require.Fail(d.t, "n does not open everything")
	return d
}

// readOn pages through what stands above the questions.
func (d *driver) readOn() *driver {
	for range 100 {
		if d.m.top().(*confirmScreen).open {
			return d
		}
		d.keys("pgdown")
	}
	require.Fail(d.t, "the questions do not come")
	return d
}

var sizes = [][2]int{{80, 24}, {120, 40}, {40, 12}}

// golden holds the screen at three sizes against what a person read and committed.
func golden(t *testing.T, name string, d *driver, vary ...*regexp.Regexp) {
	t.Helper()
	for _, size := range sizes {
		d.size(size[0], size[1])
		got := d.view()
		for _, v := range vary {
			got = v.ReplaceAllString(got, "...")
		}
		path := filepath.Join("testdata", name+"-"+review.Number(size[0])+"x"+review.Number(size[1])+".txt")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(trimRight(got)+"\n"), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(trimRight(got)+"\n", "\n")); diff != "" {
			t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", path, diff)
		}
	}
}

func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
