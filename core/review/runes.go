package review

import (
	"sync"
	"unicode"
)

// A class says what Escape does with a rune that is not ASCII.
type class uint8

const (
	escaped class = iota // never drawn
	drawn                // drawn as it is
	base                 // drawn, and a mark of its script may follow it
	mark                 // drawn only after a base, at most twice in a row
)

// classifiedRunes bounds the table: the planes above hold no letter, only tags, variation selectors and private use.
const classifiedRunes = 0x40000

// rightToLeft holds the blocks whose unassigned code points default to Bidi_Class R or AL (Unicode's
// DerivedBidiClass.txt), which is where every strong right-to-left rune and Arabic digit is and will be: on a terminal
// that reorders, one of them moves its neighbours.
var rightToLeft = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x0590, Hi: 0x08ff, Stride: 1}, {Lo: 0xfb1d, Hi: 0xfdff, Stride: 1}, {Lo: 0xfe70, Hi: 0xfeff, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x10800, Hi: 0x10fff, Stride: 1}, {Lo: 0x1e800, Hi: 0x1efff, Stride: 1}},
}

// blank holds letters and symbols without ink or width that no Unicode property names: Braille blank, object replacement,
// musical null notehead, Egyptian blanks, Khitan filler, the parts that Hangul syllables are composed of. The Hangul fillers
// are default-ignorable.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1160, Hi: 0x11ff, Stride: 1}, // vowels and final consonants of Hangul, which terminals give no width
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0xd7b0, Hi: 0xd7ff, Stride: 1}, {Lo: 0xfffc, Hi: 0xfffc, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x13441, Hi: 0x13442, Stride: 1}, {Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1}, {Lo: 0x1d159, Hi: 0x1d159, Stride: 1}},
}

// classes is the table of all runes below classifiedRunes, made when the first rune beyond ASCII is met. Whatever no
// step names stays escaped: controls, format characters, separators, surrogates, private use, unassigned code points.
var classes = sync.OnceValue(func() *runeTable {
	t := new(runeTable)
	for _, visible := range []*unicode.RangeTable{unicode.L, unicode.N, unicode.P, unicode.S} {
		t.set(visible, func(rune) class { return drawn })
	}
	t.set(unicode.L, func(r rune) class {
		if r >= 0x0900 && !unicode.Is(unicode.Latin, r) { // the scripts whose spelling needs marks of their own
			return base
		}
		return drawn
	})
	t.set(unicode.Mc, func(rune) class { return base })
	t.set(unicode.Mn, func(rune) class { return mark })
	for _, never := range []*unicode.RangeTable{
		unicode.Inherited, unicode.Other_Default_Ignorable_Code_Point, rightToLeft, blank,
	} {
		t.set(never, func(rune) class { return escaped })
	}
	return t
})

// set gives every rune of the range table the class that of tells.
func (t *runeTable) set(table *unicode.RangeTable, of func(rune) class) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			t[c] = of(c)
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi) && c < classifiedRunes; c += rune(r.Stride) {
			t[c] = of(c)
		}
	}
}

type runeTable [classifiedRunes]class

// isMark tells whether a rune of a Text is drawn over the one before it.
func isMark(r rune) bool { return r < classifiedRunes && classes()[r] == mark }

// A spelling follows the runes of a line as they are drawn and knows whether a mark may come next. The zero spelling is
// the start of a line, and the state after any ASCII.
type spelling struct {
	base  bool
	marks int
}

// draws tells whether r, valid and not ASCII, is drawn where it stands, and moves on.
func (sp *spelling) draws(r rune) bool {
	c := escaped
	if r < classifiedRunes {
		c = classes()[r]
	}
	if c == mark && sp.base && sp.marks < 2 { // a third would climb out of its line
		sp.marks++
		return true
	}
	*sp = spelling{base: c == base}
	return c == drawn || c == base
}
