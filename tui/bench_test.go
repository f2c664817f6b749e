package tui

import (
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// BenchmarkKeystroke measures one Update and View on each screen over 50,000 subjects, as the median: each with a payload of
// its own, and with one of four.
func BenchmarkKeystroke(b *testing.B) {
	for name, scripts := range map[string]int{"distinct": 0, "alike": 4} {
		o := openedScope(b, scopeFile(b, wire.MaxLeaves, reimages(scripts)), testPolicy())
		for screen, keys := range map[string]struct{ there, again []string }{
			"overview":   {nil, []string{"down", "up"}},
			"operations": {[]string{"2"}, []string{"pgdown", "down", "end", "home"}},
			"operation":  {[]string{"2", "end", "enter"}, []string{"pgdown", "end", "home"}},
			"summary":    {[]string{"2", "enter"}, []string{"pgdown", "end", "home"}},
			"subjects":   {[]string{"3"}, []string{"pgdown", "end", "home", "j"}},
			"search":     {[]string{"3", "/"}, []string{"g", "p", "u", "-", "a", "0", "0", "1", "-", "n", "0", "7", "ctrl+u"}},
			"backspace":  {[]string{"3", "/", "a", "0", "0", "1"}, []string{"backspace", "1"}},
			"filters":    {[]string{"3", "f"}, []string{"end", "home", "pgdown"}},
			"choose":     {[]string{"3"}, []string{"f", "down", "down", "down", "enter"}},
			"finding":    {[]string{"4", "end", "enter"}, []string{"end", "home"}},
			"leaf":       {[]string{"3", "enter"}, []string{"pgdown", "end", "home"}},
			"findings":   {[]string{"4"}, []string{"end", "home", "down"}},
			"by-finding": {[]string{"4", "end", "enter", "f"}, []string{"end", "home", "/", "g", "0", "backspace", "esc"}},
			"by-kind":    {[]string{"3", "f", "down", "enter"}, []string{"/", "g", "0", "7", "backspace", "esc", "3"}},
			"help":       {[]string{"?"}, []string{"end", "home"}},
			"decline":    {[]string{"D"}, []string{"n", "o", "backspace", "backspace"}},
			"walk":       {nil, []string{"1", "2", "3", "4", "n", "n"}},
		} {
			b.Run(name+"/"+screen, func(b *testing.B) {
				d := driveOpened(b, o)
				d.m.theme = themeOf(termenv.ANSI)
				d.size(120, 40).keys(keys.there...)
				var took []float64
				for b.Loop() {
					for _, k := range keys.again {
						msg := tea.Msg(keyOf(k))
						begin := time.Now()
						d.m.Update(msg)
						view := d.m.View()
						took = append(took, float64(time.Since(begin))/1e6)
						require.NotEmpty(b, view)
					}
				}
				b.ReportMetric(0, "ns/op")
				slices.Sort(took)
				b.ReportMetric(took[len(took)/2], "ms-median")
				b.ReportMetric(took[len(took)*99/100], "ms-p99")
			})
		}
	}
}

// BenchmarkOpen measures opening a file, to the first screen, against the command's review of it, in turns, as the median of
// the ratios; and the memory that stays in use.
func BenchmarkOpen(b *testing.B) {
	for name, scripts := range map[string]int{"distinct": 0, "alike": 4} {
		b.Run(name, func(b *testing.B) {
			file := scopeFile(b, wire.MaxLeaves, reimages(scripts))
			command := func() any {
				o := openedScope(b, file, testPolicy())
				require.NoError(b, review.WriteText(io.Discard, o.Review.Document(), review.Brief))
				return o
			}
			program := func() any {
				d := driveOpened(b, openedScope(b, file, testPolicy()))
				require.NotEmpty(b, d.view())
				return d
			}
			var times, heaps []float64
			for b.Loop() {
				a, aHeap := spent(command)
				c, cHeap := spent(program)
				times, heaps = append(times, c/a), append(heaps, cHeap/aHeap)
			}
			b.ReportMetric(0, "ns/op")
			slices.Sort(times)
			slices.Sort(heaps)
			b.ReportMetric(times[len(times)/2], "×command-time")
			b.ReportMetric(heaps[len(heaps)/2], "×command-heap")
		})
	}
}

// spent gives the time that work takes, and the heap that what it gives keeps.
func spent(work func() any) (seconds, heap float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	kept := work()
	seconds = time.Since(begin).Seconds()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return seconds, float64(after.HeapAlloc) - float64(before.HeapAlloc)
}
