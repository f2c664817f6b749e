package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/hsm"
)

func (a *app) hsmPINCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "pin",
		Short: "Change or unlock the PIN of a token",
		Args:  noSecretArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{a.hsmPINChangeCommand(), a.hsmPINUnlockCommand()} {
		strictFlags(sub)
		c.AddCommand(sub)
	}
	return c
}

type pinChangeFlags struct {
	tokenFlags
	pin, so, next pinFlags
	forSO         bool
}

func (a *app) hsmPINChangeCommand() *cobra.Command {
	var f pinChangeFlags
	c := &cobra.Command{
		Use:   "change [URI]",
		Short: "Change a PIN, knowing the present one",
		Long: `change logs in with the present PIN and sets another. It is the user's PIN; with --so, that of the security officer. A new PIN is
typed twice. On a token with a keypad both are entered there.`,
		Example: "  approver hsm pin change --token approver --module /usr/lib/softhsm/libsofthsm2.so",
		Args:    uriArgument,
		RunE:    func(c *cobra.Command, args []string) error { return a.changePIN(c.Context(), &f, args) },
	}
	f.register(c)
	f.pin.register(c, "", "the present PIN", "pin-source of the URI, else typed")
	f.so.register(c, "so-", "the security officer's present PIN", "typed")
	f.next.register(c, "new-", "the new PIN", "typed twice")
	c.Flags().BoolVar(&f.forSO, "so", false, "the security officer's PIN")
	return c
}

func (a *app) changePIN(ctx context.Context, f *pinChangeFlags, args []string) error {
	switch user, so := f.pin.file != "" || f.pin.fd >= 0, f.so.file != "" || f.so.fd >= 0; {
	case f.forSO && user:
		return usage("with --so the present PIN comes from --so-pin-file or --so-pin-fd")
	case !f.forSO && so:
		return usage("--so-pin-file and --so-pin-fd go with --so")
	}
	if err := checkDescriptors(&f.pin, &f.so, &f.next); err != nil {
		return err
	}
	change := pinChange{tokenFlags: &f.tokenFlags, present: &f.pin, presentRole: hsm.UserPIN, next: &f.next, nextRole: hsm.NewUserPIN,
		whose: "user", login: (*hsm.Admin).Login, set: (*hsm.Admin).ChangePIN}
	if f.forSO {
		change.present, change.presentRole, change.nextRole = &f.so, hsm.SecurityOfficerPIN, hsm.NewSecurityOfficerPIN
		change.whose, change.login = "security officer", (*hsm.Admin).LoginSO
	}
	return a.setPIN(ctx, &change, args)
}

type pinUnlockFlags struct {
	tokenFlags
	so, next pinFlags
}

func (a *app) hsmPINUnlockCommand() *cobra.Command {
	var f pinUnlockFlags
	c := &cobra.Command{
		Use:   "unlock [URI]",
		Short: "Set the user's PIN as the security officer",
		Long: `unlock logs in as the security officer and gives the user another PIN: after the user's was locked or forgotten, and on a token
that has none yet. Keys stay as they are. A wrong PIN of the security officer counts too, and most tokens that lock it are lost.`,
		Example: "  approver hsm pin unlock --token approver --module /usr/lib/softhsm/libsofthsm2.so",
		Args:    uriArgument,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkDescriptors(&f.so, &f.next); err != nil {
				return err
			}
			return a.setPIN(c.Context(), &pinChange{tokenFlags: &f.tokenFlags, present: &f.so, presentRole: hsm.SecurityOfficerPIN, next: &f.next,
				nextRole: hsm.NewUserPIN, whose: "user", login: (*hsm.Admin).LoginSO, set: (*hsm.Admin).SetUserPIN}, args)
		},
	}
	f.register(c)
	f.so.register(c, "so-", "the security officer's PIN", "typed")
	f.next.register(c, "new-", "the user's new PIN", "typed twice")
	return c
}

// A pinChange is one PIN that is set: who logs in, with what, and what is set.
type pinChange struct {
	*tokenFlags
	present, next         *pinFlags
	presentRole, nextRole hsm.PINRole
	whose                 string
	login                 func(*hsm.Admin, context.Context, hsm.PINSource) error
	set                   func(*hsm.Admin, context.Context, hsm.PINSource) error
}

func (a *app) setPIN(ctx context.Context, p *pinChange, args []string) error {
	if err := p.check(); err != nil {
		return err
	}
	uri, err := a.tokenURI(p.tokenFlags, args)
	if err != nil {
		return err
	}
	t := a.terminal()
	defer t.close()
	fromURI := ""
	if p.presentRole == hsm.UserPIN {
		fromURI = uri.PINFile()
	}
	present, err := p.present.source(fromURI, t, p.presentRole)
	if err != nil {
		return err
	}
	next, err := p.next.source("", t, p.nextRole)
	if err != nil {
		return err
	}
	admin, err := a.openAdmin(ctx, p.tokenFlags, uri)
	if err != nil {
		return err
	}
	defer a.closeToken(admin)
	info := admin.Info()
	switch {
	case p.presentRole == hsm.UserPIN:
		a.tellToken(info, present, info.PIN.String())
	case p.nextRole == hsm.NewUserPIN:
		a.tellToken(info, nil, userPINState(info), soPINState(info)) // the question says how one of them stands
	default:
		a.tellToken(info, present, soPINState(info))
	}
	if err := p.login(admin, ctx, present); err != nil {
		return err
	}
	held, err := holdPIN(ctx, next, info, true)
	if err != nil {
		return err
	}
	defer held.wipe()
	if err := p.set(admin, ctx, held); err != nil {
		return err
	}
	return toldAnyway(a.tellPIN(info, p.whose), "the PIN was set")
}

// tellPIN says whose PIN is another one now.
func (a *app) tellPIN(info hsm.TokenInfo, whose string) error {
	if a.json {
		return a.printJSON(map[string]any{"pinSet": map[string]any{"whose": whose, "label": review.Escape(info.Label), "serial": review.Escape(info.Serial)}})
	}
	_, err := fmt.Fprintf(a.stdout, "the PIN of the %s of token %s, serial %s, was set\n", whose, review.Escape(info.Label), review.Escape(info.Serial))
	return written(err)
}
