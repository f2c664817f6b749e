package review

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "gpu-017.rack12 ~!", "gpu-017.rack12 ~!"},
		{"accents", "Jürgen Škvorecký, Ωmega, Жук, 東京, 한국", "Jürgen Škvorecký, Ωmega, Жук, 東京, 한국"},
		{"terminal escape", "\x1b[2K\x1b[1A", "<U+001B>[2K<U+001B>[1A"},
		{"line feed", "a\nb", "a<U+000A>b"},
		{"carriage return", "a\rb", "a<U+000D>b"},
		{"tab", "\t", "<U+0009>"},
		{"delete and C1", "\x7f\u0085\u009b", "<U+007F><U+0085><U+009B>"},
		{"bidi override", "a\u202eb", "a<U+202E>b"},
		{"bidi isolate", "\u2066", "<U+2066>"},
		{"zero width", "\u200b\u200d\u2060\ufeff", "<U+200B><U+200D><U+2060><U+FEFF>"},
		{"soft hyphen", "\u00ad", "<U+00AD>"},
		{"separators", "\u2028\u2029\u00a0\u3000", "<U+2028><U+2029><U+00A0><U+3000>"},
		{"private use", "\ue000\U000f0000\U0010ffff", "<U+E000><U+F0000><U+10FFFF>"},
		{"unassigned and noncharacter", "\u0378\ufdd0\uffff", "<U+0378><U+FDD0><U+FFFF>"},
		{"right to left", "\u05d0\u0627\u0660\u07c0\U0001e900", "<U+05D0><U+0627><U+0660><U+07C0><U+1E900>"},
		{"overlaid", "e\u0301\u0338\u20dd", "e<U+0301><U+0338><U+20DD>"},
		{"variation selectors", "\ufe0f\U000e0100\u180b", "<U+FE0F><U+E0100><U+180B>"},
		{"blank letters", "\u115f\u1160\u3164\uffa0\u2800", "<U+115F><U+1160><U+3164><U+FFA0><U+2800>"},
		{"tag characters", "\U000e0041", "<U+E0041>"},
		{"byte that is no UTF-8", "a\xff\xc3(", "a<0xFF><0xC3>("},
		{"surrogate in bytes", "\xed\xa0\x80", "<0xED><0xA0><0x80>"},
		{"overlong", "\xc0\xaf", "<0xC0><0xAF>"},
		{"replacement character", "\ufffd", "\ufffd"},
		{"literal rune escape", "<U+202E>", "<U+003C>U+202E>"},
		{"literal byte escape", "<0xFF>", "<U+003C>0xFF>"},
		{"angle brackets", "<<U <0 < a <u+ <0X <", "<<U <0 < a <u+ <0X <"},
		{"doubled bracket", "<<U+1", "<<U+003C>U+1"},
		{"bracket before an escape", "<\x07", "<<U+0007>"},
		{"late in a long text", strings.Repeat("x", 29) + "\x00", strings.Repeat("x", 29) + "<U+0000>"},
		{"Hindi", "हिन्दी", "हिन्दी"},
		{"Thai", "ที่นี่", "ที่นี่"},
		{"mark at the start", "\u0e35", "<U+0E35>"},
		{"mark on ASCII", "a\u0e35", "a<U+0E35>"},
		{"mark on an accent", "é\u0e35", "é<U+0E35>"},
		{"mark on an escape", "\u0e19\x00\u0e35", "\u0e19<U+0000><U+0E35>"},
		{"third mark", "\u0e19\u0e35\u0e48\u0e48\u0e48", "\u0e19\u0e35\u0e48<U+0E48><U+0E48>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Escape(c.in)
			require.Equal(t, c.want, got.String())
			require.Equal(t, len(escapeForm.FindAllString(got.String(), -1)), got.Escapes())
			require.Equal(t, c.in, got.unescape())
			require.Equal(t, c.in == c.want, PlainBytes([]byte(c.in)))
		})
	}
}

func TestEscapeLines(t *testing.T) {
	lines := func(s string) (got []string) {
		for _, l := range EscapeLines(s) {
			got = append(got, l.String())
		}
		return got
	}
	require.Equal(t, []string{""}, lines(""))
	require.Equal(t, []string{"a"}, lines("a"))
	require.Equal(t, []string{"#!/bin/sh", "<U+0009>reboot<U+000D>", ""}, lines("#!/bin/sh\n\treboot\r\n"))
	require.Equal(t, []string{"\u0e19", "<U+0E35>"}, lines("\u0e19\n\u0e35"), "no mark reaches back over a line")
	require.Equal(t, []string{"<U", "+202E>"}, lines("<U\n+202E>"))
}

var escapeForm = regexp.MustCompile(`<U\+([0-9A-F]{4,6})>|<0x([0-9A-F]{2})>`)

// invert takes escapes back by the package comment's words alone.
func invert(s string) string {
	return escapeForm.ReplaceAllStringFunc(s, func(e string) string {
		if strings.HasPrefix(e, "<U+") {
			code, _ := strconv.ParseInt(e[3:len(e)-1], 16, 32)
			return string(rune(code))
		}
		code, _ := strconv.ParseUint(e[3:5], 16, 8)
		return string([]byte{byte(code)})
	})
}

// never holds what no Text may contain in its raw form, stated a second time by Unicode's own properties.
var never = []*unicode.RangeTable{
	unicode.C, unicode.Zl, unicode.Zp, unicode.Me, unicode.Noncharacter_Code_Point, unicode.Variation_Selector,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Join_Control, unicode.Bidi_Control,
	unicode.Adlam, unicode.Arabic, unicode.Chorasmian, unicode.Cypriot, unicode.Elymaic, unicode.Hanifi_Rohingya,
	unicode.Hatran, unicode.Hebrew, unicode.Imperial_Aramaic, unicode.Inscriptional_Pahlavi, unicode.Inscriptional_Parthian,
	unicode.Kharoshthi, unicode.Lydian, unicode.Mandaic, unicode.Manichaean, unicode.Mende_Kikakui,
	unicode.Meroitic_Cursive, unicode.Meroitic_Hieroglyphs, unicode.Nabataean, unicode.Nko, unicode.Old_Hungarian,
	unicode.Old_North_Arabian, unicode.Old_Sogdian, unicode.Old_South_Arabian, unicode.Old_Turkic, unicode.Old_Uyghur,
	unicode.Palmyrene, unicode.Phoenician, unicode.Psalter_Pahlavi, unicode.Samaritan, unicode.Sogdian, unicode.Syriac,
	unicode.Thaana, unicode.Yezidi,
}

func mayStand(r rune) bool {
	switch {
	case r == ' ' || r == utf8.RuneError:
		return true
	case unicode.In(r, unicode.Zs) || r == 0x2800 || unicode.Is(unicode.Inherited, r):
		return false
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) && !unicode.In(r, never...)
}

// Every code point alone: what stands may stand, what is escaped inverts, and letters that need no escape have none.
func TestEscapeEveryRune(t *testing.T) {
	escapes := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r <= 0xdfff {
			continue // no string holds one
		}
		in := string(r)
		got := Escape(in)
		if got.s == in {
			if !mayStand(r) || unicode.Is(unicode.M, r) && !unicode.Is(unicode.Mc, r) {
				t.Fatalf("U+%04X stands unescaped", r)
			}
			continue
		}
		escapes++
		if got.s != fmt.Sprintf("<U+%04X>", r) || got.escapes != 1 || got.unescape() != in {
			t.Fatalf("U+%04X is escaped as %q", r, got.s)
		}
		ordinary := unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana)
		if ordinary && unicode.In(r, unicode.L, unicode.N) {
			t.Fatalf("U+%04X is an ordinary letter and escaped", r)
		}
	}
	require.Greater(t, escapes, 900_000)
}

// Every byte that is no UTF-8, at every distance from the start of the eight bytes looked at together.
func TestEscapeEveryByteAtEveryOffset(t *testing.T) {
	for c := range 256 {
		for offset := range 20 {
			in := strings.Repeat("a", offset) + string([]byte{byte(c)}) + strings.Repeat("b", 12)
			printable := c >= 0x20 && c < 0x7f
			require.Equal(t, printable, Escape(in).s == in, "%q", in)
			require.Equal(t, printable, PlainBytes([]byte(in)), "%q", in)
		}
	}
}

func TestEscapeIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkEscape(t, rapid.SliceOf(hostilePart).Draw(t, "parts"))
	})
}

var hostilePart = rapid.OneOf(
	rapid.SampledFrom([]string{"<", "<U", "<U+", "<0", "<0x", "U+202E>", "+", "x", ">", "\x1b[0m", "\xff", "\xe2\x80", "\xae",
		"\u202e", "\u0e19", "\u0e35", "\u0301", "\n", "\r", " ", "gpu-0123456789", "é"}),
	rapid.String(),
)

type failer interface {
	Fatalf(format string, args ...any)
}

// checkEscape holds a string of parts against every promise of Escape and gives the number of its escapes.
func checkEscape(t failer, parts []string) int {
	in := strings.Join(parts, "")
	got := Escape(in)
	if !utf8.ValidString(got.s) || invert(got.s) != in || got.unescape() != in {
		t.Fatalf("%q is escaped as %q, which inverts to %q", in, got.s, invert(got.s))
	}
	if n := len(escapeForm.FindAllString(got.s, -1)); n != got.escapes {
		t.Fatalf("%q has %d escapes, counted as %d", got.s, n, got.escapes)
	}
	for _, r := range got.s {
		if !mayStand(r) {
			t.Fatalf("%q holds U+%04X", got.s, r)
		}
	}
	if PlainBytes([]byte(in)) != (got.escapes == 0) {
		t.Fatalf("PlainBytes(%q) is %t", in, got.escapes != 0)
	}
	lines, escapes := EscapeLines(in), 0
	for _, l := range lines {
		escapes += l.escapes
	}
	if len(lines) != strings.Count(in, "\n")+1 || PlainLines([]byte(in)) != (escapes == 0) {
		t.Fatalf("%q: %d lines with %d escapes; PlainLines is %t", in, len(lines), escapes, PlainLines([]byte(in)))
	}
	return got.escapes
}

func TestPlainTextIsNotCopied(t *testing.T) {
	s := strings.Repeat("bmc:site-a/10.0.0.17 ", 10)
	b := []byte(s + "é" + "\u0e19\u0e35")
	lines := []byte("#!/bin/sh\nexit 0\n")
	require.Zero(t, testing.AllocsPerRun(100, func() { Escape(s) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { PlainBytes(b) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { PlainLines(lines) }))
}

func BenchmarkEscapePlain(b *testing.B) {
	s := strings.Repeat("bmc:site-a/10.0.0.17 ", 50)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Escape(s)
	}
}

func BenchmarkPlainBytes(b *testing.B) {
	for name, unit := range map[string]string{"ascii": "bmc:site-a/10.0.0.17 ", "cyrillic": "перезагрузить машину "} {
		s := []byte(strings.Repeat(unit, 50))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				PlainBytes(s)
			}
		})
	}
}

// A mark stays with the letter it is spelled over: at the beginning of a row it would stand over what the program writes there.
func TestNoRowBeginsWithAMark(t *testing.T) {
	text := Escape(strings.Repeat("\u0e17\u0e35\u0e48", 40) + strings.Repeat("\u0915\u0903\u0900", 40))
	require.Zero(t, text.Escapes())
	for cells := 1; cells < 40; cells++ {
		rows := text.Rows(cells)
		require.Equal(t, text.String(), strings.Join(rows, ""))
		for _, row := range append(rows, text.String()[len(Fit(text.String(), cells)):]) {
			first, _ := utf8.DecodeRuneInString(row)
			require.False(t, unicode.Is(unicode.Mn, first), "%d cells: %q", cells, row)
		}
	}
}
