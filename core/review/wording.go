package review

import (
	"strconv"
	"strings"
)

// Number writes n with commas between thousands.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted writes n and the noun, in the plural where n is not 1.
func Counted(n int, noun string) string {
	if n != 1 {
		if stem, ok := strings.CutSuffix(noun, "y"); ok && noun != "day" {
			noun = stem + "ie"
		}
		noun += "s"
	}
	return Number(n) + " " + noun
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// IsName tells whether a text is made as identifiers and indexes are, so that it needs no quotes, and can stand among the
// program's own words.
func IsName(s string) bool {
	for i := range len(s) {
		switch c := s[i] | 0x20; {
		case c >= 'a' && c <= 'z', s[i] >= '0' && s[i] <= '9', s[i] == '_', s[i] == '-', s[i] == '.', s[i] == '[', s[i] == ']':
		default:
			return false
		}
	}
	return s != ""
}

// IsText tells whether the value is a text from outside rather than a number or name of ours.
func (f *Field) IsText() bool { return strings.HasSuffix(strings.TrimSuffix(f.Type, ">"), "string") }

// Remark says what stands after the value, with a space before it: the note, and that the value is the default; or "".
func (f *Field) Remark() (words string) {
	if f.Note != "" {
		words = " (" + f.Note + ")"
	}
	if f.Default {
		words += " (default)"
	}
	return words
}
