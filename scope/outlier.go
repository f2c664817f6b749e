package scope

import (
	"bytes"
	"cmp"
	"slices"
)

// few tells whether n of all subjects of a kind are few beside a value that most have: a twentieth at most, or one.
func few(n, all int) bool { return n <= max(1, all/20) }

// most tells whether n of all subjects of a kind are more than half.
func most(n, all int) bool { return 2*n > all }

// An oddly is a field of an operation that few subjects of the kind have at that value.
type oddly struct {
	column *column
	usual  *operation // has the field as most subjects have it
}

// markRare finds the operations of each kind that few subjects have while most have another one, and the fields that few
// have at their value while most have them at another. It keeps what it counted, for the summaries.
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
		t.markFields()
		d.tables[name] = t
	}
	slices.SortStableFunc(d.ordered, func(a, b *operation) int { return cmp.Compare(a.rank(), b.rank()) })
}

// rank puts rare operations first, then what cannot be shown.
func (o *operation) rank() int {
	switch {
	case o.rare:
		return 0
	case o.class != shown:
		return 1
	}
	return 2
}

// markOperations marks the operations that few subjects have while most have one other.
func (t *table) markOperations() {
	common := t.commonest()
	if !most(common.size(), t.subjects) {
		return
	}
	for _, o := range t.operations {
		o.rare = o != common && few(o.size(), t.subjects)
	}
}

func (t *table) commonest() *operation {
	return slices.MaxFunc(t.operations, func(a, b *operation) int { return cmp.Compare(a.size(), b.size()) })
}

// markFields marks what is odd about an operation: the values that few have while most have another, and where there is
// no such value in a rare operation, what sets it apart from the commonest one.
func (t *table) markFields() {
	for c := range t.columns {
		column := &t.columns[c]
		usual := column.usual(t.subjects)
		if usual < 0 {
			continue
		}
		for i, o := range t.operations {
			if value := column.of[i]; int(value) != usual && few(column.values[value].subjects, t.subjects) {
				o.rare = true
				o.odd = append(o.odd, oddly{column, column.values[usual].operation})
			}
		}
	}
	common := t.commonest()
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

// usual gives the value that most subjects have, or -1.
func (c *column) usual(subjects int) int {
	for i := range c.values {
		if most(c.values[i].subjects, subjects) {
			return i
		}
	}
	return -1
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
