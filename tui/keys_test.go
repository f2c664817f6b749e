package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/scope"
)

// batch begins at the overview of 15 operations, one of them an outlier.
func batch(t *testing.T) *driver {
	return driveOpened(t, openedScope(t, scopeFile(t, 15, mixed), testPolicy()))
}

// fleet begins at the overview of 300 machines, each with a script of its own.
func fleet(t *testing.T) *driver {
	return driveOpened(t, openedScope(t, scopeFile(t, 300, reimages(0)), testPolicy()))
}

// Each key of each command, on the screen where it matters.
func TestEveryKey(t *testing.T) {
	for _, c := range []struct {
		way  string // keys to the screen, by spaces
		keys string // that do the same
		sees string
	}{
		{"3", "down j", "> [ ] D     bmc.power             bmc:site-0/10.0.0.12"},
		{"3 end", "up k", "> [ ] D     node.reimage          gpu-a000-n0010"},
		{"3 end", "home g", "> [ ] != D  node.reimage          gpu-a000-n0003"},
		{"3", "end G", "> [ ] D     node.reimage          gpu-a000-n0011"},
		{"1", "pgdown ctrl+f space", "13 willow"},
		{"1 end", "pgup ctrl+b b", "13 willow"},
		{"2", "enter right l", "Operation 1 of 3"},
		{"2 enter", "esc left h", "Operations: 3"},
		{"1", "n tab", "Finding: no-expect"},
		{"2", "n tab", "Finding: no-expect"},
		{"4 enter", "n tab", "Finding: outlier"},
		{"1", "/", "search (Enter keeps it, Esc ends it): "},
		{"2", "/", "search (Enter keeps it, Esc ends it): "},
		{"4", "/", "search (Enter keeps it, Esc ends it): "},
		{"1", "f", "Which subjects to show"},
		{"2", "f", "Which subjects to show"},
		{"4", "f", "Which subjects to show"},
		{"3", "/", "search (Enter keeps it, Esc ends it): "},
		{"3", "f", "Which subjects to show"},
		{"2 enter", "f s 3", "Subjects: 1 of 15"},
		{"4 enter n", "f 3 s", "Subjects: "},
		{"4 enter", "1", "Overview: batch scope"},
		{"1", "2 o", "Operations: 3"},
		{"4", "2 o", "Operations: 3"},
		{"1", "3 s", "Subjects: 15 of 15"},
		{"1", "4 F", "Findings: 4"},
		{"3 enter", "enter l right", "Operation 1 of 3"},
		{"1", "A", "not yet: still to be opened: 4 findings and 3 operations"},
		{"1", "? f1", "On the screen before"},
		{"D", "f1", "Letters are text that is typed there."},
		{"D f1", "f1 esc", "Why do you decline?"},
		{"1 ?", "esc h left enter l right", "Overview: batch scope"},
		{"1", "esc h left", "this is the first screen; q leaves the program"},
		{"3 f down", "enter", "shown: finding outlier"},
		{"4", "enter l right", "Finding: no-expect"},
		{"1", "D", "Why do you decline?"},
	} {
		for key := range strings.FieldsSeq(c.keys) {
			if key == "space" {
				key = " "
			}
			d := batch(t).keys(strings.Fields(c.way)...)
			require.NotContains(t, d.view(), c.sees, "%q before %q", c.way, key)
			d.keys(key)
			require.Contains(t, d.view(), c.sees, "%q, then %q", c.way, key)
		}
	}
}

// The help is drawn from the one table of keys, and misses none.
func TestHelpListsEveryKey(t *testing.T) {
	d := batch(t).size(100, 100).keys("?")
	for c := up; c < commandCount; c++ {
		require.NotEmpty(t, bindings[c].keys, "%d", c)
		d.sees(bindings[c].help)
		for _, key := range bindings[c].keys { // each is named, or is another hand's habit for one that is
			require.True(t, strings.Contains(bindings[c].name, key) || len(key) > 1 || key == " ", "%s is not named", key)
		}
	}
}

func TestQuitLeavesEverywhere(t *testing.T) {
	for _, way := range ways {
		d := batch(t).keys(way...).keys("ctrl+c")
		require.Equal(t, tea.QuitMsg{}, d.ran[len(d.ran)-1], "%v", way)
		require.Empty(t, d.view())
		d.keys("n", "A", "enter") // what comes after the end is nobody's
	}
	d := batch(t).keys("q")
	require.Equal(t, tea.QuitMsg{}, d.ran[len(d.ran)-1])
}

// A key that was pasted is no command.
func TestPastedKeysAreNoCommands(t *testing.T) {
	d := batch(t)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true})
	d.sees("Overview").send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2"), Paste: true})
	d.sees("Overview")
	d.keys("3", "/").send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("n0003\x1b[2J"), Paste: true})
	d.sees("search (Enter keeps it, Esc ends it): n0003[2J", "Subjects: 0 of 15")
}

func TestReadingMarksWhatWasOpened(t *testing.T) {
	d := batch(t).keys("2").sees("> [ ]      1 x OUTLIER").keys("enter", "esc").sees("> [ ]      1 x OUTLIER") // its end was not on the screen
	d.keys("enter", "end", "esc").sees("> [x]      1 x OUTLIER", "6 to open")
	d.keys("4", "enter", "esc").sees("> [x] ACKNOWLEDGE no-expect", "5 to open")
	d.keys("3").sees("> [x] != D  node.reimage")
	d.readAll().keys("1").sees("nothing left to open", "Everything that must be opened was opened.")
	d.keys("n").sees("nothing is left to open")
	d.keys("A").sees("Confirm")
}

// n pages through what is longer than the screen before it goes on, so nobody passes what they did not see.
func TestNextReadsToTheEnd(t *testing.T) {
	d := batch(t).size(40, 12).keys("2", "enter")
	pages := ""
	for strings.Contains(d.view(), "Operation 1 of 3") {
		pages += d.view()
		d.keys("n")
	}
	for _, part := range []string{"node.reimage", "image_sha256", "user_data", "echo hello", "Subjects (1)", "gpu-a000-n0003"} {
		require.Contains(t, pages, part)
	}
	_, opened := d.m.session.reading.Operation(0)
	require.True(t, opened)
}

// On a screen too small to read nothing counts as read.
func TestNothingIsReadOnATinyScreen(t *testing.T) {
	for _, size := range [][2]int{{20, 24}, {80, 4}, {1, 1}, {0, 0}} {
		d := batch(t).size(size[0], size[1]).keys("4", "enter", "end", "2", "enter", "end")
		require.Equal(t, review.Left{Operations: 3, Findings: 4}, d.m.session.reading.Left(), "%v", size)
	}
}

// Of what the site agents do not add up to is said that it has none.
func TestSubjectsWithoutASiteAgent(t *testing.T) {
	batch(t).size(80, 60).sees("1  site-1", "12  have none")
}

func TestClockRuns(t *testing.T) {
	d := batch(t).sees("Window: open for 06:00:00 more.")
	d.now = startTime.Add(5*time.Hour + 59*time.Minute + 50*time.Second)
	d.m.Update(tick{})
	d.sees("Window: open for 00:00:10 more.").readAll()
	d.now = startTime.Add(6*time.Hour + time.Second)
	d.m.Update(tick{})
	d.keys("1").sees("Window: CLOSED 00:00:02 ago.", "WINDOW CLOSED")
	d.keys("A").sees("the window has closed")
	long := openedScope(t, scopeFile(t, 1, mixed), testPolicy())
	long.NotAfter = startTime.Add(50 * time.Hour)
	driveOpened(t, long).sees("open for 2 days 02:00:00 more")
}

func TestAStopIsInTheWay(t *testing.T) {
	p := testPolicy()
	p.MaxHours = 1
	d := driveOpened(t, openedScope(t, scopeFile(t, 15, mixed), p)).sees("STOP: do not sign this batch scope").readAll()
	d.keys("1").sees("D decline").seesNot("A approve").keys("A").sees("STOP: this cannot be signed; D declines")
	d.keys("1").sees("STOP window-long\n      ") // right under the headline
	require.Less(t, strings.Index(d.view(), "STOP window-long"), strings.Index(d.view(), "15 operations"))
	d.keys("4").sees(">  - +STOP window-long").keys("enter").sees("It is a STOP: nothing is signed.")
}

// Kinds and findings stand under the verdict, before the root's words. Who can only read is told nothing of signing.
func TestOverviewBegins(t *testing.T) {
	v := batch(t).view()
	for _, pair := range [][2]string{{"15 operations", "By kind"}, {"12  DESTRUCTIVE node.reimage", "Findings"}, {"ACKNOWLEDGE outlier", "runs-as-root"}} {
		require.Contains(t, v, pair[0])
		require.Less(t, strings.Index(v, pair[0]), strings.Index(v, pair[1]), pair[0])
	}
	require.NotContains(t, v[:strings.Index(v, "Findings")], "Root")
	o := openedScope(t, scopeFile(t, 15, mixed), testPolicy())
	o.Bar = review.Escape("no key is named")
	driveOpened(t, o).sees("ACKNOWLEDGE: 4 findings below for whoever signs", "to be read only").seesNot("before you sign", "to open\n").keys("4", "enter").seesNot("before you sign")
}

// Names of keys are escaped once.
func TestNamesOfKeysAreEscapedOnce(t *testing.T) {
	d := driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 2, 0, 1, 3), "\u202e\"x\".pub"))
	for _, width := range []int{40, 80, 140} {
		d.size(width, 100).seesNot("U+003C").keys("1").seesNot("U+003C").sees("<U+202E>'x'.pub").keys("2").seesNot("U+003C").keys("enter").seesNot("U+003C")
	}
	require.Contains(t, purpose(d.m.session.opened.Review).String(), "a key joins")
}

func TestSearch(t *testing.T) {
	d := fleet(t).keys("3", "/", "N", "0", "2").sees("Subjects: 100 of 300", "gpu-a000-n0200", "gpu-a000-n0223"[:12])
	d.keys("9").sees("Subjects: 10 of 300", "gpu-a000-n0299").seesNot("n0300", "n0028")
	d.keys("backspace").sees("Subjects: 100 of 300")
	d.keys("down", "pgdown", "up").sees("Subjects: 100 of 300")
	d.keys("enter", "j").sees("search (Esc ends it): N02").keys("enter").sees("Leaf").keys("esc")
	d.keys("esc").sees("Subjects: 300 of 300", "shown: all")
	d.keys("/", "x", "y").sees("Subjects: 0 of 300", "None of all 300").keys("enter", "enter", "down", "end").sees("Subjects: 0 of 300")
	d.keys("/", "ctrl+u").sees("Subjects: 300 of 300").keys("q", "?").sees("q?").keys("esc").sees("Subjects: 300 of 300")
}

func TestSearchWithinAFilter(t *testing.T) {
	d := batch(t).keys("3", "f", "down", "down", "enter").sees("shown: kind node.reimage", "Subjects: 12 of 15")
	d.keys("/", "s", "i", "t", "e").sees("Subjects: 0 of 15", "search 12 of 15", "the other 3 were NOT searched").keys("esc").sees("Subjects: 12 of 15")
	d.keys("f", "end", "enter").sees("shown: operation 3 node.reimage", "Subjects: 11 of 15")
	d.keys("3").sees("Subjects: 15 of 15")
}

func TestFiltersByExpectedList(t *testing.T) {
	p := testPolicy()
	expected, err := scope.ParseExpected([]byte("gpu-a000-n0000\ngpu-a000-n0001\ngpu-a000-n0002\ngpu-a000-n9999\n"))
	require.NoError(t, err)
	p.Expected = expected
	d := driveOpened(t, openedScope(t, scopeFile(t, 5, mixed), p)).keys("3", "f")
	d.sees("2  finding expect-unexpected", "3  as the expected list has it").seesNot("expect-missing") // which would lead nowhere
	at := func(what string) {
		for range 20 {
			for _, line := range strings.Split(d.view(), "\n") {
				if strings.HasPrefix(line, ">") && strings.Contains(line, what) {
					d.keys("enter")
					return
				}
			}
			d.keys("down")
		}
		require.Fail(t, "no option "+what)
	}
	at("expect-unexpected")
	d.sees("Subjects: 2 of 5", "gpu-a000-n0003", "gpu-a000-n0004").keys("f")
	at("as the expected")
	d.sees("Subjects: 3 of 5", "gpu-a000-n0000").seesNot("gpu-a000-n0003")
	d.keys("4", "enter").sees("expect-missing", "gpu-a000-n9999")
	p.Expected, err = scope.ParseExpected([]byte("gpu-a000-n0000\ngpu-a000-n0001\n"))
	require.NoError(t, err)
	driveOpened(t, openedScope(t, scopeFile(t, 2, mixed), p)).keys("3", "f").sees("2  as the expected list has it")
}

func TestSummaryStandsForMany(t *testing.T) {
	d := fleet(t).keys("2").sees("> [ ] SUMMARY of 300 x node.reimage", "SAMPLE", " -  ")
	d.keys("enter")
	require.False(t, d.m.session.reading.Summary(0), "its end was not on the screen")
	d.keys("pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "end").sees("hostnamectl set-hostname gpu-node-000299", " of 300 on gpu-a000-n0").keys("pgup", "pgup").sees("300 distinct values").keys("esc").sees("> [x] SUMMARY")
	require.Equal(t, review.Left{Operations: 10, Findings: 2}, d.m.session.reading.Left())
	d.keys("enter", "f").sees("Subjects: 300 of 300", "shown: kind node.reimage")
}

func TestChangeSideBySide(t *testing.T) {
	d := driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 1, 0, 1, 2), "")).sees("Overview: approver-set change").keys("2").sees("Changes: 2", "the threshold FALLS: batches above every tier: 2 of 3 keys -> 1 of 3 keys")
	d.keys("enter").sees("before", "2 of 3 keys", "| 1 of 3 keys").size(30, 12).sees("before  2", "after   1")
	removal := driveOpened(t, openedChange(t, testSet(t, 1, 0), testSet(t, 0), "")).keys("2", "enter")
	swap := driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 2, 0, 1, 3), "dave.pub")).size(120, 40)
	joins, leaves := testKeys(t, 3)[0].KID().String(), testKeys(t, 2)[0].KID().String()
	swap.sees(`* a key joins: "dave.pub" `+joins, "* a key leaves: "+leaves, "Keys: - leaves, + joins", "- "+leaves, "| + "+joins+" dave.pub")
	swap.keys("2").sees(`a key joins: "dave.pub" `+joins, "a key leaves: "+leaves).size(80, 24).keys("1").sees("before", "- "+leaves)
	driveOpened(t, openedChange(t, testSet(t, 1, 0), testSet(t, 0), "")).size(40, 12).sees("THE QUORUM IS REMOVED")
	removal.sees("THE QUORUM IS REMOVED", "What it hands over", "ANY FIRST SET, UNSIGNED", "| no approvers")
}

// A set that is held against none says the numbers of its threshold and tiers.
func TestFirstSetSaysItsNumbers(t *testing.T) {
	driveOpened(t, openedChange(t, nil, testSet(t, 2, 0, 1, 2), "")).sees("the threshold: batches above every tier: 2 of 3 keys", "on each machine: 0 an hour").keys("2").sees("every tier: 2 of 3 keys")
}

// A leaf of a change is none; that of a batch is proven, and an error of the proof is shown.
func TestLeaf(t *testing.T) {
	driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 1, 0, 1, 2), "")).keys("3").sees("it has no subjects; 2 lists the changes", "Overview").keys("2", "enter", "f").sees("it has no subjects").keys("/").sees("it has no subjects")
	batch(t).keys("3", "enter").sees("proof    verified", "index ", "hash ")
	o := openedScope(t, scopeFile(t, 15, mixed), testPolicy())
	o.Leaf = func(int, int) (Leaf, error) { return Leaf{}, fmt.Errorf("\x1b[31mbroken") }
	driveOpened(t, o).keys("3", "enter").sees("error", "<U+001B>[31mbroken")
}

// Sizes change at any moment, and what was on the screen stays near.
func TestResizing(t *testing.T) {
	d := fleet(t).keys("3", "end")
	for _, size := range [][2]int{{120, 40}, {10, 3}, {1, 1}, {300, 100}, {80, 24}} {
		d.size(size[0], size[1])
		lines := strings.Split(d.view(), "\n")
		require.LessOrEqual(t, len(lines), size[1])
	}
	d.sees("> [x]"[:2], "gpu-a000-n0299")
}

// A key that is held down, or typed without a look, opens nothing.
func TestHeldKeysOpenNothing(t *testing.T) {
	d := batch(t)
	for range 500 {
		d.typed(time.Millisecond/2, "n")
	}
	d.sees("Finding: no-expect")
	require.Equal(t, review.Left{Operations: 3, Findings: 4}, d.m.session.reading.Left())
	d.now = d.now.Add(time.Second)
	d.m.Update(tick{})
	d.sees("6 to open")
	for range 50 {
		for _, key := range []string{"4", "down", "enter", "esc", "2", "enter", "end", "esc"} {
			d.typed(time.Millisecond, key)
		}
	}
	d.sees("6 to open")
}

// A key that is held down for a minute opens nothing either: its repeats come faster than anybody looks.
func TestHeldKeyOpensNothing(t *testing.T) {
	d := batch(t)
	d.typed(time.Second, "n")
	for range 60 * 30 {
		d.typed(33*time.Millisecond, "n")
	}
	d.sees("7 to open")
	d.keys("n").sees("6 to open")
}

// Whoever jumps to the end has not read what stands between; n leads back to it.
func TestJumpToTheEndOpensNothing(t *testing.T) {
	d := review.Document{}
	o := review.Operation{Title: review.Escape("node.reimage"), Subjects: []review.Text{review.Escape("a")}}
	o.SetFields(func() (fields []review.Field) {
		for i := range 200 {
			fields = append(fields, review.Field{Name: review.Escape("f" + review.Number(i)), Value: []review.Text{review.Escape("v")}})
		}
		return fields
	})
	d.Operations = append(d.Operations, o)
	m := driveOpened(t, openedDocument(t, d)).keys("2", "enter", "end")
	m.now = m.now.Add(time.Minute)
	m.m.Update(tick{})
	m.sees("f199", "1 to open")
	m.keys("n").sees("f21").seesNot("f199")
	m.readAll().sees("nothing left to open")
}

// Where long values differ is said, as the command says it.
func TestDifferenceIsPointedAt(t *testing.T) {
	d := review.Document{}
	for i := range 2 {
		o := review.Operation{Title: review.Escape("node.reimage"), Outlier: i == 0, Subjects: []review.Text{review.Escape("a")}}
		o.SetFields(func() []review.Field {
			long := strings.Repeat("x", 30)
			return []review.Field{{Name: review.Escape("image"), Type: "string", Odd: true, Value: []review.Text{review.Escape(long + "evil")}, Usual: []review.Text{review.Escape(long + "good")}}}
		})
		d.Operations = append(d.Operations, o)
	}
	driveOpened(t, openedDocument(t, d)).keys("2", "enter").sees("!= image", "most have: ", "they differ from here on:", `"evil"`, `"good"`)
}
