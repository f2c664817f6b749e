package main

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// settings gives the configuration, read once.
func (a *app) settings() (*config.Settings, error) {
	if a.configured != nil {
		return a.configured, nil
	}
	s, err := config.Load(a.configPath, a.getenv)
	if err != nil {
		return nil, err
	}
	if err := checkKeyURI(s); err != nil {
		return nil, err
	}
	a.configured = s
	return s, nil
}

// checkKeyURI refuses a configured pkcs11: URI that is none.
func checkKeyURI(s *config.Settings) error {
	key := s.Key
	if !key.IsSet() || !hsm.IsURI(key.Value) {
		return nil
	}
	if _, err := hsm.ParseURI(key.Value); err != nil { // it never repeats a value, which may be a PIN in the wrong place
		return wire.Errorf(wire.InvalidConfig, "", "%s: key: %s", key.Origin, wire.MessageOf(err)).With("key", "key")
	}
	return nil
}

// loadModule loads a PKCS#11 module. From here on one thing is done after the other: on one processor no call into the module
// and back has to wake a thread first.
func loadModule(ctx context.Context, f hsm.ModuleFile) (hsm.Module, error) {
	runtime.GOMAXPROCS(1)
	return f.Load(ctx)
}

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "What is configured, and where it comes from",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	show := &cobra.Command{
		Use:   "show",
		Short: "Show every setting and where it comes from, and check all of it",
		Long: `show reads the configuration as every other command does: the file that --config names, else APPROVER_CONFIG, else
approver/config.toml in XDG_CONFIG_HOME (or ~/.config), and the environment's own forms. It prints each setting with the place
it comes from, the approver set with its digest, epoch, thresholds and signatures, and the digest of the PKCS#11 module.

It ends with status 1 where anything does not hold together (INVALID_CONFIG).`,
		Example: "  approver config show\n  approver config show --config ./config.toml --json",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return a.showConfig() },
	}
	c.AddCommand(show)
	return c
}
