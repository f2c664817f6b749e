package main

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

type listFlags struct {
	tokenFlags
	pin   pinFlags
	login bool
}

func (a *app) hsmListCommand() *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List tokens and what is on them",
		Long: `list prints the slots of a module and each token in them with its label, serial, model, versions and PIN state in words, and
its keys and certificates with type, id, label, kid and the pkcs11: URI to copy. Without --module and configuration it goes
through every module that 'approver hsm modules' finds to work, but for p11-kit's proxy, which shows the same tokens again.

Private keys show only after a login: --login logs in to the one token that is listed, by a module that --module or the
configuration names: a library that was only found gets no PIN.`,
		Example: "  approver hsm list\n  approver hsm list --module /usr/lib/softhsm/libsofthsm2.so --token approver --login",
		Args:    noSecretArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return a.hsmList(c.Context(), &f) },
	}
	f.moduleFlags.register(c, "the configured one, else each that is found")
	f.registerNames(c)
	f.registerFinalTry(c)
	f.pin.register(c, "", "the PIN", "typed, with --login")
	c.Flags().BoolVar(&f.login, "login", false, "log in, to see private keys too")
	return c
}

func (a *app) hsmList(ctx context.Context, f *listFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if !f.login && (f.pin.file != "" || f.pin.fd >= 0 || f.allowFinalTry) {
		return usage("--pin-file, --pin-fd and --allow-final-try go with --login")
	}
	t := a.terminal()
	defer t.close()
	pin, err := f.pin.source("", t, hsm.UserPIN)
	if err != nil {
		return err
	}
	listed, err := a.listedModules(ctx, f)
	if err != nil {
		return err
	}
	if f.login {
		if err := oneToken(listed); err != nil {
			return err
		}
	}
	for _, m := range listed {
		for i := range m.Slots {
			if slot := &m.Slots[i]; slot.Token != nil && slot.Token.Initialized {
				if err := a.listObjects(ctx, f, m.module, slot, pin); err != nil {
					return err
				}
			}
		}
	}
	return a.printListed(listed, f)
}

// listedModules goes through the named module, or every one that works, and reads their slots.
func (a *app) listedModules(ctx context.Context, f *listFlags) (listed []*listedModule, err error) {
	file, err := a.settleModule(f.moduleFlags, "")
	if err != nil {
		return nil, err
	}
	if file.Path != "" {
		module, err := a.load(ctx, file)
		if err != nil {
			return nil, err
		}
		m, err := listModule(ctx, f, file.Path, module)
		return []*listedModule{m}, err
	}
	if f.login { // every module that is loaded could read the PIN
		return nil, usage("--login wants one module: --module, or the configured one; 'approver hsm modules' lists them")
	}
	rows, err := a.findModules(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if strings.HasPrefix(filepath.Base(row.path), "p11-kit-proxy.") {
			continue
		}
		m := &listedModule{Path: row.Path, Trouble: row.Trouble, Slots: []listedSlot{}}
		if row.OK {
			if m, err = a.listFound(ctx, f, row); err != nil {
				return nil, err
			}
		}
		listed = append(listed, m)
	}
	return listed, nil
}

// listFound reads a module that worked when it was tried. One that does not any more is listed with its trouble.
func (a *app) listFound(ctx context.Context, f *listFlags, row moduleRow) (*listedModule, error) {
	module, err := a.load(ctx, hsm.ModuleFile{Path: row.path, Timeout: f.timeout})
	if err == nil {
		var m *listedModule
		if m, err = listModule(ctx, f, row.path, module); err == nil {
			return m, nil
		}
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return &listedModule{Path: row.Path, Trouble: review.Escape(wire.MessageOf(err)), Slots: []listedSlot{}}, nil
}

func listModule(ctx context.Context, f *listFlags, path string, m hsm.Module) (*listedModule, error) {
	inventory, err := hsm.ListSlots(ctx, m, f.timeout)
	if err != nil {
		return nil, err
	}
	out := &listedModule{Path: review.Escape(path), Library: newListedLibrary(inventory.Library), Slots: []listedSlot{}, module: m}
	for _, s := range inventory.Slots {
		if named := f.token != "" || f.serial != ""; named && (s.Trouble != nil || f.token != "" && s.Token.Label != f.token || f.serial != "" && s.Token.Serial != f.serial) {
			continue
		}
		out.Slots = append(out.Slots, newListedSlot(s))
	}
	return out, nil
}

// oneToken wants one token to log in to: a PIN that is tried on another token costs that one a try.
func oneToken(listed []*listedModule) error {
	var tokens []map[string]string
	for _, m := range listed {
		for _, s := range m.Slots {
			if s.Token != nil && s.Token.Initialized {
				tokens = append(tokens, map[string]string{"label": s.info.Label, "serial": s.info.Serial, "model": s.info.Model})
			}
		}
	}
	switch len(tokens) {
	case 0:
		return wire.Errorf(wire.KeyUnavailable, "token-not-found", "there is no such token to log in to")
	case 1:
		return nil
	}
	return wire.Errorf(wire.KeyUnavailable, "ambiguous", "there are %d tokens to log in to; no login was tried: seen %s", len(tokens), listTokens(tokens)).With("tokens", tokens)
}

func listTokens(tokens []map[string]string) (list string) {
	for i, t := range tokens {
		if i > 0 {
			list += ", "
		}
		list += "label " + quoteOrBlank(t["label"]) + " serial " + quoteOrBlank(t["serial"])
	}
	if list == "" {
		return "none"
	}
	return list
}

func quoteOrBlank(s string) string {
	if s == "" {
		return "(blank)"
	}
	return strconv.Quote(s)
}

// listObjects reads what is on a token, after a login where one was asked for.
func (a *app) listObjects(ctx context.Context, f *listFlags, m hsm.Module, slot *listedSlot, pin hsm.PINSource) error {
	t, err := hsm.OpenToken(ctx, m, hsm.TokenOptions{URI: slot.info.SlotURI(), Timeout: f.timeout, AllowFinalTry: f.allowFinalTry})
	if err == nil {
		defer a.closeToken(t)
		if f.login {
			a.tellToken(t.Info(), pin, t.Info().PIN.String())
			if err := t.Login(ctx, pin); err != nil {
				return err
			}
		}
		var objects []hsm.KeyObject
		if objects, err = t.Objects(ctx); err == nil {
			for _, o := range objects {
				slot.Token.Objects = append(slot.Token.Objects, newListedObject(o))
			}
			return nil
		}
	}
	if f.login || ctx.Err() != nil {
		return err
	}
	slot.Trouble = review.Escape(wire.MessageOf(err)) // the other tokens are listed all the same
	return nil
}
