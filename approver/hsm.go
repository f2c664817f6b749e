package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

func (a *app) hsmCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "hsm",
		Short: "Make tokens ready, and look at what is on them",
		Long: `hsm is what a security officer does with a PKCS#11 token: find its module, see what is on it, initialise it, make a key on
it, check that key, and look after its PINs.

The module is the one of --module, of module-path in a pkcs11: URI, or of the configuration, whose digest it must have. A PIN is
typed, or comes from a private file or an inherited descriptor; it is never an argument. What destroys something asks for
words on the terminal, which no flag answers.`,
		Args: noSecretArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{a.hsmModulesCommand(), a.hsmProbeCommand(), a.hsmListCommand(), a.hsmInitCommand(), a.hsmKeygenCommand(),
		a.hsmImportCommand(), a.hsmCheckCommand(), a.hsmDeleteCommand()} {
		strictFlags(sub)
		c.AddCommand(sub)
	}
	c.AddCommand(a.hsmPINCommand())
	return c
}

// moduleFlags name the module that reaches tokens.
type moduleFlags struct {
	module  string
	timeout time.Duration
}

func (f *moduleFlags) register(c *cobra.Command, otherwise string) {
	c.Flags().StringVar(&f.module, "module", "", "PKCS#11 module, an absolute `PATH` (default: "+otherwise+")")
	c.Flags().DurationVar(&f.timeout, "timeout", 60*time.Second, "longest time for each call of the module")
}

func (f *moduleFlags) check() error {
	if f.timeout <= 0 {
		return usage("--timeout is a time above zero, as in 60s")
	}
	return nil
}

// tokenFlags name a token: a pkcs11: URI, or --token and --serial.
type tokenFlags struct {
	moduleFlags
	token, serial string
	allowFinalTry bool
}

func (f *tokenFlags) register(c *cobra.Command) {
	f.moduleFlags.register(c, "module-path of the URI, else the configured one")
	f.registerNames(c)
	f.registerFinalTry(c)
}

func (f *tokenFlags) registerNames(c *cobra.Command) {
	c.Flags().StringVar(&f.token, "token", "", "`LABEL` of the token")
	c.Flags().StringVar(&f.serial, "serial", "", "`SERIAL` number of the token")
}

func (f *tokenFlags) registerFinalTry(c *cobra.Command) {
	c.Flags().BoolVar(&f.allowFinalTry, "allow-final-try", false, "log in even where one more wrong PIN locks the token")
}

// uriArgument takes one pkcs11: URI or none. What is no URI may be a PIN, and is not repeated.
func uriArgument(_ *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && !hsm.IsURI(args[0]) {
		return usage("the one argument is a pkcs11: URI (RFC 7512)")
	}
	return nil
}

// keyArgument takes the pkcs11: URI of a key.
func keyArgument(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("the pkcs11: URI of the key is missing; 'approver hsm list' prints it")
	}
	return uriArgument(c, args)
}

// parseURI reads a URI and says what is odd about it.
func (a *app) parseURI(text string) (hsm.URI, error) {
	u, err := hsm.ParseURI(text)
	a.warn(u.Warnings()...)
	return u, err
}

// tokenURI gives the URI of the token that the argument names, or --token and --serial.
func (a *app) tokenURI(f *tokenFlags, args []string) (hsm.URI, error) {
	switch named := f.token != "" || f.serial != ""; {
	case len(args) == 1 && named:
		return hsm.URI{}, usage("the token is named by a pkcs11: URI, or by --token and --serial")
	case len(args) == 1:
		return a.parseURI(args[0])
	case !named:
		return hsm.URI{}, usage("no token is named: --token LABEL, --serial SERIAL, or a pkcs11: URI")
	}
	return hsm.TokenURI(f.token, f.serial)
}

// settleModule gives the module that the flag, the URI or the configuration names, its path "" where none does, with the digest
// that it must have, or nil. That digest was looked at.
func (a *app) settleModule(f moduleFlags, fromURI string) (m hsm.ModuleFile, err error) {
	said, path := "--module", f.module
	switch {
	case path != "" && fromURI != "" && path != fromURI:
		return m, usage("--module and the URI's module-path differ")
	case path == "":
		said, path = "the URI's module-path", fromURI
	}
	s, err := a.settings()
	if err != nil {
		return m, err
	}
	m.Timeout = f.timeout
	if m.Path, m.SHA256, err = s.TightenModule(said, path); err != nil || m.SHA256 == nil {
		return m, err
	}
	return m, s.CheckModule()
}

// openModule loads the module that the flag, the URI or the configuration names.
func (a *app) openModule(ctx context.Context, f moduleFlags, fromURI string) (path string, m hsm.Module, err error) {
	file, err := a.settleModule(f, fromURI)
	if err != nil {
		return "", nil, err
	}
	if file.Path == "" {
		return "", nil, usage("--module is missing; 'approver hsm modules' lists those that work")
	}
	m, err = a.load(ctx, file)
	return file.Path, m, err
}

// openAdmin opens a token to change it. Close what it gives with closeToken.
func (a *app) openAdmin(ctx context.Context, f *tokenFlags, u hsm.URI) (*hsm.Admin, error) {
	_, m, err := a.openModule(ctx, f.moduleFlags, u.ModulePath())
	if err != nil {
		return nil, err
	}
	return hsm.OpenAdmin(ctx, m, hsm.TokenOptions{URI: u, Timeout: f.timeout, AllowFinalTry: f.allowFinalTry})
}

// closeToken logs out and leaves the module. Its error is told, since a token may be left logged in.
func (a *app) closeToken(t interface{ Close() error }) {
	if err := t.Close(); err != nil {
		for trouble := range strings.SplitSeq(err.Error(), "\n") {
			a.warn("leaving the token: " + trouble)
		}
	}
}

// toldAnyway says of what could not be told on standard output that it was done: nobody shall do it twice.
func toldAnyway(err error, done string) error {
	if err == nil {
		return nil
	}
	return wire.Errorf(wire.IOError, "", "%s; %s all the same", wire.MessageOf(err), done)
}
