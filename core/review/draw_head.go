package review

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// conclusion writes what a person needs first.
func (p *printer) conclusion(d *Document) {
	for _, sentence := range d.Conclusion() {
		p.prose(sentence, 0)
	}
}

// closing says once more, where the eye is after a long list, what stands at the top.
func (p *printer) closing(d *Document) {
	p.w.WriteByte('\n')
	p.conclusion(d)
	for _, severity := range []Severity{Stop, Acknowledge, Note} {
		for _, f := range d.Findings {
			if f.Severity != severity {
				continue
			}
			p.indent(2)
			head := strings.ToUpper(severity.String()) + " " + string(f.Rule) + ": "
			p.w.WriteString(head)
			p.text(f.Message.s, 2+len(head))
			if f.Rule == Outlier {
				p.texts(f.Places, 6)
			}
		}
	}
}

// heading writes a blank line and a title. What titles hold is the program's own.
func (p *printer) heading(title string) {
	p.w.WriteByte('\n')
	p.line(strings.ToUpper(title[:1]) + title[1:])
}

// nameColumns bounds the width of the names of facts and fields; a longer one has a line of its own.
const nameColumns = 26

func (p *printer) facts(d *Document) {
	p.heading(d.What)
	width := 0
	for _, f := range d.Facts {
		width = max(width, min(len(f.Name), nameColumns))
	}
	at := 2 + width + 3
	for _, f := range d.Facts {
		p.indent(2)
		p.w.WriteString(f.Name)
		if len(f.Name) > width {
			p.w.WriteByte('\n')
			p.indent(at)
		} else {
			p.indent(at - 2 - len(f.Name))
		}
		p.value(f.Value, false, "", at)
		if f.Note != "" {
			p.indent(at)
			p.prose("("+f.Note+")", at)
		}
	}
}

// wordsInLine is how many words of the root stand on a line, each with its position: somebody on the phone asks for "27".
const wordsInLine = 4

// root writes the root: its hex, as --root takes it, and its words for the voice.
func (p *printer) root(d *Document) {
	root, of := d.Root, d.RootName()
	if d.RootOf != "" {
		of += ", the SHA-256 of " + d.RootOf
	}
	p.heading(of + ", to compare by voice with the other approvers")
	p.indent(2)
	p.line(hex.EncodeToString(root))
	words := Words(root)
	for i, word := range words {
		n := strconv.Itoa(i + 1)
		p.indent(4 - len(n))
		p.w.WriteString(n + " " + word)
		if i%wordsInLine == wordsInLine-1 || i == len(words)-1 {
			p.w.WriteByte('\n')
			continue
		}
		p.indent(14 - len(word))
	}
}

func (p *printer) tally(t Tally) {
	p.heading(t.Title)
	digits := 0
	for _, c := range t.Rows {
		digits = max(digits, len(Number(c.N)))
	}
	shown := p.bound(len(t.Rows), briefRows)
	for _, c := range t.Rows[:shown] {
		mark := "              "
		if c.Destructive {
			mark = "  DESTRUCTIVE "
		}
		n := Number(c.N)
		p.indent(2 + digits - len(n))
		p.w.WriteString(n)
		p.w.WriteString(mark)
		p.text(c.Name.s, 2+digits+len(mark))
	}
	p.rest(len(t.Rows)-shown, 2)
}

func (p *printer) findings(findings []Finding) {
	if len(findings) == 0 {
		return
	}
	p.heading("findings")
	for _, severity := range []Severity{Stop, Acknowledge, Note} {
		for _, f := range findings {
			if f.Severity == severity {
				p.finding(f)
			}
		}
	}
}

// finding writes the severity and rule, then the message, what to do, and the places.
func (p *printer) finding(f Finding) {
	const at = 6
	p.indent(2)
	p.line(strings.ToUpper(f.Severity.String()) + " " + string(f.Rule))
	p.indent(at)
	p.text(f.Message.s, at)
	p.indent(at)
	p.prose("What to do: "+f.Advice, at)
	if len(f.Places) > 0 {
		p.indent(at)
		p.line("Where (" + Number(len(f.Places)) + "):")
		p.texts(f.Places, at+2)
	}
}
