package tui

import (
	"testing"
	"time"

	"github.com/better-compute/approver/core/review"
)

// longOperation begins at one operation of 200 fields.
func longOperation(t *testing.T) *driver {
	o := review.Operation{Title: review.Escape("node.reimage"), Subjects: []review.Text{review.Escape("a")}}
	o.SetFields(func() (fields []review.Field) {
		for i := range 200 {
			fields = append(fields, review.Field{Name: review.Escape("f" + review.Number(i)), Value: []review.Text{review.Escape("v")}})
		}
		return fields
	})
	return driveOpened(t, openedDocument(t, review.Document{Operations: []review.Operation{o}})).keys("2", "enter")
}

// Pages that came and went at once were not read, though the end then stands for as long as one likes; n leads back to them.
func TestPagesThatFlewByAreNotRead(t *testing.T) {
	for key, every := range map[string]time.Duration{"pgdown": 33 * time.Millisecond, "n": 33 * time.Millisecond, "down": time.Millisecond} {
		t.Run(key, func(t *testing.T) {
			d := longOperation(t)
			for range 400 {
				d.typed(every, key)
			}
			d.now = d.now.Add(time.Minute)
			d.m.Update(tick{})
			d.sees("1 to open")
			d.readAll().sees("nothing left to open")
		})
	}
}

// What stands under another screen is not looked at meanwhile.
func TestWhatIsCoveredIsNotRead(t *testing.T) {
	d := batch(t).keys("4")
	d.typed(time.Second, "enter")
	d.typed(time.Millisecond, "?")
	d.now = d.now.Add(time.Minute)
	d.m.Update(tick{})
	d.typed(time.Millisecond, "esc")
	d.sees("7 to open")
	d.now = d.now.Add(time.Second)
	d.m.Update(tick{})
	d.sees("6 to open")
}

// Down that is held passes each row slowly enough to be on the screen for a while, and reads nothing: a page needs a pause. Pressed
// as a person does it reads.
func TestHeldDownReadsNothing(t *testing.T) {
	d := longOperation(t).pass(time.Second)
	for range 250 {
		d.typed(33*time.Millisecond, "down")
	}
	d.pass(time.Minute).sees("1 to open", "f199")
	d = longOperation(t).pass(time.Second)
	for range 250 {
		d.typed(200*time.Millisecond, "down")
	}
	d.sees("nothing left to open")
}

// Whoever jumps over rows is told, and how to come back.
func TestJumpIsSaid(t *testing.T) {
	d := longOperation(t)
	d.pass(time.Second).keys("end").sees("rows between were not shown; n shows them")
	d.keys("n").seesNot("rows between").sees("-- more below: PgDn")
	d.readAll().keys("home", "end").seesNot("rows between", "more below")
}
