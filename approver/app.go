package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// version names the release; it goes with review.ReleaseDate.
const version = "0.1.0"

// An app is the command as a function of its surroundings: streams, environment, clock, terminal and modules.
type app struct {
	stdout, stderr io.Writer
	stdoutClosed   bool // what is written to standard output goes nowhere
	getenv         func(string) string
	now            func() time.Time
	openTTY        func() (*os.File, error) // the controlling terminal, or an error where there is none
	loadModule     func(context.Context, hsm.ModuleFile) (hsm.Module, error)
	json           bool             // errors and reviews as JSON
	onScreen       bool             // the whole terminal is drawn on
	configPath     string           // of --config
	configured     *config.Settings // once they were read
}

func osApp() *app {
	return &app{
		stdout: os.Stdout, stdoutClosed: closed(1), stderr: os.Stderr, getenv: os.Getenv, now: time.Now, loadModule: loadModule,
		openTTY: func() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) },
	}
}

// run runs one command line and gives its exit status: 0 done, 1 refused or failed, 2 usage.
func run(ctx context.Context, a *app, args []string) int {
	help := &helpWriter{w: a.stdout}
	root := a.rootCommand()
	if completes(args) {
		prepareCompletion(root)
	}
	root.SetArgs(args)
	root.SetOut(help)
	root.SetErr(a.stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = help.err
	}
	if err == nil {
		return 0
	}
	usage := isUsage(err)
	a.json = a.json || usage && slices.Contains(args, "--json") // a wrong flag ends the reading before it
	a.report(command, err)
	if usage {
		return 2
	}
	return 1
}

// A helpWriter keeps the error of writing help texts, which cobra throws away.
type helpWriter struct {
	w   io.Writer
	err error
}

func (h *helpWriter) Write(b []byte) (int, error) {
	n, err := h.w.Write(b)
	if err != nil {
		h.err = wire.Errorf(wire.IOError, "", "%w", err)
	}
	return n, err
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "approver",
		Short: "Review and sign batches of destructive operations, offline",
		Long: `approver reads a batch scope from a file, recomputes its root, decodes every operation, and lets a person see
exactly what would run before a key on a token signs it, or not.

Start with 'approver demo', which does all of it on an embedded software token.`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print reviews and errors as JSON (ASCII)")
	root.PersistentFlags().StringVar(&a.configPath, "config", "", "configuration `FILE` (default: APPROVER_CONFIG, else approver/config.toml where XDG says)")
	strictValues(root.PersistentFlags())
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.batchCommand(), a.configCommand(), a.demoCommand(), a.kindsCommand(), completionCommand())
	root.AddCommand(a.hsmCommand())
	root.AddCommand(a.reviewCommand(), keepCommand())
	root.AddCommand(a.setCommand())
	root.AddCommand(a.logCommand())
	root.AddCommand(a.doctorCommand())
	root.SetHelpCommand(helpCommand())
	wrapHelp(root)
	return root
}

// helpCommand is cobra's, but for what there is no help on it ends with 2.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help on any command",
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usage("there is no command " + strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			topic.InitDefaultVersionFlag()
			return topic.Help()
		},
	}
}

// A usageError is a command line that does not hold together; it ends with status 2.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(text string) error { return &usageError{errors.New(text)} }

func isUsage(err error) bool {
	_, ok := errors.AsType[*usageError](err)
	return ok
}

// noArguments refuses arguments that are no flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasSubCommands() {
		return usage("there is no command " + strings.Join(args, " ") + didYouMean(c, args[0]))
	}
	return usage("unexpected argument " + strconv.Quote(args[0]) + ": files are named with flags, several in one flag with commas between")
}

// noSecretArguments is noArguments where what is typed may be a PIN: it is not repeated.
func noSecretArguments(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasSubCommands():
		return usage("there is no such command" + didYouMean(c, args[0]))
	}
	return usage("unexpected argument: what it takes is named with flags, and a PIN is never an argument")
}

// didYouMean names commands that a word may stand for: those of that name elsewhere, and those of c with a name like it.
func didYouMean(c *cobra.Command, word string) string {
	var paths []string
	for _, group := range c.Root().Commands() {
		for _, sub := range group.Commands() {
			if sub.Name() == word && sub.IsAvailableCommand() {
				paths = append(paths, "'"+sub.CommandPath()+"'")
			}
		}
	}
	for _, name := range c.SuggestionsFor(word) {
		paths = append(paths, "'"+c.CommandPath()+" "+name+"'")
	}
	if len(paths) == 0 {
		return ""
	}
	slices.Sort(paths)
	return ": is it " + strings.Join(slices.Compact(paths), " or ") + "?"
}

// strictFlags refuses what a shell makes of an unset variable or a line written twice: an empty value would drop the check it
// stands for, and of two values the last would win silently. Lists and switches may be repeated.
func strictFlags(c *cobra.Command) { strictValues(c.Flags()) }

func strictValues(s *pflag.FlagSet) {
	s.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "stringArray" {
			f.DefValue = "" // no "(default [])" in the help
		}
		if f.Value.Type() != "bool" {
			f.Value = &strictValue{Value: f.Value, once: f.Value.Type() != "stringArray"}
		}
	})
}

var (
	errTwice = errors.New("it is given twice")
	errEmpty = errors.New("it is empty")

	errZero    = errors.New("it is 0, as if it were not given")
	errDecimal = errors.New("it is not a number in plain digits")

	errTooLarge = errors.New("it is over 4294967295")
)

type strictValue struct {
	pflag.Value
	once, set bool
}

func (v *strictValue) Set(s string) error {
	switch {
	case v.once && v.set:
		return errTwice
	case s == "":
		return errEmpty
	case strings.Contains(v.Type(), "int") && !isDecimal(s):
		return errDecimal // 010 would be eight
	case strings.HasPrefix(v.Type(), "uint") && s == "0":
		return errZero
	}
	v.set = true
	return v.Value.Set(s)
}

// isDecimal tells whether s is digits without a leading zero.
func isDecimal(s string) bool {
	return strings.Trim(s, "0123456789") == "" && (s == "0" || s[0] != '0')
}

// flagError says what is wrong with a flag in our own words where the reason is ours.
func flagError(_ *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		for _, ours := range []error{errTwice, errEmpty, errZero, errDecimal, errTooLarge} {
			if errors.Is(err, ours) {
				return usage("--" + e.GetFlag().Name + ": " + ours.Error())
			}
		}
	}
	return &usageError{err}
}
