package review

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// read begins to read a document of so many operations for each kind, some of them outliers, with some findings.
func read(t require.TestingT, kinds, outliers []int, findings ...Finding) *Reading {
	d := Document{What: "batch scope", Root: sampleRoot[:], Findings: findings}
	for k, n := range kinds {
		for i := range n {
			d.Operations = append(d.Operations, Operation{Title: Escape(fmt.Sprintf("kind.%d", k)), Outlier: i < outliers[k], Subjects: texts("s")})
		}
		if n > SummaryAbove {
			d.Summaries = append(d.Summaries, Summary{Title: Escape(fmt.Sprintf("kind.%d", k)), Columns: []Column{{Name: Escape("image")}}})
		}
	}
	d.Size = len(d.Operations)
	require.NoError(t, d.check())
	return NewReading(&Review{doc: d})
}

func TestReadingWantsEveryOperation(t *testing.T) {
	g := read(t, []int{50, 3}, []int{2, 0}, NewFinding(Outlier, Escape("m")), NewFinding(ApprovalsClaimed, Escape("m")))
	require.Empty(t, g.Groups())
	require.Equal(t, Left{Operations: 53, Findings: 1}, g.Left())
	for i := range 53 {
		require.False(t, g.Complete())
		g.OpenOperation(i)
		g.OpenOperation(i)
	}
	require.Equal(t, Left{Findings: 1}, g.Left())
	g.OpenFinding(1)
	require.False(t, g.Complete(), "a note stands for no finding to acknowledge")
	g.OpenFinding(0)
	require.True(t, g.Complete())
	due, opened := g.Finding(1)
	require.Equal(t, []bool{false, true}, []bool{due, opened})
}

// Of more than 50 that remain the summary, a sample and every outlier are wanted; opening others does not help.
func TestReadingOfMany(t *testing.T) {
	g := read(t, []int{4, 60, 55}, []int{0, 7, 5})
	require.Len(t, g.Groups(), 1, "55 operations less 5 outliers are read one by one")
	group := g.Groups()[0]
	require.Len(t, group.Operations, 53)
	require.Len(t, group.Summary.Columns, 1)
	require.Len(t, group.Sample, SampleSize)
	require.Equal(t, Left{Operations: 4 + 7 + SampleSize + 55, Summaries: 1}, g.Left())
	for _, i := range group.Operations {
		if !slices.Contains(group.Sample, i) {
			g.OpenOperation(i)
		}
	}
	require.Equal(t, Left{Operations: 4 + 7 + SampleSize + 55, Summaries: 1}, g.Left())
	for i := range 119 {
		g.OpenOperation(i)
	}
	require.False(t, g.Complete())
	require.False(t, g.Summary(0))
	g.OpenSummary(0)
	require.True(t, g.Summary(0))
	require.True(t, g.Complete())
}

// What cannot be shown is opened one by one, however much of it there is: no summary says what it does.
func TestReadingOfOpaque(t *testing.T) {
	d := Document{What: "batch scope", Root: sampleRoot[:], Size: 120}
	for i := range 120 {
		d.Operations = append(d.Operations, Operation{Title: Escape("k"), Opaque: i < 60, Subjects: texts("s")})
	}
	g := NewReading(&Review{doc: d})
	require.Equal(t, Left{Operations: 60 + SampleSize, Summaries: 1}, g.Left())
	require.Len(t, g.Groups()[0].Operations, 60)
}

// Changes of an approver set are never summarised.
func TestReadingWantsEveryChange(t *testing.T) {
	d := Document{What: "change", Root: sampleRoot[:], Counts: Changes, Size: 60}
	for range 60 {
		d.Operations = append(d.Operations, Operation{Title: Escape("a key joins"), Subjects: texts("k")})
	}
	require.Equal(t, Left{Operations: 60}, NewReading(&Review{doc: d}).Left())
}

func TestNothingIsNotRead(t *testing.T) {
	require.False(t, new(Reading).Complete())
}

// Whatever the document: a reading is complete exactly when all that is due was opened, the sample is of the group and of
// ten, and an outlier is always due.
func TestReadingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SliceOfN(rapid.IntRange(1, 120), 1, 4).Draw(t, "kinds")
		outliers := make([]int, len(n))
		for i := range n {
			outliers[i] = rapid.IntRange(0, n[i]).Draw(t, "outliers")
		}
		g := read(t, n, outliers)
		for _, group := range g.Groups() {
			require.Greater(t, len(group.Operations), SummaryAbove)
			require.Len(t, slices.Compact(slices.Clone(group.Sample)), SampleSize)
			for _, i := range group.Sample {
				require.Contains(t, group.Operations, i)
			}
		}
		var todo []func()
		for i, o := range g.Review().Document().Operations {
			due, _ := g.Operation(i)
			require.True(t, due || !o.Outlier)
			if due {
				todo = append(todo, func() { g.OpenOperation(i) })
			}
		}
		for i := range g.Groups() {
			todo = append(todo, func() { g.OpenSummary(i) })
		}
		for _, open := range rapid.Permutation(todo).Draw(t, "order") {
			require.False(t, g.Complete())
			open()
		}
		require.True(t, g.Complete())
	})
}

// The sample differs from reading to reading: of 10 out of 5,000, two alike are not to be expected.
func TestSampleIsRandom(t *testing.T) {
	a, b := read(t, []int{5000}, []int{0}), read(t, []int{5000}, []int{0})
	require.NotEqual(t, a.Groups()[0].Sample, b.Groups()[0].Sample)
}

func TestRows(t *testing.T) {
	hostile := Escape("ab\x1bcd \u202e 日本語 node")
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.IntRange(10, 40).Draw(t, "cells")
		text := Escape(rapid.String().Draw(t, "text") + hostile.String())
		whole := ""
		for _, row := range text.Rows(cells) {
			require.LessOrEqual(t, Width(row), cells)
			require.Equal(t, row, Fit(row, cells))
			whole += row
		}
		require.Equal(t, text.String(), whole)
		fit := Fit(text.String(), cells)
		require.LessOrEqual(t, Width(fit), cells)
		require.True(t, len(fit) == len(whole) || Width(whole[:len(fit)+unit(whole[len(fit):])]) > cells)
	})
	require.Equal(t, []string{""}, Escape("").Rows(10))
	require.Equal(t, "a", Fit("a<U+202E>", 8))
	require.Equal(t, "日", Fit("日本", 3))
}
