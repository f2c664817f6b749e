package scope

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/better-compute/approver/core/review"
)

// few tells whether n subjects are few beside the most that agree in anything: one, or an eighth.
func few(n, top int) bool { return n == 1 && top > 1 || 8*n <= top }

// settled tells whether the subjects agree but for a few: more than half of them stand in groups that are not few beside
// the largest, and nobody stands alone, or in a pair, only because all do: of more groups than are read one by one the
// largest holds an eighth of all.
func settled(counts []int, subjects int) (top int, ok bool) {
	top = slices.Max(counts)
	if top == 1 && len(counts) > 1 || len(counts) > review.SummaryAbove && 8*top < subjects {
		return top, false
	}
	many := 0
	for _, n := range counts {
		if !few(n, top) {
			many += n
		}
	}
	return top, 2*many > subjects
}

// An oddly is a field of an operation that few subjects of the kind have at that value, or at a value of that shape.
type oddly struct {
	column *column
	usual  *operation // has the field as most subjects have it
}

// markRare finds the operations of each kind that few subjects have while the others agree, and the fields that few have
// at their value, or at a value of that shape, while the others agree. It keeps what it counted, for the summaries.
func (d *Decoded) markRare() {
	by := make(map[string][]*operation)
	for _, o := range d.ordered {
		if o.class == shown {
			by[o.kindName] = append(by[o.kindName], o)
		}
	}
	for name, operations := range by {
		t := tabulate(operations)
		t.markOperations()
		d.markFields(t)
		d.tables[name] = t
	}
	slices.SortStableFunc(d.ordered, func(a, b *operation) int { return cmp.Compare(a.rank(), b.rank()) })
}

// rank puts rare operations first, and what cannot be shown last: its findings name it, and it must not crowd out what can.
func (o *operation) rank() int {
	switch {
	case o.rare:
		return 0
	case o.class == shown:
		return 1
	}
	return 2
}

// markOperations marks the operations that few subjects have.
func (t *table) markOperations() {
	counts := make([]int, len(t.operations))
	for i, o := range t.operations {
		counts[i] = o.size()
	}
	top, ok := settled(counts, t.subjects)
	for _, o := range t.operations {
		o.rare = ok && few(o.size(), top)
	}
}

// markFields marks what is odd about an operation: field by field, and where no field is odd by itself, what sets a rare
// operation apart from the commonest one.
func (d *Decoded) markFields(t *table) {
	for c := range t.columns {
		d.markColumn(t, &t.columns[c])
	}
	common := slices.MaxFunc(t.operations, func(a, b *operation) int { return cmp.Compare(a.size(), b.size()) })
	at := slices.Index(t.operations, common)
	for i, o := range t.operations {
		if !o.rare || len(o.odd) > 0 {
			continue
		}
		for c := range t.columns {
			if column := &t.columns[c]; column.of[i] != column.of[at] {
				o.odd = append(o.odd, oddly{column, common})
			}
		}
	}
}

// markColumn looks at the values of one field, and where the subjects do not agree in them, or the values are too many to
// read, at their shapes. A column whose values have nothing in common, and of which a summary leaves some out, is mixed.
func (d *Decoded) markColumn(t *table, c *column) {
	groups, of := make([]int, len(c.values)), make([]int, len(c.values))
	for i, v := range c.values {
		groups[i], of[i] = v.subjects, i
	}
	top, agreed := settled(groups, t.subjects)
	if agreed {
		c.markFew(t, groups, of, top)
	}
	if !hasShape(c.field) || agreed && len(groups) <= review.SummaryAbove {
		return
	}
	groups, of = c.byShape(d.shapes(c))
	top, alike := settled(groups, t.subjects)
	if alike {
		c.markFew(t, groups, of, top)
	}
	c.mixed = !alike && !agreed && len(t.operations) > review.SummaryAbove && len(c.values) > 2*endsShown
}

// markFew marks the operations whose value stands in a group of few.
func (c *column) markFew(t *table, groups, of []int, top int) {
	usual := c.values[slices.Index(of, slices.Index(groups, top))].operation
	for i, o := range t.operations {
		marked := slices.ContainsFunc(o.odd, func(odd oddly) bool { return odd.column == c })
		if !marked && few(groups[of[c.of[i]]], top) {
			o.rare = true
			o.odd = append(o.odd, oddly{c, usual})
		}
	}
}

// byShape counts the subjects of each shape, in the order in which shapes first come, and gives the shape of each value.
func (c *column) byShape(shapes []uint64) (groups, of []int) {
	ids := make(map[uint64]int)
	of = make([]int, len(shapes))
	for i, shape := range shapes {
		id, seen := ids[shape]
		if !seen {
			id = len(groups)
			ids[shape] = id
			groups = append(groups, 0)
		}
		of[i] = id
		groups[id] += c.values[i].subjects
	}
	return groups, of
}

// order sorts the operations by kind, the larger first. No two compare equal, so the same leaves give the same review
// whatever the order of their file; everything that is counted and drawn later goes by this order.
func (d *Decoded) order() {
	slices.SortFunc(d.ordered, func(a, b *operation) int {
		return cmp.Or(cmp.Compare(a.kindName, b.kindName), cmp.Compare(b.size(), a.size()),
			bytes.Compare(d.firstSubject(a), d.firstSubject(b)), cmp.Compare(a.class, b.class), bytes.Compare(a.payload, b.payload),
			bytes.Compare(a.digest, b.digest))
	})
}

func (d *Decoded) firstSubject(o *operation) []byte {
	return d.verified.leaves[d.positions[o.first]].subject
}
