package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

type deleteFlags struct {
	tokenFlags
	pin pinFlags
}

func (a *app) hsmDeleteCommand() *cobra.Command {
	var f deleteFlags
	c := &cobra.Command{
		Use:   "delete URI",
		Short: "Delete a key from a token",
		Long: `delete destroys the key that the pkcs11: URI names: its private half, its public half and the certificates of its id. There is no
way back. It shows what would go and asks on the terminal for the first characters of the kid, or for the label; no flag
answers that.`,
		Example: "  approver hsm delete 'pkcs11:token=approver;object=old' --module /usr/lib/softhsm/libsofthsm2.so",
		Args:    keyArgument,
		RunE:    func(c *cobra.Command, args []string) error { return a.hsmDelete(c.Context(), &f, args[0]) },
	}
	f.moduleFlags.register(c, "module-path of the URI, else the configured one")
	f.registerFinalTry(c)
	f.pin.register(c, "", "the PIN", "pin-source of the URI, else typed")
	return c
}

func (a *app) hsmDelete(ctx context.Context, f *deleteFlags, text string) error {
	if err := f.check(); err != nil {
		return err
	}
	uri, err := a.parseURI(text)
	if err != nil {
		return err
	}
	t := a.terminal()
	defer t.close()
	if t == nil { // before a login: nobody could say yes
		return errNobodyToAsk("delete")
	}
	admin, closing, err := a.openAsUser(ctx, &f.tokenFlags, &f.pin, uri)
	if err != nil {
		return err
	}
	defer closing()
	deletion, err := admin.PlanDeletion(ctx)
	if err != nil {
		return err
	}
	if err := a.confirmDeletion(ctx, t, admin.Info(), deletion.Objects()); err != nil {
		return err
	}
	deleted, err := deletion.Run(ctx)
	if err != nil {
		return partlyDeleted(err, deleted, deletion.Objects())
	}
	return toldAnyway(a.tellDeleted(len(deleted)), "the key was deleted")
}

func (a *app) tellDeleted(objects int) error {
	if a.json {
		return a.printJSON(map[string]any{"deleted": objects})
	}
	_, err := fmt.Fprintf(a.stdout, "deleted %d objects\n", objects)
	return written(err)
}

// shownOfKID is how many characters of a kid name it beyond doubt on one token.
const shownOfKID = 8

// confirmDeletion shows what goes, and has a person type which key that is.
func (a *app) confirmDeletion(ctx context.Context, t *terminal, info hsm.TokenInfo, objects []hsm.KeyObject) error {
	fmt.Fprintf(t.tty, "THIS IS DESTROYED on token %s, serial %s:\n", review.Escape(info.Label), review.Escape(info.Serial))
	drawObjects(t, objects)
	if unproven(objects) {
		fmt.Fprintln(t.tty, "The private key did not sign for the public half beside it, which may be another key's.")
	}
	question, right := deletionQuestion(objects)
	return a.typed(ctx, t, question, "what was asked for of that key", right)
}

// unproven tells whether the private key, which comes first, is not known to be that of a public half beside it.
func unproven(objects []hsm.KeyObject) bool {
	return objects[0].Class == hsm.PrivateKey && objects[0].KID() == "" && slices.ContainsFunc(objects[1:], func(o hsm.KeyObject) bool { return o.KID() != "" })
}

// deletionQuestion asks for the first characters of the kid or for the label of the key, for its id where it has neither.
func deletionQuestion(objects []hsm.KeyObject) (question string, right func(answer string) bool) {
	key := objects[0]
	if at := slices.IndexFunc(objects, func(o hsm.KeyObject) bool { return o.Class == hsm.PrivateKey }); at >= 0 {
		key = objects[at]
	}
	kid, label, id := key.KID(), "", hex.EncodeToString(key.ID)
	if key.Label != nil {
		label, _ = shownLabel(*key.Label)
	}
	switch {
	case kid != "" && label != "":
		question = fmt.Sprintf("Type the first %d characters of its kid, or its label", shownOfKID)
	case kid != "":
		question = fmt.Sprintf("Type the first %d characters of its kid", shownOfKID)
	case label != "":
		question = "Type its label"
	default:
		return "Type its id", func(answer string) bool { return id != "" && answer == id }
	}
	return question, func(answer string) bool {
		return label != "" && answer == label || len(answer) >= shownOfKID && strings.HasPrefix(kid, answer)
	}
}

// partlyDeleted says how far a deletion came that failed, and what of it is there still.
func partlyDeleted(err error, deleted, all []hsm.KeyObject) error {
	stayed := ""
	for _, o := range all {
		if !slices.ContainsFunc(deleted, o.Same) {
			stayed += ", the " + o.Class.String()
		}
	}
	out := wire.Errorf(wire.CodeOf(err), wire.ReasonOf(err), "%d of %d objects were deleted; still there: %s: %s",
		len(deleted), len(all), strings.TrimPrefix(stayed, ", "), wire.MessageOf(err)).With("deleted", len(deleted))
	if e, ok := errors.AsType[*wire.Error](err); ok {
		maps.Copy(out.Details, e.Details)
	}
	return out
}

// mostDrawn is how many objects are shown: a question that scrolls away from what it is about is none.
const mostDrawn = 16

// drawObjects shows objects to whoever is asked about them, all at once; no line of it wraps.
func drawObjects(t *terminal, objects []hsm.KeyObject) {
	var b strings.Builder
	for _, o := range objects[:min(len(objects), mostDrawn)] {
		row := newListedObject(o)
		text := row.Class + ", " + row.Type.String()
		if o.Label != nil {
			label, cut := shownLabel(*o.Label)
			if text += ", label " + label; cut {
				text += fmt.Sprintf(" (cut: it has %d bytes)", len(*o.Label))
			}
		}
		if row.ID != nil {
			text += ", id " + *row.ID
		}
		if row.KID != "" {
			text += ", kid " + row.KID
		}
		b.WriteString(drawRow(t.columns(), "  ", text))
	}
	if more := len(objects) - mostDrawn; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	fmt.Fprint(t.tty, b.String())
}

// mostLabelCells is how much of a label is shown. PKCS#11 bounds none.
const mostLabelCells = 64

// shownLabel gives a label as it stands on the screen, escaped, every space of it to be seen, and whether that is not all of it.
func shownLabel(label string) (shown string, cut bool) {
	escaped := review.Escape(label).String()
	last := ' '
	for i, r := range escaped {
		word := string(r)
		if r == ' ' && (last == ' ' || i == len(escaped)-1) {
			word = "<U+0020>"
		}
		if cells(shown)+cells(word) > mostLabelCells {
			return strings.TrimSuffix(shown, " "), true
		}
		shown, last = shown+word, r
	}
	return shown, false
}
