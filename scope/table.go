package scope

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/better-compute/approver/core/review"
)

// A table holds the operations of one kind by field: which values a field of the outermost message has, and how many
// subjects have each. Values are compared as they are encoded, for in a canonical payload equal bytes are equal values;
// maps are put in order first.
type table struct {
	operations []*operation
	subjects   int
	columns    []column
}

// A column is one field; the relayed address or target has none.
type column struct {
	field  protoreflect.FieldDescriptor
	values []columnValue // distinct ones
	of     []int32       // for each operation, which of values it has
	mixed  bool          // the values have nothing in common, and are too many to read
}

type columnValue struct {
	hash      uint64 // of the encoded field; 0 where it is absent
	subjects  int
	operation *operation // one that has it
}

// tabulate counts the values of operations of one kind, at least one. It decodes nothing.
func tabulate(operations []*operation) *table {
	t := &table{operations: operations}
	kind := operations[0].kind
	fields := kind.Message().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Number() != kind.RelayedField() {
			t.columns = append(t.columns, column{field: f, of: make([]int32, len(operations))})
		}
	}
	slices.SortFunc(t.columns, func(a, b column) int { return cmp.Compare(a.field.Number(), b.field.Number()) })
	seed := maphash.MakeSeed()
	script := scripts[kind.Name()].number
	ids := make([]map[uint64]int32, len(t.columns))
	hashes := make([]uint64, len(t.columns))
	for i, o := range operations {
		t.subjects += o.size()
		payload := o.payload
		if kind.HasMaps() {
			payload = kind.SortMaps(payload)
		}
		clear(hashes)
		at := 0 // fields come in ascending order
		for number, raw := range kind.TopFields(payload) {
			o.root = o.root || number == script
			for at < len(t.columns) && t.columns[at].field.Number() < number {
				at++
			}
			if at < len(t.columns) && t.columns[at].field.Number() == number {
				hashes[at] = (hashes[at]*31 + maphash.Bytes(seed, raw)) | 1
			}
		}
		for c := range t.columns {
			t.columns[c].count(&ids[c], i, o, hashes[c])
		}
	}
	return t
}

// count notes that operation i has the value. Neighbours often have the same one.
func (c *column) count(ids *map[uint64]int32, i int, o *operation, hash uint64) {
	if i > 0 {
		if last := c.of[i-1]; c.values[last].hash == hash {
			c.of[i] = last
			c.values[last].subjects += o.size()
			return
		}
	}
	id, ok := (*ids)[hash]
	if !ok {
		if *ids == nil {
			*ids = make(map[uint64]int32)
		}
		id = int32(len(c.values))
		(*ids)[hash] = id
		c.values = append(c.values, columnValue{hash: hash, operation: o})
	}
	c.of[i] = id
	c.values[id].subjects += o.size()
}

// endsShown is how many values a summary shows of either end, from the commonest to the rarest, where they are too many to be
// read one by one; one that a shareShown-th of the subjects or more have is never left out between them.
const (
	endsShown  = 3
	shareShown = 100
)

// summaries gives a summary of each kind that has too many operations to be read one by one.
func (d *Decoded) summaries() (summaries []review.Summary) {
	for _, name := range d.kindNames() {
		if t := d.tables[name]; t != nil && len(t.operations) > review.SummaryAbove {
			summaries = append(summaries, review.Summary{Title: review.Escape(name), Columns: t.reviewColumns()})
		}
	}
	return summaries
}

func (t *table) reviewColumns() []review.Column {
	columns := make([]review.Column, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		ranked := c.ranked()
		columns[i] = review.Column{Name: review.Escape(string(c.field.Name())), Type: columnType(c.field), Distinct: len(ranked), Range: c.span()}
		if len(ranked) <= review.SummaryAbove {
			columns[i].Common = c.held(ranked)
			continue
		}
		common, last := endsShown, len(ranked)-endsShown
		for common < last && c.values[ranked[common]].subjects > 1 && shareShown*c.values[ranked[common]].subjects >= t.subjects {
			common++
		}
		columns[i].Common, columns[i].Rare = c.held(ranked[:common]), c.held(ranked[last:])
		columns[i].Odd = c.held(t.odd(c, ranked[common:last]))
	}
	return columns
}

// oddShown bounds the values of outliers in a summary; each outlier is opened by itself.
const oddShown = 10

// odd gives the values among some for which operations are outliers.
func (t *table) odd(c *column, among []int32) (values []int32) {
	odd := make(map[int32]bool)
	for i, o := range t.operations {
		if slices.ContainsFunc(o.odd, func(odd oddly) bool { return odd.column == c }) {
			odd[c.of[i]] = true
		}
	}
	for _, v := range among {
		if odd[v] && len(values) < oddShown {
			values = append(values, v)
		}
	}
	return values
}

func columnType(f protoreflect.FieldDescriptor) string {
	if f.IsList() || f.IsMap() || f.Message() != nil {
		return "" // shown as lines of several values
	}
	return f.Kind().String()
}

// ranked gives the values from the commonest to the rarest; of equally common ones the encoded bytes decide.
func (c *column) ranked() []int32 {
	ranked := make([]int32, len(c.values))
	for i := range ranked {
		ranked[i] = int32(i)
	}
	slices.SortStableFunc(ranked, func(a, b int32) int {
		return cmp.Compare(c.values[b].subjects, c.values[a].subjects)
	})
	return ranked
}

func (c *column) held(values []int32) []review.Held {
	held := make([]review.Held, len(values))
	for i, v := range values {
		f := c.values[v].operation.field(c.field.Number())
		held[i] = review.Held{N: c.values[v].subjects}
		if lines := rawLines(f); len(lines) > 0 {
			held[i].Value = texts(lines)
		} else {
			held[i].Note = nothing(f)
		}
	}
	return held
}

// span gives the range of an unsigned number, "" for any other field.
func (c *column) span() string {
	if c.field.IsList() || c.field.IsMap() || len(c.values) < 2 {
		return ""
	}
	switch c.field.Kind() {
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
	default:
		return ""
	}
	least, greatest := ^uint64(0), uint64(0)
	for _, v := range c.values {
		n := v.operation.number(c.field.Number())
		least, greatest = min(least, n), max(greatest, n)
	}
	return fmt.Sprintf("%s to %s", strconv.FormatUint(least, 10), strconv.FormatUint(greatest, 10))
}

// number gives a field that is an unsigned number, 0 where it is absent.
func (o *operation) number(field protowire.Number) uint64 {
	for number, raw := range o.kind.TopFields(o.payload) {
		if number == field {
			n, _ := protowire.ConsumeVarint(raw)
			return n
		}
	}
	return 0
}
