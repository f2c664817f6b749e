package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/tui"
)

// plain is the review as lines of text, one after the other, and questions as lines. t is nil where nobody can be asked.
func (r *road) plain(ctx context.Context, path string, t *terminal) (err error) {
	if path, err = r.choose(ctx, path, t); err != nil {
		return err
	}
	o, err := r.open(ctx, path, func(done, all int64) {})
	if err != nil {
		return err
	}
	if t == nil {
		if err := r.app.draw(o.Review.Document(), review.Whole, true); err != nil {
			return err
		}
		if stop := o.Review.Stop(); stop != nil {
			return stop
		}
		return ceremony.NotConfirmed(o.Review)
	}
	if err := r.app.show(o.Review, review.Whole, true, t); err != nil {
		return err
	}
	accepted, err := r.askWhich(ctx, o, t)
	if err != nil {
		return err
	}
	if _, err := r.finish(ctx, o, accepted, func(ctx context.Context) (quorum.Signer, error) { return r.key.openPlain(ctx, t) }); err != nil {
		return err
	}
	return r.app.tellSigned(r.signed, &r.written, r.memory)
}

// openPlain is open, where a PIN that was wrong may be typed again while it is not the final try.
func (k *foundKey) openPlain(ctx context.Context, t *terminal) (quorum.Signer, error) {
	if k.token == nil || k.pin != nil || k.token.Info().PINPad {
		return k.open(ctx, t)
	}
	say := func(words string) {
		info := k.token.Info()
		fmt.Fprintf(t.tty, "%stoken %s, serial %s, %s\n", words, review.Escape(info.Label), review.Escape(info.Serial), info.PIN)
	}
	say("")
	return k.openAsking(ctx, k.pinSource(t), nil, func() {
		say("The PIN was wrong. ")
		t.dropTypedAhead()
	})
}

// askWhich asks whether it is signed or declined, and has it confirmed.
func (r *road) askWhich(ctx context.Context, o *tui.Opened, t *terminal) (*ceremony.Accepted, error) {
	choices := "sign"
	switch {
	case o.Bar.String() != "" && o.Decline == nil:
		return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "it can only be read here: %s", o.Bar)
	case o.Bar.String() != "":
		fmt.Fprintf(t.tty, "\nIt can only be declined here: %s\n", o.Bar)
		choices = "decline"
	case o.Review.Stop() != nil && o.Decline == nil:
		return nil, o.Review.Stop()
	case o.Review.Stop() != nil:
		choices = "decline"
	case o.Decline != nil:
		choices = "sign or decline"
	}
	t.dropTypedAhead()
	answer, err := t.ask(ctx, "\nType "+choices+", or anything else to leave: ")
	if err != nil {
		return nil, err
	}
	switch answer = strings.ToLower(strings.TrimSpace(answer)); {
	case answer == "sign" && strings.HasPrefix(choices, "sign"):
		return r.app.ask(ctx, o.Review, t)
	case answer == "decline" && o.Decline != nil:
		reason, err := t.ask(ctx, "Why, in your own words, 1 to 500 characters; they are signed: ")
		if err != nil {
			return nil, err
		}
		declined, err := o.Decline(trimLine(reason))
		if err != nil {
			return nil, err
		}
		return r.app.ask(ctx, declined, t)
	case o.Review.Stop() != nil:
		return nil, o.Review.Stop()
	}
	return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "left without a signature")
}

// choose gives the file that is named, or waited for, or picked from a list by its number.
func (r *road) choose(ctx context.Context, path string, t *terminal) (string, error) {
	folder := startAt(path, "").Folder
	if path != "" && (folder == "" || t == nil) {
		return path, nil
	}
	var found []tui.Entry
	switch {
	case folder != "":
		inside, err := listFolder(ctx, folder)
		if err != nil {
			return "", err
		}
		found = slices.DeleteFunc(inside, func(e tui.Entry) bool { return !e.Kind.Reviewable() })
	case r.flags.watch != "":
		if t != nil {
			fmt.Fprintln(t.tty, "waiting for a file to review in", review.Escape(r.flags.watch))
		}
		var err error
		if found, err = watchFolder(ctx, r.flags.watch, func(gone bool) {
			if gone && t != nil {
				fmt.Fprintln(t.tty, "the folder does not exist yet")
			}
		}); err != nil {
			return "", err
		}
	default:
		where, err := places(ctx)
		if err != nil {
			return "", err
		}
		for _, place := range where {
			if inside, err := reviewable(ctx, place.Path); err == nil && (place.Plugged || len(found) == 0) {
				found = append(found, inside...)
			}
		}
	}
	switch {
	case len(found) == 1 && r.flags.watch != "":
		return found[0].Path, nil
	case t == nil:
		return "", usage("name a file: there is no terminal to choose one on")
	case len(found) == 0:
		return "", usage("name a file: there is none to review on what is plugged in, nor here")
	}
	return pick(ctx, found, t)
}

// pick asks for a file by its number.
func pick(ctx context.Context, found []tui.Entry, t *terminal) (string, error) {
	for i, e := range found {
		fmt.Fprintf(t.tty, "%d: %s, %s\n", i+1, e.Kind, review.Escape(e.Path))
	}
	t.dropTypedAhead()
	answer, err := t.ask(ctx, "Number of the file to review: ")
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimSpace(answer))
	if err != nil || n < 1 || n > len(found) {
		return "", wire.Errorf(wire.InvalidState, "not-confirmed", "there is no file of that number")
	}
	return found[n-1].Path, nil
}
