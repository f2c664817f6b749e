package review

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A column is what one field holds in all operations of a group.
type column struct {
	path   string // the names of the field and of those around it
	quote  bool
	in     int // operations that have it
	values map[string]int
	whole  bool // every value so far is an integer
	least  int64
	most   int64
}

// none stands before the note of a field without a value; no text holds a NUL.
const none = "\x00"

// summary draws many operations of one kind by field: how many values it has, their range, the commonest and the rarest.
func (p *printer) summary(group []*Operation) {
	subjects := make([]Text, 0, len(group))
	shared := *group[0]
	shared.Marks = nil
	marks := map[string]int{}
	for _, o := range group {
		subjects = append(subjects, o.Subjects...)
		for _, m := range o.Marks {
			if marks[m]++; marks[m] == 1 {
				shared.Marks = append(shared.Marks, m)
			}
		}
	}
	for i, m := range shared.Marks {
		shared.Marks[i] = m + " (" + number(marks[m]) + ")"
	}
	p.w.WriteByte('\n')
	at := p.ordinal(number(len(group)) + " distinct")
	p.text(shared.Title.s, at)
	p.indent(fieldsAt)
	p.prose(shared.standing()+"on "+count(len(subjects), "subject")+"; by field:", fieldsAt)
	columns := tabulate(group)
	shown := p.bound(len(columns), briefRows)
	for _, c := range columns[:shown] {
		p.column(c, len(group))
	}
	p.rest(len(columns)-shown, fieldsAt)
	p.indent(fieldsAt)
	p.line("Subjects (" + number(len(subjects)) + "):")
	p.texts(subjects, fieldsAt+2)
}

// tabulate counts the values of every field of the operations, in the order in which fields first appear.
func tabulate(group []*Operation) []*column {
	var columns []*column
	at := map[string]*column{}
	var add func(prefix string, fields []Field)
	add = func(prefix string, fields []Field) {
		for i := range fields {
			f := &fields[i]
			path := prefix + f.Name.s
			if f.Fields != nil {
				add(path+".", f.Fields)
				continue
			}
			c := at[path]
			if c == nil {
				c = &column{path: path, quote: f.isString(), values: map[string]int{}, whole: true}
				at[path] = c
				columns = append(columns, c)
			}
			c.add(f.Value, f.Note)
		}
	}
	for _, o := range group {
		add("", o.Fields())
	}
	return columns
}

func (c *column) add(lines []Text, note string) {
	value := none + note
	switch len(lines) {
	case 0:
	case 1:
		value = lines[0].s
	default:
		texts := make([]string, len(lines))
		for i, l := range lines {
			texts[i] = l.s
		}
		value = strings.Join(texts, "\n")
	}
	c.in++
	c.values[value]++
	if !c.whole {
		return
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if c.whole = err == nil; c.whole && c.in == 1 {
		c.least, c.most = n, n
	}
	c.least, c.most = min(c.least, n), max(c.most, n)
}

// column draws the values of a field: all of up to six, else three from both ends, the commonest and the rarest.
func (p *printer) column(c *column, operations int) {
	at := fieldsAt + 2
	p.indent(fieldsAt)
	if isName(c.path) {
		p.text(c.path, fieldsAt)
	} else {
		p.text(`"`+c.path+`"`, fieldsAt)
	}
	p.indent(at)
	head := count(len(c.values), "distinct value")
	if c.whole && len(c.values) > 1 {
		head += ", " + strconv.FormatInt(c.least, 10) + " to " + strconv.FormatInt(c.most, 10)
	}
	if c.in != operations {
		head += ", in " + number(c.in) + " places"
	}
	p.line(head)
	const ends = 3
	if len(c.values) <= 2*ends {
		p.counted(c, c.extremes(2*ends, 1), at)
		return
	}
	p.counted(c, c.extremes(ends, 1), at)
	p.indent(at)
	p.line("... " + number(len(c.values)-2*ends) + " between ...")
	rarest := c.extremes(ends, -1)
	slices.Reverse(rarest)
	p.counted(c, rarest, at)
}

// extremes gives up to k values from one end of the order from common to rare: direction 1 the commonest, -1 the rarest.
func (c *column) extremes(k, direction int) []string {
	order := func(a, b string) int {
		byNumber := 0
		if c.whole {
			x, _ := strconv.ParseInt(a, 10, 64)
			y, _ := strconv.ParseInt(b, 10, 64)
			byNumber = cmp.Compare(x, y)
		}
		return direction * cmp.Or(cmp.Compare(c.values[b], c.values[a]), byNumber, strings.Compare(a, b))
	}
	best := make([]string, 0, k+1)
	for v := range c.values {
		if len(best) == k && order(v, best[k-1]) > 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(best, v, order)
		best = slices.Insert(best, i, v)
		best = best[:min(k, len(best))]
	}
	return best
}

func (p *printer) counted(c *column, values []string, at int) {
	for _, v := range values {
		n := number(c.values[v])
		p.indent(at + 2 + 6 - len(n))
		p.w.WriteString(n)
		p.w.WriteString(" x ")
		if note, found := strings.CutPrefix(v, none); found {
			p.prose(cmp.Or(note, "none"), at+2+6+3)
			continue
		}
		var lines []Text
		for l := range strings.SplitSeq(v, "\n") {
			lines = append(lines, Text{s: l})
		}
		p.value(lines, c.quote, "", at+2+6+3)
	}
}
