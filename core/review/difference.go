package review

import "strings"

// Difference tells where the value of a field that is odd leaves the usual one, for values that are too long to compare by
// eye: in which line, from 0, and how both go on there, escaped, in a few characters. These are empty where the line is
// short, differs from its start, or is beyond the end of one of the two.
func (f *Field) Difference() (line int, value, usual string) {
	n := min(len(f.Value), len(f.Usual))
	for line < n && f.Value[line] == f.Usual[line] {
		line++
	}
	if line == n {
		return line, "", ""
	}
	const short = 20
	a, b := f.Value[line].s, f.Usual[line].s
	same := 0
	for same < len(a) && strings.HasPrefix(b[same:], a[same:same+unit(a[same:])]) {
		same += unit(a[same:])
	}
	if len(a) <= short || same == 0 {
		return line, "", ""
	}
	return line, fewUnits(a[same:]), fewUnits(b[same:])
}

// fewUnits gives the beginning of an escaped text.
func fewUnits(s string) string {
	i := 0
	for n := 0; n < 12 && i < len(s); n++ {
		i += unit(s[i:])
	}
	return s[:i]
}
