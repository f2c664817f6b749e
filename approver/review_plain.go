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

// plain is the review as lines of text, part by part, and questions as lines. Where nobody can be asked, t is nil, and it is
// printed in one go.
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
	accepted, err := r.acceptPlain(ctx, o, t)
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
