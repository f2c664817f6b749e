package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

type initFlags struct {
	tokenFlags
	so, next pinFlags
	label    string
	slot     int    // -1 where none is given
	path     string // of the module
	twin     string // serial of another token that has the new label already
}

func (a *app) hsmInitCommand() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init --label LABEL",
		Short: "Initialise a token: its label, and the PINs of security officer and user",
		Long: `init makes a token ready for keys. It takes the one token that was never initialised; --slot says which where there are several.
--token and --serial name one that was: everything on it is then destroyed, and there is no way back.

Either way it shows the token and asks on the terminal, which no flag answers. Of a token that was never initialised it asks for
the new label, then for a new PIN of the security officer and a new one of the user, each typed twice; a few makers deliver such
a token with a PIN of the security officer, and then that is the one to give. Before an erasure it asks for the label and the
serial of what is erased and for the new label, then for the security officer's present PIN, which stays, and for a new one of
the user, typed twice.`,
		Example: "  approver hsm init --label approver --module /usr/lib/softhsm/libsofthsm2.so",
		Args:    noSecretArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return a.hsmInit(c.Context(), &f) },
	}
	f.moduleFlags.register(c, "the configured one")
	f.so.register(c, "so-", "the security officer's PIN", "typed, a new one twice")
	f.next.register(c, "new-", "the user's new PIN", "typed twice")
	s := c.Flags()
	s.StringVar(&f.label, "label", "", "the new `LABEL` of the token, up to 32 bytes")
	s.IntVar(&f.slot, "slot", -1, "`N` of the slot, as 'approver hsm list' prints it")
	s.StringVar(&f.token, "token", "", "present `LABEL` of the token to erase")
	s.StringVar(&f.serial, "serial", "", "`SERIAL` number of the token to erase")
	return c
}

func (f *initFlags) check() error {
	switch {
	case f.label == "":
		return usage("--label is missing")
	case len(f.label) > 32 || strings.TrimSpace(f.label) != f.label:
		return usage("--label is 1 to 32 bytes that neither begin nor end with a space")
	}
	if err := checkDescriptors(&f.so, &f.next); err != nil {
		return err
	}
	return f.tokenFlags.check()
}

func (a *app) hsmInit(ctx context.Context, f *initFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	t := a.terminal()
	defer t.close()
	if t == nil {
		return errNobodyToAsk("init")
	}
	path, m, err := a.openModule(ctx, f.moduleFlags, "")
	if err != nil {
		return err
	}
	f.path = path
	info, err := f.find(ctx, m)
	if err != nil {
		return err
	}
	so, next, err := f.sources(t, info)
	if err != nil {
		return err
	}
	if err := a.confirmInit(ctx, t, f, m, info); err != nil {
		return err
	}
	// Both PINs are there before anything is erased.
	asked := info
	asked.Label = f.label
	about := asked
	if info.Initialized() {
		about = info
	}
	heldSO, err := holdPIN(ctx, so, about, !info.Initialized())
	if err != nil {
		return err
	}
	defer heldSO.wipe()
	heldNext, err := holdPIN(ctx, next, asked, true)
	if err != nil {
		return err
	}
	defer heldNext.wipe()
	return a.initialise(ctx, f, m, info, heldSO, heldNext)
}

// sources gives where the PINs come from.
func (f *initFlags) sources(t *terminal, info hsm.TokenInfo) (so, next hsm.PINSource, err error) {
	role := hsm.NewSecurityOfficerPIN
	if info.Initialized() {
		role = hsm.SecurityOfficerPIN
	}
	if so, err = f.so.source("", t, role); err == nil {
		next, err = f.next.source("", t, hsm.NewUserPIN)
	}
	return so, next, err
}

// find gives the token that is meant: the named one, else the only one that was never initialised.
func (f *initFlags) find(ctx context.Context, m hsm.Module) (hsm.TokenInfo, error) {
	inventory, err := hsm.ListSlots(ctx, m, f.timeout)
	if err != nil {
		return hsm.TokenInfo{}, err
	}
	named := f.token != "" || f.serial != "" || f.slot >= 0
	var found []hsm.TokenInfo
	var seen []map[string]string
	for _, s := range inventory.Slots {
		if s.Trouble != nil {
			continue
		}
		i := s.Token
		seen = append(seen, map[string]string{"slot": fmt.Sprint(uint(s.Slot)), "label": i.Label, "serial": i.Serial, "model": i.Model})
		if named && (f.token == "" || i.Label == f.token) && (f.serial == "" || i.Serial == f.serial) && (f.slot < 0 || int(s.Slot) == f.slot) ||
			!named && !i.Initialized() {
			found = append(found, i)
		} else if i.Initialized() && i.Label == f.label {
			f.twin = i.Serial
		}
	}
	switch len(found) {
	case 0:
		return hsm.TokenInfo{}, wire.Errorf(wire.KeyUnavailable, "token-not-found", "there is no such token to initialise; seen: %s", listTokens(seen)).With("tokens", seen)
	case 1:
		return found[0], nil
	}
	return hsm.TokenInfo{}, wire.Errorf(wire.KeyUnavailable, "ambiguous", "%d tokens are meant; seen: %s", len(found), listTokens(seen)).With("tokens", seen)
}

// confirmInit shows what is initialised, and has a person type it.
func (a *app) confirmInit(ctx context.Context, t *terminal, f *initFlags, m hsm.Module, info hsm.TokenInfo) error {
	fmt.Fprintf(t.tty, "slot %d, %s of %s, serial %s\n", uint(info.Slot), review.Escape(info.Model), review.Escape(info.Manufacturer), blank(info.Serial))
	if f.twin != "" {
		fmt.Fprintf(t.tty, "warning: token %s, serial %s, has that label already; this one will have to be named by its serial\n", review.Escape(f.label), review.Escape(f.twin))
	}
	if !info.Initialized() {
		fmt.Fprintf(t.tty, "This token was never initialised. It becomes token %s.\n", review.Escape(f.label))
		return a.typed(ctx, t, newLabelAsked, labelAsked, func(answer string) bool { return answer == f.label })
	}
	fmt.Fprintf(t.tty, "This is token %s. EVERYTHING ON IT IS DESTROYED:\n", review.Escape(info.Label))
	if err := a.drawOnToken(ctx, t, f, m, info); err != nil {
		return err
	}
	for _, question := range erasureQuestions(info) {
		if err := a.typed(ctx, t, question[0], question[2], func(answer string) bool { return answer == question[1] }); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.tty, "It becomes token %s.\n", review.Escape(f.label))
	return a.typed(ctx, t, newLabelAsked, labelAsked, func(answer string) bool { return answer == f.label })
}

// What is asked of every token, and how it is called where it was not typed.
const newLabelAsked, labelAsked = "Type the new label", "the label asked for"

// erasureQuestions gives what is asked before an erasure, each with its answer as it stands on the screen and with what that is
// called: label and serial, and the slot where the token has neither, so that Enter is never an answer.
func erasureQuestions(info hsm.TokenInfo) (questions [][3]string) {
	if label := review.Escape(info.Label).String(); label != "" {
		questions = append(questions, [3]string{"Type the label of the token that is erased", label, labelAsked})
	}
	if serial := review.Escape(info.Serial).String(); serial != "" {
		questions = append(questions, [3]string{"Type the serial of the token that is erased", serial, "the serial asked for"})
	}
	if len(questions) == 0 {
		questions = append(questions, [3]string{"Type the number of the slot of the token that is erased", fmt.Sprint(uint(info.Slot)), "the slot asked for"})
	}
	return questions
}

// drawOnToken shows what a token shows without a login.
func (a *app) drawOnToken(ctx context.Context, t *terminal, f *initFlags, m hsm.Module, info hsm.TokenInfo) error {
	token, err := hsm.OpenToken(ctx, m, hsm.TokenOptions{URI: info.SlotURI(), Timeout: f.timeout})
	if err != nil {
		return err
	}
	defer a.closeToken(token)
	objects, err := token.Objects(ctx)
	if err != nil {
		return err
	}
	drawObjects(t, objects)
	fmt.Fprintln(t.tty, "  and every private key, which it does not show without a login")
	return nil
}

// initialise initialises the token and sets the user's PIN.
func (a *app) initialise(ctx context.Context, f *initFlags, m hsm.Module, info hsm.TokenInfo, so, next hsm.PINSource) error {
	var target hsm.InitTarget = hsm.Blank{Slot: info.Slot}
	if info.Initialized() {
		target = hsm.Erase{Slot: info.Slot, Label: info.Label, Serial: info.Serial}
	}
	made, err := hsm.InitToken(ctx, m, target, f.label, so, f.timeout)
	if err != nil {
		return err
	}
	if err := f.setUserPIN(ctx, a, m, made, so, next); err != nil {
		return noUserPIN(err)
	}
	if err := toldAnyway(a.tellInitialised(made), "the token was initialised"); err != nil {
		return err
	}
	if made.SOPIN == hsm.PINToBeChanged && !a.json {
		fmt.Fprintf(a.stderr, "next: approver hsm pin change --so --token %s --module %s\n", review.Escape(shellWord(made.Label)), review.Escape(shellWord(f.path)))
	}
	return nil
}

// noUserPIN says how far it came with a token that was initialised and then refused a PIN of the user.
func noUserPIN(err error) error {
	out := wire.Errorf(wire.CodeOf(err), wire.ReasonOf(err), "the token was initialised and has no user PIN yet, which 'approver hsm pin unlock' sets: %s", wire.MessageOf(err)).With("initialised", true)
	if e, ok := errors.AsType[*wire.Error](err); ok {
		maps.Copy(out.Details, e.Details)
	}
	return out
}

// tellInitialised names the token that was made.
func (a *app) tellInitialised(made hsm.TokenInfo) error {
	if a.json {
		return a.printJSON(map[string]any{"initialised": map[string]any{"label": review.Escape(made.Label), "serial": review.Escape(made.Serial), "uri": made.URI().String()}})
	}
	_, err := fmt.Fprintf(a.stdout, "token %s\nserial %s\nuri %s\n", review.Escape(made.Label), review.Escape(made.Serial), made.URI())
	return written(err)
}

func (f *initFlags) setUserPIN(ctx context.Context, a *app, m hsm.Module, made hsm.TokenInfo, so, next hsm.PINSource) error {
	admin, err := hsm.OpenAdmin(ctx, m, hsm.TokenOptions{URI: made.URI(), Timeout: f.timeout})
	if err != nil {
		return err
	}
	defer a.closeToken(admin)
	if err := admin.LoginSO(ctx, so); err != nil {
		return err
	}
	return admin.SetUserPIN(ctx, next)
}
