package tui

import "github.com/better-compute/approver/core/review"

// A tail is the many texts below a sheet, up to 50,000 of them, laid out only as they show: each takes as many rows as the
// longest needs.
type tail struct {
	texts  []review.Text
	at     int // column
	cells  int // to the right of it
	stride int // rows of each
}

// newTail lays texts out from a column on, in so many columns.
func newTail(texts []review.Text, at, width int) tail {
	t := tail{texts: texts, at: at, cells: max(width-at, 1), stride: 1}
	longest := t.cells
	for _, text := range texts {
		if n := len(text.String()); n > longest { // no text takes more cells than bytes
			longest = n
			t.stride = max(t.stride, len(text.Rows(t.cells)))
		}
	}
	return t
}

func (t *tail) rows() int { return len(t.texts) * t.stride }

// row gives one of the rows. Where a text goes on, "\\ " stands before it.
func (t *tail) row(i int) row {
	text, part := t.texts[i/t.stride], i%t.stride
	if t.stride == 1 {
		return row{own: pad("", t.at), text: text.String()}
	}
	rows := text.Rows(t.cells)
	switch {
	case part >= len(rows):
		return row{}
	case part > 0:
		return row{own: pad("", t.at-2) + goesOn, text: rows[part]}
	}
	return row{own: pad("", t.at), text: rows[0]}
}

// window gives the rows that show of a sheet and of the tail below it.
func (v *scroll) window(head []row, t *tail) []row {
	rows := make([]row, 0, v.height)
	for i := v.offset; i < v.end(); i++ {
		if i < len(head) {
			rows = append(rows, head[i])
		} else {
			rows = append(rows, t.row(i-len(head)))
		}
	}
	return rows
}
