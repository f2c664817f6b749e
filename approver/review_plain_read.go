package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/tui"
)

// plainGlance is how long a part must have stood there before Enter takes it as read: a key that is held down reads nothing.
const plainGlance = 500 * time.Millisecond

// A way is what somebody wants who reads.
type way string

const (
	goesOn   way = ""
	again    way = "again"
	declines way = "decline"
	leaves   way = "leave"
)

// readPlain shows what has to be read part by part, and notes each as opened once Enter says so. Whoever wants to decline need
// not read on.
func (r *road) readPlain(ctx context.Context, o *tui.Opened, reading *review.Reading, t *terminal) (way, error) {
	parts := reading.Parts()
	fmt.Fprintf(t.tty, "The review has %d parts. After each, Enter alone goes on to the next.\n", len(parts))
	for i := 0; i < len(parts); {
		fmt.Fprintf(t.tty, "\nPart %d of %d\n\n", i+1, len(parts))
		if err := parts[i].WriteText(t.tty); err != nil {
			return leaves, err
		}
		switch w, err := r.askOn(ctx, o, t, i+1, len(parts)); {
		case err != nil || w == declines || w == leaves:
			return w, err
		case w == goesOn:
			parts[i].Opened()
			i++
		}
	}
	return goesOn, reading.Closing().WriteText(t.tty)
}

// askOn waits until somebody has read a part.
func (r *road) askOn(ctx context.Context, o *tui.Opened, t *terminal, n, all int) (way, error) {
	choices := "again or leave"
	if o.Decline != nil {
		choices = "again, decline or leave"
	}
	question := fmt.Sprintf("\nEnd of part %d of %d. Enter goes on; or type %s: ", n, all, choices)
	for {
		t.dropTypedAhead()
		shown := r.app.now()
		answer, err := t.ask(ctx, question)
		if err != nil {
			return leaves, err
		}
		switch w := way(strings.ToLower(strings.TrimSpace(answer))); {
		case w == goesOn && r.app.now().Sub(shown) < plainGlance:
			question = "That came too soon to have read it. Enter goes on: "
		case w == goesOn, w == again, w == leaves, w == declines && o.Decline != nil:
			return w, nil
		default:
			question = "Nothing done. Enter alone goes on; or type " + choices + ": "
		}
	}
}

// acceptPlain has the review read, asks whether it is signed or declined, and has that confirmed.
func (r *road) acceptPlain(ctx context.Context, o *tui.Opened, t *terminal) (*ceremony.Accepted, error) {
	if o.Bar.String() != "" {
		fmt.Fprintf(t.tty, "It cannot be signed here: %s\n", o.Bar)
	}
	reading := review.NewReading(o.Review)
	w, err := r.readPlain(ctx, o, reading, t)
	if err == nil && w == goesOn {
		w, err = r.askWhich(ctx, o, t)
	}
	switch {
	case err != nil:
		return nil, err
	case w == declines:
		return r.declinePlain(ctx, o, t)
	case w == goesOn:
		challenge, err := ceremony.NewReadChallenge(reading)
		if err != nil {
			return nil, err
		}
		return r.app.askAll(ctx, challenge, o.Review, t)
	case o.Bar.String() != "" && o.Decline == nil:
		return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "it can only be read here: %s", o.Bar)
	case o.Review.Stop() != nil:
		return nil, o.Review.Stop()
	}
	return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "left without a signature")
}

// askWhich asks whether it is signed, which goes on, or declined.
func (r *road) askWhich(ctx context.Context, o *tui.Opened, t *terminal) (way, error) {
	choices := "sign"
	barred := o.Bar.String() != ""
	switch {
	case (barred || o.Review.Stop() != nil) && o.Decline == nil:
		return leaves, nil
	case barred:
		fmt.Fprintf(t.tty, "\nIt can only be declined here: %s\n", o.Bar)
		choices = "decline"
	case o.Review.Stop() != nil:
		choices = "decline"
	case o.Decline != nil:
		choices = "sign or decline"
	}
	t.dropTypedAhead()
	answer, err := t.ask(ctx, "\nType "+choices+", or anything else to leave: ")
	switch answer = strings.ToLower(strings.TrimSpace(answer)); {
	case err != nil:
		return leaves, err
	case answer == "sign" && strings.HasPrefix(choices, "sign"):
		return goesOn, nil
	case answer == "decline" && o.Decline != nil:
		return declines, nil
	}
	return leaves, nil
}

// declinePlain asks for the reason of a decline, and has it confirmed.
func (r *road) declinePlain(ctx context.Context, o *tui.Opened, t *terminal) (*ceremony.Accepted, error) {
	t.dropTypedAhead()
	reason, err := t.ask(ctx, "Why, in your own words, 1 to 500 characters; they are signed: ")
	if err != nil {
		return nil, err
	}
	declined, err := o.Decline(trimLine(reason))
	if err != nil {
		return nil, err
	}
	challenge, err := ceremony.NewDeclineChallenge(declined)
	if err != nil {
		return nil, err
	}
	return r.app.askAll(ctx, challenge, declined, t)
}
