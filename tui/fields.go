package tui

import (
	"strconv"

	"github.com/better-compute/approver/core/review"
)

// fieldsAt is the column at which fields begin; left of it stands the mark of one that differs.
const fieldsAt = 5

// indented bounds how many levels of fields are indented; those below carry their level as a number.
const indented = 4

// fields lays out the fields of an operation, groups below their name.
func fields(p *sheet, list []review.Field, level int) {
	width := 0
	for i := range list {
		if name := list[i].Name.String(); review.IsName(name) {
			width = max(width, min(len(name), 26))
		}
	}
	for i := range list {
		field(p, &list[i], width, level)
	}
}

// field lays out one field: the name, what it holds, and what most have where that differs.
func field(p *sheet, f *review.Field, width, level int) {
	left := fieldsAt + 2*min(level, indented)
	mark, i := "", plain
	if f.Odd {
		mark, i = "  != ", warn
	}
	lead, at := pad(mark, left)+f.Name.String(), left+width+2
	if narrow := at > p.width/2; narrow || !review.IsName(f.Name.String()) || len(lead) >= at {
		p.quoted(pad(mark, left), left, i, f.Name, !review.IsName(f.Name.String()))
		lead, at = "", left+2
	}
	held(p, f, lead, at, i, level)
	fields(p, f.Fields, level+1)
}

func held(p *sheet, f *review.Field, lead string, at int, i ink, level int) {
	after := f.Remark()
	switch {
	case len(f.Value) > 0 || len(f.Fields) == 0 && f.Note == "":
		p.value(lead, at, i, f.Value, f.IsText(), after)
	case len(f.Fields) == 0:
		p.lead(lead, at, i, after[1:])
	case level >= indented:
		p.lead(lead, at, i, f.Type+after+" (level "+strconv.Itoa(level+1)+")")
	default:
		p.lead(lead, at, i, f.Type+after)
	}
	if f.Odd {
		p.value(pad("", at)+"most have: ", at+11, i, f.Usual, f.IsText(), "")
		difference(p, f, at)
	}
}

// difference says where a value leaves the usual one, where that is hard to see.
func difference(p *sheet, f *review.Field, at int) {
	line, value, usual := f.Difference()
	if min(len(f.Value), len(f.Usual)) > 1 {
		p.say(at, warn, "(the first line that differs is "+review.Number(line+1)+")")
	}
	if value != "" || usual != "" {
		p.say(at, warn, "they differ from here on:")
		p.add(row{own: pad("", p.column(at)+2) + `"`, text: value + `"`, ink: warn}, row{own: pad("", p.column(at)+2) + `"`, text: usual + `"`, ink: warn})
	}
}
