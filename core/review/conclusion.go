package review

// Conclusion says what a person needs first, a line each: may this be signed, how much is it, how much of it destroys. The
// lines are the program's own words, and longer than the screen as a rule.
func (d *Document) Conclusion() []string { return d.conclusion(false) }

// ConclusionOfReading is Conclusion for somebody who only reads: nothing is to be done before a signature that cannot be made.
func (d *Document) ConclusionOfReading() []string { return d.conclusion(true) }

func (d *Document) conclusion(reading bool) []string {
	var lines []string
	switch n := d.bySeverity(); {
	case d.declines:
		lines = append(lines, "DECLINE: you are about to say no to this "+d.What+". That approves nothing.")
		if n[Stop] > 0 {
			lines = append(lines, Counted(n[Stop], "finding")+" below "+plural(n[Stop], "forbids", "forbid")+" approving it, and "+
				plural(n[Stop], "does", "do")+" not forbid declining it.")
		}
	case n[Stop] > 0:
		lines = append(lines, "STOP: do not sign this "+d.What+". "+Counted(n[Stop], "finding")+" below "+plural(n[Stop], "forbids", "forbid")+" it.")
	case n[Acknowledge] > 0 && reading:
		lines = append(lines, "ACKNOWLEDGE: "+Counted(n[Acknowledge], "finding")+" below for whoever signs this "+d.What+" to open.")
	case n[Acknowledge] > 0:
		lines = append(lines, "ACKNOWLEDGE: "+Counted(n[Acknowledge], "finding")+" below to open before you sign this "+d.What+".")
	case n[Note] > 0:
		lines = append(lines, "CLEAR, with "+Counted(n[Note], "note")+" below: nothing forbids this "+d.What+". Read the "+plural(n[Note], "note", "notes")+" and what it does.")
	default:
		lines = append(lines, "CLEAR: nothing speaks against this "+d.What+". Read what it does all the same.")
	}
	return append(lines, d.totals())
}

// totals says how much it is, and how much of it destroys.
func (d *Document) totals() string {
	if d.Counts != Operations {
		return Counted(d.Size, d.Counts.String()) + "; " + Counted(d.Escapes, "escape") + " in texts."
	}
	destructive := 0
	for i := range d.Operations {
		if d.Operations[i].Destructive {
			destructive += len(d.Operations[i].Subjects)
		}
	}
	return Counted(d.Size, "operation") + " (" + Number(len(d.Operations)) + " distinct), " + Number(destructive) + " destructive; " +
		Counted(d.Escapes, "escape") + " in texts."
}

// bySeverity counts the findings.
func (d *Document) bySeverity() (n [Stop + 1]int) {
	for _, f := range d.Findings {
		n[f.Severity]++
	}
	return n
}
