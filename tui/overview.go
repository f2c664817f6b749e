package tui

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// overviewRows bounds the rows of a tally and of the findings; all of them stand on other screens.
const overviewRows = 40

// An overview says first what may be done, then what it is about.
type overview struct {
	scroll
	sheet sheet
	made  any // what the sheet was made for
	clock int // the row of the clock, or -1
	of    *session
}

func newOverview(s *session) screen { return &overview{clock: -1, of: s} }

// left forgets what was open: what comes next is another file.
func (o *overview) left() { o.of.close() }

func (o *overview) title(s *session) string { return "Overview: " + s.document().What }

func (o *overview) commands(s *session) []command {
	return append(s.deciding(), s.listed(showOperations, showSubjects, showFindings, search, filter, pageDown)...)
}

func (o *overview) update(s *session, msg tea.Msg) step {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return step{}
	}
	c := commandOf(k)
	if o.move(c) {
		return step{}
	}
	st, _ := s.travel(c)
	return st
}

// place lays out anew only where something changed; the clock has a row of its own.
func (o *overview) place(s *session, width, height int) {
	type state struct {
		width    int
		document *review.Document
		left     review.Left
	}
	if now := (state{width, s.document(), s.reading.Left()}); o.made != now {
		o.made = now
		o.lay(s, width)
	}
	if o.clock >= 0 {
		o.sheet.rows[o.clock] = clockRow(s)
	}
	o.set(len(o.sheet.rows), height)
}

func (o *overview) view(*session, int, int) []row { return o.sheet.rows[o.offset:o.end()] }

func (o *overview) lay(s *session, width int) {
	d := s.document()
	p := sheet{width: width}
	verdict(&p, s)
	o.clock = -1
	if !s.opened.NotAfter.IsZero() {
		o.clock = len(p.rows)
		p.add(row{})
	}
	for n, t := range d.Tallies { // by kind; the others stand below in whole
		if n == 0 {
			tally(&p, t, d.Size)
			continue
		}
		inShort(&p, t)
	}
	findingsInShort(&p, d)
	layKeys(&p, d)
	roots(&p, s)
	p.heading(upper(d.What))
	facts(&p, d.Facts)
	p.lead("  file", factsAt, faint, "SHA-256 "+hex.EncodeToString(s.opened.SHA256[:]))
	p.text("", factsAt, faint, s.opened.Path)
	for _, t := range d.Tallies[min(1, len(d.Tallies)):] {
		tally(&p, t, d.Size)
	}
	o.sheet = p
}

// verdict says whether this may be signed, and what is still to be opened.
func verdict(p *sheet, s *session) {
	inks := map[string]ink{"STOP": alarm, "ACKNOWLEDGE": warn, "CLEAR": good}
	d := s.document()
	sentences := d.Conclusion()
	if s.opened.Bar.String() != "" {
		sentences = d.ConclusionOfReading()
	}
	for n, sentence := range sentences {
		word, _, _ := strings.Cut(sentence, ":")
		p.say(0, inks[word], sentence)
		for _, i := range bySeverity(d.Findings) {
			if n == 0 && d.Findings[i].Severity == review.Stop {
				layFinding(p, &d.Findings[i])
			}
		}
	}
	layChanges(p, d)
	switch {
	case s.opened.Review.Stop() != nil:
	case s.opened.Bar.String() != "":
		p.say(0, warn, "It can only be read here, not approved:")
		p.text("", 2, warn, s.opened.Bar)
	case s.reading.Complete():
		p.say(0, good, "Everything that must be opened was opened. A leads to the questions before signing.")
	default:
		p.say(0, warn, "Still to be opened before you can sign: "+leftToOpen(s.reading.Left(), s.document().Counts)+". n opens the next.")
	}
}

// inShort says in a row or two how much there is of what; the tally below is whole. A name that could be taken for more than a
// name stands only there.
func inShort(p *sheet, t review.Tally) {
	var parts []string
	others := 0
	for _, c := range t.Rows {
		if len(parts) == kindsNamed || !review.IsName(c.Name.String()) {
			others++
			continue
		}
		parts = append(parts, review.Number(c.N)+" "+c.Name.String())
	}
	if others > 0 {
		parts = append(parts, review.Counted(others, "other"))
	}
	if len(parts) > 0 {
		p.say(0, plain, upper(t.Title)+": "+strings.Join(parts, ", ")+".")
	}
}

// clockRow is how long the window is still open.
func clockRow(s *session) row {
	left := s.opened.NotAfter.Sub(s.now())
	if left < 0 {
		return row{own: "Window: CLOSED " + clock(-left) + " ago.", ink: alarm}
	}
	return row{own: "Window: open for " + clock(left) + " more.", ink: plain}
}

// clock writes a duration to the second.
func clock(d time.Duration) string {
	d = d.Truncate(time.Second)
	days, d := d/(24*time.Hour), d%(24*time.Hour)
	text := fmt.Sprintf("%02d:%02d:%02d", d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second)
	if days > 0 {
		return review.Counted(int(days), "day") + " " + text
	}
	return text
}

// roots shows the root in hex and words, and what was done about it.
func roots(p *sheet, s *session) {
	d := s.document()
	of := ""
	if d.RootOf != "" {
		of = ", the SHA-256 of " + d.RootOf
	}
	p.heading("Root" + of + ", to compare by voice")
	if s.opened.RootSays != "" {
		p.say(2, good, s.opened.RootSays)
	}
	p.say(2, plain, hex.EncodeToString(d.Root))
	rootWords(p, d.Root)
}

// rootWords shows the words of a root, each with its number.
func rootWords(p *sheet, root []byte) {
	const cell = 18
	words, across := review.Words(root), 4
	if p.width >= 8*cell {
		across = 8
	}
	across = max(min(across, p.width/cell), 1)
	var b strings.Builder
	for i, word := range words {
		n := strconv.Itoa(i + 1)
		b.WriteString(pad(pad("", 4-len(n))+n+" "+word, cell))
		if i%across == across-1 || i == len(words)-1 {
			p.add(row{own: strings.TrimRight(b.String(), " ")})
			b.Reset()
		}
	}
}

// factsAt is the column of the values of facts.
const factsAt = 20

// facts lays out names and values side by side; a text from outside stands after the name.
func facts(p *sheet, facts []review.Fact) {
	const at = factsAt
	for _, f := range facts {
		lead := "  " + f.Name
		if len(lead) >= p.column(at) {
			p.say(2, plain, f.Name)
			lead = ""
		}
		p.value(lead, at, plain, f.Value, false, "")
		if f.Note != "" {
			p.say(at, faint, "("+f.Note+")")
		}
	}
}

// tally lists counts, and how many of all have nothing of the sort, such as no site agent.
func tally(p *sheet, t review.Tally, size int) {
	p.heading(upper(t.Title))
	for _, c := range t.Rows {
		size -= c.N
	}
	for _, c := range t.Rows[:min(len(t.Rows), overviewRows)] {
		mark, i := "", plain
		if c.Destructive {
			mark, i = "DESTRUCTIVE ", alarm
		}
		lead := pad("", 8-len(review.Number(c.N))) + review.Number(c.N) + "  " + mark
		p.text(lead, len(lead), i, c.Name)
	}
	if left := len(t.Rows) - overviewRows; left > 0 {
		p.say(10, faint, "... and "+review.Number(left)+" more; the filters of the subjects have all of them")
	}
	if size > 0 {
		p.say(0, plain, pad("", 8-len(review.Number(size)))+review.Number(size)+"  have none")
	}
}

// findingsInShort names each finding on a row or two, the severe first; those that stop stand at the top already.
func findingsInShort(p *sheet, d *review.Document) {
	order := bySeverity(d.Findings)
	for len(order) > 0 && d.Findings[order[0]].Severity == review.Stop {
		order = order[1:]
	}
	if len(order) == 0 {
		return
	}
	p.heading("Findings")
	for _, i := range order[:min(len(order), overviewRows)] {
		layFinding(p, &d.Findings[i])
	}
	if left := len(order) - overviewRows; left > 0 {
		p.say(6, faint, "... and "+review.Number(left)+" more")
	}
}

// layFinding writes the rule of a finding and its sentence.
func layFinding(p *sheet, f *review.Finding) {
	p.say(2, inkOf(f.Severity), strings.ToUpper(f.Severity.String())+" "+string(f.Rule))
	p.text("", 6, plain, f.Message)
}

// upper gives the words with a capital.
func upper(words string) string { return strings.ToUpper(words[:1]) + words[1:] }
