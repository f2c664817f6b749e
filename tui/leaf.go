package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
)

// A leaf screen shows where a subject stands in the tree: the hash of its leaf, its index, and the proof up to the root.
type leaf struct {
	scroll
	operation, subject int
	sheet              sheet
	job                *job
	got                *proven
}

// proven is what the job brings.
type proven struct {
	leaf Leaf
	err  error
}

// toLeaf leads to the leaf of a subject, whose proof is made beside the screen.
func toLeaf(s *session, operation, subject int) step {
	o := &leaf{operation: operation, subject: subject}
	of := s.opened.Leaf
	if of == nil {
		return step{push: o}
	}
	var cmd tea.Cmd
	o.job, cmd = start(o, func(context.Context, func(tea.Msg)) tea.Msg {
		l, err := of(operation, subject)
		return proven{l, err}
	})
	return step{push: o, cmd: cmd}
}

func (o *leaf) title(*session) string { return "Leaf" }

func (o *leaf) commands(*session) []command {
	return []command{enter, back, pageDown, showSubjects, showOverview}
}

func (o *leaf) left() {
	if o.job != nil {
		o.job.cancel()
	}
}

func (o *leaf) update(s *session, msg tea.Msg) step {
	switch msg := msg.(type) {
	case proven:
		o.job, o.got, o.sheet.width = nil, &msg, 0
	case tea.KeyMsg:
		c := commandOf(msg)
		if o.move(c) {
			return step{}
		}
		if c == enter {
			return step{push: newOperation(o.operation)}
		}
		st, _ := s.travel(c)
		return st
	}
	return step{}
}

func (o *leaf) place(s *session, width, height int) {
	if o.sheet.width != width {
		o.lay(s, width)
	}
	o.set(len(o.sheet.rows), height)
}

func (o *leaf) view(*session, int, int) []row { return o.sheet.rows[o.offset:o.end()] }

func (o *leaf) lay(s *session, width int) {
	op := &s.document().Operations[o.operation]
	p := sheet{width: width}
	p.text("subject", 9, strong, op.Subjects[o.subject])
	p.text("does", 9, inkOfOperation(op), op.Title)
	p.say(9, inkOfOperation(op), standing(op, false)+"(Enter opens it)")
	switch {
	case s.opened.Leaf == nil:
		p.say(0, faint, "There is no tree of leaves under what is signed here.")
	case o.got == nil:
		p.say(0, faint, "proving ...")
	case o.got.err != nil:
		p.text("error", 9, alarm, review.Escape(o.got.err.Error()))
	default:
		l := &o.got.leaf
		p.lead("hash", 9, plain, l.Hash.String())
		p.lead("index", 9, plain, review.Number(int(l.Proof.Index))+" of "+review.Number(l.Size)+", from 0, in the order of the hashes")
		p.lead("proof", 9, good, "verified: with these "+review.Counted(len(l.Proof.Siblings), "sibling")+", from the leaf up, it gives the root")
		for i, sibling := range l.Proof.Siblings {
			p.lead(pad("", 6-len(review.Number(i+1)))+review.Number(i+1), 9, plain, sibling.String())
		}
	}
	o.sheet = p
}
