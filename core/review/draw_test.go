package review

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/wire"
)

var update = flag.Bool("update", false, "write the drawings of testdata anew")

func draw(t testing.TB, d *Document, detail Detail) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, d, detail))
	return b.String()
}

// compareDrawing holds a drawing against the one that was read by a person and committed.
func compareDrawing(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", name, diff)
	}
}

func TestDrawings(t *testing.T) {
	compareDrawing(t, "brief.txt", draw(t, sample(), Brief))
	compareDrawing(t, "whole.txt", draw(t, sample(), Whole))
	compareDrawing(t, "summary.txt", draw(t, fleet(wire.MaxLeaves/2), Brief))
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, sample()))
	compareDrawing(t, "document.json", b.String())
}

// A fullDisk takes the first byte of nothing.
type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) { return 0, d.err }

func TestWriteErrors(t *testing.T) {
	full := errors.New("no space left on device")
	for name, err := range map[string]error{
		"text": WriteText(fullDisk{full}, sample(), Whole),
		"json": WriteJSON(fullDisk{full}, sample()),
	} {
		require.ErrorIs(t, err, full, name)
		require.Equal(t, wire.IOError, wire.CodeOf(err), name)
	}
}

// "The list an approver saw was cut": the last of 50,000 is there, numbered, and Brief says how many it leaves out.
func TestWholeShowsTheLastSubject(t *testing.T) {
	whole := draw(t, fleet(1), Whole)
	require.Contains(t, whole, "  gpu-49999\n")
	require.NotContains(t, whole, "SHORTENED")
	brief := draw(t, fleet(1), Brief)
	require.Contains(t, brief, "gpu-00011\n       ... and 49,988 more\n")
	require.NotContains(t, brief, "gpu-00012")
	require.Contains(t, brief, "SHORTENED")
}

func TestBriefOfTwelveIsNotShortened(t *testing.T) {
	d := sample()
	d.Operations[0].Subjects, d.Size = d.Operations[0].Subjects[:12], 15
	d.Operations[0].SetFields(func() []Field { return []Field{one("image", "string", "x")} })
	d.Facts, d.Findings = nil, nil
	got := draw(t, d, Brief)
	require.Contains(t, got, "gpu-011\n")
	require.NotContains(t, got, "more")
	require.NotContains(t, got, "SHORTENED")
}

func TestBriefDrawsFiftyAndSummarisesMore(t *testing.T) {
	for operations, summarised := range map[int]bool{50: false, 80: true} {
		got := draw(t, fleet(operations), Brief)
		require.Equal(t, summarised, strings.Contains(got, "80 distinct values, 0 to 79\n"), operations)
		require.Equal(t, !summarised, strings.Contains(got, "50 of 50  node.reboot"), operations)
	}
}

// An outlier among 50,000 operations stands first and whole, and so does its long value that differs in the middle.
func TestBriefDrawsOutliersWhole(t *testing.T) {
	d := fleet(wire.MaxLeaves)
	usual, other := strings.Repeat("a", 500), strings.Repeat("a", 250)+"b"+strings.Repeat("a", 249)
	d.Operations[31_415].Outlier = true
	d.Operations[31_415].SetFields(func() []Field {
		f := one("cmd", "string", other)
		f.Odd, f.Usual = true, texts(usual)
		return []Field{f}
	})
	got := unwrap(draw(t, d, Brief))
	require.Contains(t, got, "1 of 50,000  node.reboot\n     OUTLIER, DESTRUCTIVE, on 1 subject\n")
	require.Contains(t, got, `  != cmd  "`+other+`"`)
	require.Contains(t, got, `"`+usual+`"`)
	require.Contains(t, got, "50,000 distinct  node.reboot")
	require.Less(t, strings.Index(got, "OUTLIER"), strings.Index(got, "50,000 distinct  "))
}

func TestBriefDrawsWhatDiffersWhole(t *testing.T) {
	d := sample()
	long := strings.Repeat("a", 500)
	d.Operations[0].SetFields(func() []Field {
		f := one("cmd", "string", long)
		f.Odd, f.Usual = true, texts(long+"b")
		return []Field{f, one("other", "string", long+"c")}
	})
	got := unwrap(draw(t, d, Brief))
	require.Contains(t, got, `"`+long+`"`)
	require.Contains(t, got, `"`+long+`b"`)
	require.NotContains(t, got, long+"c")
}

func TestDifferingScriptsNameTheLine(t *testing.T) {
	d := sample()
	d.Operations[3].SetFields(func() []Field {
		f := Field{Name: Escape("user_data"), Type: "string", Odd: true, Value: EscapeLines("a\nb\nc"), Usual: EscapeLines("a\nb\nd")}
		return []Field{f}
	})
	require.Contains(t, draw(t, d, Brief), "(the first line that differs is 3)")
}

func TestShorten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Escape(strings.Join(rapid.SliceOf(hostilePart).Draw(t, "parts"), "")).s
		most := rapid.IntRange(30, 200).Draw(t, "most")
		head, tail := shorten(s, most)
		if len(s) <= most {
			require.Equal(t, s, head+tail)
			return
		}
		require.True(t, strings.HasPrefix(s, head) && strings.HasSuffix(s, tail))
		require.LessOrEqual(t, len(head)+len(tail), most)
		require.Greater(t, len(head)+len(tail), most-22, "two units of at most ten bytes may not fit")
		for _, e := range escapeForm.FindAllStringIndex(s, -1) {
			for _, cut := range []int{len(head), len(s) - len(tail)} {
				require.False(t, e[0] < cut && cut < e[1], "the escape at %d is cut at %d", e[0], cut)
			}
		}
	})
}

// unwrap puts the rows of a text together again.
func unwrap(drawing string) string {
	return regexp.MustCompile(`\n *> `).ReplaceAllString(drawing, "")
}

// Whatever the texts are: no line is wider than the terminal, none begins with a text, no control character but LF is
// drawn, and Whole holds every text.
func TestDrawingHostileTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOf(hostilePart), func(parts []string) Text {
			return Escape("東" + strings.Join(parts, strings.Repeat(" wide", len(parts)))) // 東 is in no word of the drawing
		})
		list := rapid.SliceOfN(text, 1, 15)
		level := rapid.IntRange(0, 12).Draw(t, "level")
		d := &Document{What: "batch scope", Root: sampleRoot[:]}
		d.Facts = []Fact{{Name: "reason", Value: list.Draw(t, "fact"), Note: "as it came"}}
		d.Findings = []Finding{NewFinding(EscapedText, text.Draw(t, "message"), list.Draw(t, "places")...)}
		d.Tallies = []Tally{{"by kind", []Count{{text.Draw(t, "row"), 1, true}}}}
		field := Field{Name: text.Draw(t, "name"), Type: "string", Value: list.Draw(t, "value"), Odd: true, Usual: list.Draw(t, "usual")}
		shown := append([]Text{field.Name}, append(field.Value, field.Usual...)...)
		for range level {
			field = Field{Name: text.Draw(t, "group"), Type: "message M", Fields: []Field{field}}
			shown = append(shown, field.Name)
		}
		o := Operation{Title: text.Draw(t, "title"), Type: text.Draw(t, "type"), Subjects: list.Draw(t, "subjects")}
		o.SetFields(func() []Field { return []Field{field} })
		d.Operations, d.Size = []Operation{o}, len(o.Subjects)
		shown = append(append(append(shown, d.Facts[0].Value...), d.Findings[0].Places...), o.Subjects...)
		shown = append(shown, d.Findings[0].Message, d.Tallies[0].Rows[0].Name, o.Title, o.Type)

		for _, detail := range []Detail{Brief, Whole} {
			var b bytes.Buffer
			require.NoError(t, WriteText(&b, d, detail))
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				require.LessOrEqual(t, cells(line), columns, "%q", line)
				require.False(t, strings.HasPrefix(line, "東"), "%q", line)
				require.Empty(t, strings.Map(keepControls, line))
			}
			if detail == Whole {
				drawing := unwrap(b.String())
				for _, s := range shown {
					require.Contains(t, drawing, s.s)
				}
			}
		}
	})
}

func keepControls(r rune) rune {
	if unicode.IsControl(r) {
		return r
	}
	return -1
}

func cells(line string) (n int) {
	for _, r := range line {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

// "A changed field was not shown": whatever changes in an operation, the drawing and the JSON change.
func TestEveryChangeShows(t *testing.T) {
	for name, change := range map[string]func(o *Operation, f *Field){
		"title":          func(o *Operation, f *Field) { o.Title = Escape("node.wipe") },
		"type":           func(o *Operation, f *Field) { o.Type = Escape("x") },
		"digest":         func(o *Operation, f *Field) { o.Digest = bytes.Repeat([]byte{0}, 32) },
		"marks":          func(o *Operation, f *Field) { o.Marks = []string{"any payload"} },
		"destructive":    func(o *Operation, f *Field) { o.Destructive = true },
		"outlier":        func(o *Operation, f *Field) { o.Outlier = true },
		"subject":        func(o *Operation, f *Field) { o.Subjects = texts("gpu-1 ") },
		"name":           func(o *Operation, f *Field) { f.Name = Escape("other") },
		"default":        func(o *Operation, f *Field) { f.Default = true },
		"odd":            func(o *Operation, f *Field) { f.Odd = true },
		"usual":          func(o *Operation, f *Field) { f.Odd, f.Usual = true, texts("u") },
		"value":          func(o *Operation, f *Field) { f.Value = texts("w") },
		"space at end":   func(o *Operation, f *Field) { f.Value = texts("v ") },
		"empty":          func(o *Operation, f *Field) { f.Value = texts("") },
		"no value":       func(o *Operation, f *Field) { f.Value = nil },
		"note":           func(o *Operation, f *Field) { f.Note = "not set" },
		"line feed":      func(o *Operation, f *Field) { f.Value = texts("v", "") },
		"space in lines": func(o *Operation, f *Field) { f.Value = texts("v", " ") },
		"group":          func(o *Operation, f *Field) { f.Value, f.Fields = nil, []Field{one("a", "string", "v")} },
		"no fields":      func(o *Operation, f *Field) { o.SetFields(func() []Field { return []Field{} }) },
		"unknown fields": func(o *Operation, f *Field) { o.SetFields(nil) },
	} {
		f := one("name", "string", "v")
		o := Operation{Title: Escape("node.reboot"), Type: Escape("t"), Digest: bytes.Repeat([]byte{0x11}, 32), Subjects: texts("gpu-1")}
		o.SetFields(func() []Field { return []Field{f} })
		d := &Document{What: "batch scope", Root: sampleRoot[:], Size: 1, Operations: []Operation{o}}
		text, json := draw(t, d, Whole), encode(t, d)
		change(&d.Operations[0], &f)
		require.NotEqual(t, text, draw(t, d, Whole), name)
		require.NotEqual(t, json, encode(t, d), name)
	}
}

func BenchmarkText(b *testing.B) {
	for name, operations := range map[string]int{"one operation": 1, "fifty": 50, "all distinct": wire.MaxLeaves} {
		d := fleet(operations)
		for detail, as := range map[Detail]string{Brief: "brief", Whole: "whole"} {
			b.Run(name+"/"+as, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					require.NoError(b, WriteText(io.Discard, d, detail))
				}
			})
		}
	}
}

// Many outliers do not bury the rest: Brief draws the first of them whole, says how many more there are, and gives the
// kind its summary all the same.
func TestBriefBoundsOutliers(t *testing.T) {
	d := fleet(1000)
	for i := range 99 {
		d.Operations[i].Outlier = true
	}
	got := draw(t, d, Brief)
	require.Equal(t, 20, strings.Count(got, "OUTLIER"))
	require.Contains(t, got, "... and 79 operations more that few subjects have")
	require.Contains(t, got, "1,000 distinct  node.reboot")
	require.Equal(t, 99, strings.Count(draw(t, d, Whole), "OUTLIER"))
}

// What stands at the top stands at the end again, where the eye is after a long list.
func TestVerdictIsRepeated(t *testing.T) {
	got := draw(t, sample(), Brief)
	end := got[strings.LastIndex(got, "STOP: do not sign"):]
	require.Contains(t, end, "STOP window-closed: ")
	require.Contains(t, end, "ACKNOWLEDGE outlier: 1 of 15 subjects of node.reimage has another image\n      gpu-777\n")
	require.NotEqual(t, strings.Index(got, "STOP: do not sign"), strings.LastIndex(got, "STOP: do not sign"))
}

// A headline never says that nothing speaks against it while notes stand below.
func TestTheHeadlineCountsNotes(t *testing.T) {
	d := sample()
	d.Findings = nil
	headline := func() string {
		var b bytes.Buffer
		require.NoError(t, WriteText(&b, d, Whole))
		line, _, _ := strings.Cut(b.String(), "\n")
		return line
	}
	require.Contains(t, headline(), "CLEAR: nothing speaks against")
	d.Findings = []Finding{NewFinding(SplitBatches, Escape("x"))}
	require.Contains(t, headline(), "CLEAR, with 1 note below: nothing forbids")
	d.Findings = append(d.Findings, NewFinding(ApprovalsClaimed, Escape("x")))
	require.Contains(t, headline(), "CLEAR, with 2 notes below: nothing forbids")
	d.Findings = append(d.Findings, NewFinding(NoLedger, Escape("x")))
	require.Contains(t, headline(), "ACKNOWLEDGE: 1 finding below")
}
