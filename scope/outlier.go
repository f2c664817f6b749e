package scope

import (
	"cmp"
	"hash/maphash"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// An oddly is a field of an operation that few subjects of the kind have at that value.
type oddly struct {
	field protowire.Number
	usual int // an operation that has the field as most subjects have it
}

// few tells whether n of all subjects of a kind are few beside a value that most have: a twentieth at most, or one.
func few(n, all int) bool { return n <= max(1, all/20) }

// most tells whether n of all subjects of a kind are more than half.
func most(n, all int) bool { return 2*n > all }

// markRare finds the operations of each kind that few subjects have while most have another one, and the fields that few
// have at their value while most have them at another, and puts these operations first. The others follow in the order
// of their kinds, the larger first.
func (d *Decoded) markRare() {
	for kind, operations := range d.shownByKind() {
		all := 0
		for _, i := range operations {
			all += d.operations[i].size()
		}
		if kind == "" || len(operations) < 2 {
			continue
		}
		common := slices.MaxFunc(operations, func(a, b int) int { return cmp.Compare(d.operations[a].size(), d.operations[b].size()) })
		if most(d.operations[common].size(), all) {
			for _, i := range operations {
				d.operations[i].rare = i != common && few(d.operations[i].size(), all)
			}
		}
		d.markFields(operations, common, all)
	}
	d.order()
}

func (d *Decoded) shownByKind() map[string][]int {
	by := make(map[string][]int)
	for i := range d.operations {
		if o := &d.operations[i]; o.class == shown {
			by[o.kindName] = append(by[o.kindName], i)
		}
	}
	return by
}

// A fieldValue is a field at a value; the absent field has content 0.
type fieldValue struct {
	field   protowire.Number
	content uint64
}

type tally struct{ subjects, operation int }

// markFields looks at each field of the outermost message by itself. Of an operation that is rare as a whole, while each
// of its fields is not, it marks what differs from the common one.
func (d *Decoded) markFields(operations []int, common, all int) {
	seed := maphash.MakeSeed()
	counts := make(map[fieldValue]tally)
	numbers := d.fieldNumbers(operations[0])
	values := make([]fieldValue, 0, len(numbers)*len(operations))
	for _, i := range operations {
		from := len(values)
		values = d.appendValues(values, i, numbers, seed)
		for _, value := range values[from:] {
			t, ok := counts[value]
			if !ok {
				t.operation = i
			}
			t.subjects += d.operations[i].size()
			counts[value] = t
		}
	}
	usual := make(map[protowire.Number]int)
	for value, t := range counts {
		if most(t.subjects, all) {
			usual[value.field] = t.operation
		}
	}
	of := func(n int) []fieldValue { return values[n*len(numbers) : (n+1)*len(numbers)] }
	commonValues := of(slices.Index(operations, common))
	for n, i := range operations {
		o := &d.operations[i]
		for _, value := range of(n) {
			if operation, ok := usual[value.field]; ok && few(counts[value].subjects, all) {
				o.rare = true
				o.odd = append(o.odd, oddly{value.field, operation})
			}
		}
		if !o.rare || len(o.odd) > 0 {
			continue
		}
		for f, value := range of(n) {
			if value != commonValues[f] {
				o.odd = append(o.odd, oddly{value.field, common})
			}
		}
	}
}

// fieldNumbers gives the numbers of all fields of the operation's message but the relayed one.
func (d *Decoded) fieldNumbers(operation int) []protowire.Number {
	o := &d.operations[operation]
	fields := o.kind.Message().Fields()
	numbers := make([]protowire.Number, 0, fields.Len())
	for i := range fields.Len() {
		if n := fields.Get(i).Number(); n != o.kind.RelayedField() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// appendValues appends the value of each field of the operation, in the order of numbers.
func (d *Decoded) appendValues(values []fieldValue, operation int, numbers []protowire.Number, seed maphash.Seed) []fieldValue {
	from := len(values)
	for _, n := range numbers {
		values = append(values, fieldValue{field: n})
	}
	o := &d.operations[operation]
	for number, raw := range o.kind.TopFields(o.kind.SortMaps(o.payload)) {
		if i, ok := slices.BinarySearch(numbers, number); ok {
			v := &values[from+i]
			v.content = maphash.Comparable(seed, [2]uint64{v.content, maphash.Bytes(seed, raw)}) | 1
		}
	}
	return values
}

// order puts rare operations first, then what cannot be shown, then the rest by kind, the larger first.
func (d *Decoded) order() {
	rank := func(o *operation) int {
		switch {
		case o.rare:
			return 0
		case o.class != shown:
			return 1
		}
		return 2
	}
	// The fields point at operations by position: keep the mapping while the order changes.
	positions := make([]int, len(d.operations))
	for i := range positions {
		positions[i] = i
	}
	slices.SortStableFunc(positions, func(a, b int) int {
		x, y := &d.operations[a], &d.operations[b]
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.kindName, y.kindName), cmp.Compare(y.size(), x.size()))
	})
	moved, ordered := make([]int, len(positions)), make([]operation, len(positions))
	for to, from := range positions {
		moved[from] = to
		ordered[to] = d.operations[from]
	}
	for i := range ordered {
		for j := range ordered[i].odd {
			ordered[i].odd[j].usual = moved[ordered[i].odd[j].usual]
		}
	}
	d.operations = ordered
}
