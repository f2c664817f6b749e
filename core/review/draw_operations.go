package review

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// operations draws the outliers, then the rest in the document's order; Brief takes the rest kind by kind.
func (p *printer) operations(d *Document) {
	p.heading(d.Counts.String() + "s")
	var outliers, rest []*Operation
	for i := range d.Operations {
		if o := &d.Operations[i]; o.Outlier {
			outliers = append(outliers, o)
		} else {
			rest = append(rest, o)
		}
	}
	shown := p.bound(len(outliers), briefOutliers)
	draw := p.operation
	if d.Counts != Operations {
		draw = p.change
	}
	for i, o := range outliers[:shown] {
		draw(o, i+1, len(d.Operations))
	}
	if left := len(outliers) - shown; left > 0 {
		p.line("\n... and " + Counted(left, "operation") + " more that few subjects have")
	}
	if p.detail == Brief && d.Counts == Operations {
		p.kinds(d, len(outliers))
		return
	}
	for i, o := range rest {
		draw(o, len(outliers)+i+1, len(d.Operations))
	}
}

// change draws one change or part, the nth of all: what becomes of it, what it is about, and its fields.
func (p *printer) change(o *Operation, n, all int) {
	p.w.WriteByte('\n')
	p.text(o.Title.s, p.ordinal(Number(n)+" of "+Number(all)))
	p.indent(fieldsAt)
	p.text(o.Subjects[0].s, fieldsAt)
	p.fields(o.Fields(), 0)
}

// A kindGroup is the operations of one title.
type kindGroup struct {
	all  []*Operation
	rest []*Operation // those that are no outliers
}

// kinds draws operations grouped by title: a summary of too many, else each that is no outlier and so not drawn yet.
func (p *printer) kinds(d *Document, drawn int) {
	groups, at := []*kindGroup{}, map[string]*kindGroup{}
	for i := range d.Operations {
		o := &d.Operations[i]
		g := at[o.Title.s]
		if g == nil {
			g = &kindGroup{}
			at[o.Title.s] = g
			groups = append(groups, g)
		}
		g.all = append(g.all, o)
		if !o.Outlier {
			g.rest = append(g.rest, o)
		}
	}
	shown := p.bound(len(groups), briefKinds)
	for _, g := range groups[:shown] {
		if p.bound(len(g.all), SummaryAbove) < len(g.all) {
			p.summary(d.summary(g.all[0].Title), g.all)
			drawn += len(g.rest)
			continue
		}
		for _, o := range g.rest {
			drawn++
			p.operation(o, drawn, len(d.Operations))
		}
	}
	if shown < len(groups) {
		p.line("\n... and " + Counted(len(d.Operations)-drawn, "operation") + " of " + Number(len(groups)-shown) + " more kinds")
	}
}

// fieldsAt is the column at which the fields of an operation begin; left of it stands the mark of one that differs.
const fieldsAt = 5

// operation draws one, the nth of all.
func (p *printer) operation(o *Operation, n, all int) {
	if o.Outlier {
		defer p.closely()()
	}
	p.w.WriteByte('\n')
	at := p.ordinal(Number(n) + " of " + Number(all))
	p.text(o.Title.s, at)
	p.indent(fieldsAt)
	p.prose(o.standing()+"on "+Counted(len(o.Subjects), "subject"), fieldsAt)
	if o.Digest != nil {
		digest := hex.EncodeToString(o.Digest)
		if p.detail == Brief && p.scale == 1 {
			digest = digest[:12] + "..."
		}
		p.indent(fieldsAt)
		p.line("payload " + digest)
	}
	if o.Type.s != "" {
		p.indent(fieldsAt)
		p.single(o.Type.s, false, "", fieldsAt)
	}
	switch fields := o.Fields(); {
	case len(fields) > 0:
		p.fields(fields, 0)
	case fields != nil:
		p.indent(fieldsAt)
		p.line("This operation has no fields.")
	default:
		p.indent(fieldsAt)
		p.line("What it would do is not known here.")
	}
	p.indent(fieldsAt)
	p.line("Subjects (" + Number(len(o.Subjects)) + "):")
	p.texts(o.Subjects, fieldsAt+2)
}

// ordinal begins the block of an operation and gives the column after it.
func (p *printer) ordinal(s string) int {
	p.w.WriteString(s)
	p.w.WriteString("  ")
	return len(s) + 2
}

// standing gives what sets an operation apart, each followed by a comma, or "".
func (o *Operation) standing() string {
	var b strings.Builder
	if o.Outlier {
		b.WriteString("OUTLIER, ")
	}
	if o.Destructive {
		b.WriteString("DESTRUCTIVE, ")
	}
	for _, m := range o.Marks {
		b.WriteString(m)
		b.WriteString(", ")
	}
	return b.String()
}

// indentedLevels bounds how many levels of fields are indented; those below carry their level as a number.
const indentedLevels = 8

func (p *printer) fields(fields []Field, level int) {
	width := 0
	for i := range fields {
		if name := fields[i].Name.s; IsName(name) {
			width = max(width, min(len(name), nameColumns))
		}
	}
	for i := range fields {
		p.field(&fields[i], width, level)
	}
}

// field draws a field with its name in so many columns, and what it holds.
func (p *printer) field(f *Field, width, level int) {
	if f.Odd { // what differs may be what a shortened value leaves out
		defer p.closely()()
	}
	left := fieldsAt + 2*min(level, indentedLevels)
	at := left + width + 2
	if f.Odd {
		p.w.WriteString("  != ")
	} else {
		p.indent(fieldsAt)
	}
	p.indent(left - fieldsAt)
	if name := f.Name.s; IsName(name) && len(name) <= width {
		p.w.WriteString(name)
		p.indent(at - left - len(name))
	} else {
		p.text(`"`+name+`"`, left)
		p.indent(at)
	}
	p.held(f, level, at)
	p.fields(f.Fields, level+1)
}

// held draws the value of a field, or the type of a group, and what most have where that differs.
func (p *printer) held(f *Field, level, at int) {
	after := f.Remark()
	switch {
	case len(f.Value) > 0 || len(f.Fields) == 0 && f.Note == "":
		p.value(f.Value, f.IsText(), after, at)
	case len(f.Fields) == 0:
		p.prose(after[1:], at)
	case level >= indentedLevels:
		p.prose(f.Type+after+" (level "+strconv.Itoa(level+1)+")", at)
	default:
		p.prose(f.Type+after, at)
	}
	if f.Odd {
		p.indent(at)
		p.line("most have:")
		p.indent(at)
		p.value(f.Usual, f.IsText(), "", at)
		p.difference(f, at)
	}
}

// difference says where a value leaves the usual one, for values that are too long to compare by eye.
func (p *printer) difference(f *Field, at int) {
	line, value, usual := f.Difference()
	if min(len(f.Value), len(f.Usual)) > 1 {
		p.indent(at)
		p.line("(the first line that differs is " + Number(line+1) + ")")
	}
	if value != "" || usual != "" {
		const says = "they differ from here on: "
		left := min(at, columns/2) // deep down there would be no room
		p.indent(left)
		p.w.WriteString(says)
		p.text(`"`+value+`", "`+usual+`"`, left+len(says))
	}
}

// closely draws many times as much as Brief does until the function it gives is called: what differs is read whole, and
// still a file cannot make it endless.
func (p *printer) closely() (restore func()) {
	scale := p.scale
	p.scale = closeScale
	return func() { p.scale = scale }
}
