package tui

// A scroll is which rows of something long are on the screen.
type scroll struct {
	offset int // of the first row that shows
	rows   int // of all
	height int
}

// set takes new sizes, and keeps the offset within them.
func (v *scroll) set(rows, height int) {
	v.rows, v.height = rows, max(height, 1)
	v.offset = max(min(v.offset, rows-v.height), 0)
}

// move follows a command, and tells whether it was one that moves.
func (v *scroll) move(c command) bool {
	if !v.lead(c, &v.offset) {
		return false
	}
	v.set(v.rows, v.height)
	return true
}

// lead moves a row as a command says, beyond the ends too, and tells whether it was one that moves.
func (v *scroll) lead(c command, row *int) bool {
	switch c {
	case up:
		*row--
	case down:
		*row++
	case pageUp:
		*row -= max(v.height-1, 1)
	case pageDown:
		*row += max(v.height-1, 1)
	case top:
		*row = 0
	case bottom:
		*row = v.rows
	default:
		return false
	}
	return true
}

// atEnd tells whether the last row is on the screen.
func (v *scroll) atEnd() bool { return v.offset+v.height >= v.rows }

// below tells whether rows stand below the screen.
func (v *scroll) below() bool { return v.end() < v.rows }

// end gives the row after the last on the screen.
func (v *scroll) end() int { return min(v.offset+v.height, v.rows) }

// show moves as little as it takes to have a row on the screen.
func (v *scroll) show(row int) {
	v.offset = max(min(v.offset, row), row-v.height+1)
	v.set(v.rows, v.height)
}

// A cursor is a chosen row of a list, with the rows that show around it.
type cursor struct {
	scroll
	at int
}

// set takes new sizes, and keeps the cursor within them and on the screen.
func (c *cursor) set(rows, height int) {
	c.at = max(min(c.at, rows-1), 0)
	c.scroll.set(rows, height)
	c.show(c.at)
}

// move follows a command, and tells whether it was one that moves.
func (c *cursor) move(m command) bool {
	if !c.lead(m, &c.at) {
		return false
	}
	c.set(c.rows, c.height)
	return true
}
