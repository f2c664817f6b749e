package review

// Rows cuts the text into rows of at most so many cells, at least one of them, preferably after a space. No rune and no
// escape is cut, so a row has more cells where one of those alone does. It is for what draws texts in other widths than
// WriteText, and never lets a text begin a line.
func (t Text) Rows(cells int) []string {
	rows := make([]string, 0, 1+len(t.s)/max(cells, 1))
	for s := t.s; ; {
		n := fitting(s, cells)
		rows = append(rows, s[:n])
		if s = s[n:]; s == "" {
			return rows
		}
	}
}

// Fit gives the beginning of an escaped text that takes so many cells at most; no rune and no escape is cut.
func Fit(escaped string, cells int) string {
	if len(escaped) <= cells {
		return escaped
	}
	for i, used := 0, 0; i < len(escaped); {
		n := unit(escaped[i:])
		if used += width(escaped[i : i+n]); used > cells {
			return escaped[:i]
		}
		i += n
	}
	return escaped
}

// Width gives the cells that an escaped text takes at most.
func Width(escaped string) (cells int) {
	for i := 0; i < len(escaped); {
		n := unit(escaped[i:])
		cells += width(escaped[i : i+n])
		i += n
	}
	return cells
}
