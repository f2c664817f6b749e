package medium

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ordinary are the letters of European languages that are no ASCII letter with marks. Those that pass for ASCII are left
// out: dotless ı, long ſ, kra ĸ, the digraphs.
const ordinary = "ßẞæÆøØđĐłŁþÞðÐœŒħĦŋŊŧŦ"

// plain tells whether a rune looks like what it is.
func plain(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r <= '~'
	}
	composed := string(r)
	if norm.NFC.String(composed) != composed { // a sign that only stands for the letter: Kelvin, Ångström
		return false
	}
	letter, _ := utf8.DecodeRuneInString(norm.NFD.String(composed)) // what follows it are marks
	return letter < utf8.RuneSelf && unicode.IsLetter(letter) || strings.ContainsRune(ordinary, letter)
}

// nature says in a word or two what a rune that is not plain is.
func nature(r rune) string {
	switch {
	case unicode.IsControl(r):
		return "control"
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return "invisible"
	case unicode.Is(unicode.Z, r):
		return "space"
	case unicode.Is(unicode.M, r):
		return "mark"
	}
	if like := norm.NFKD.String(string(r)); len(like) == 1 {
		return "like " + like
	}
	for _, script := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		if script != "Common" && script != "Inherited" && unicode.Is(unicode.Scripts[script], r) {
			return script
		}
	}
	return "no letter"
}
