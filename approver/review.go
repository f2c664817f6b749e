package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/tui"
)

// screenFlags are what a scope or a change is held against on the screen, and what signs it.
type screenFlags struct {
	decision
	current, watch     string
	signatures, proofs []string
	names              []string
	plain              bool
}

func (a *app) reviewCommand() *cobra.Command {
	var f screenFlags
	c := &cobra.Command{
		Use:   "review [SCOPE | APPROVER-SET CHANGE]",
		Short: "Review on the screen, then sign or decline",
		Long: `review shows a scope, or a change of the approver set, on the whole terminal: what it does, to what, and what speaks against
it. Once every operation and every finding to acknowledge has been opened, it asks for the number of operations and two words
of the root, and then for the PIN. What it signs goes down the same road as 'batch sign', 'batch decline' and
'batch sign-approvers', by the same flags and configuration.

A change is an approver set file, or a signature that another approver made over one. Without a file it lists what lies on
the media that are plugged in, with a folder what lies in that; --watch waits for a stick. A scope can be read without a key.

The signature goes to --out; without it to standard output where that is no terminal, else beside the file, named after it
and the key. With --plain the same review and questions come as lines of text, part by part, as a screen reader wants them.
Without a terminal the review is printed, and nothing is signed.`,
		Example: `  approver review scope.json --key alice.pem --trust-domain compute.example.com
  approver review --watch /media --key 'pkcs11:token=approver;object=k256' --module /usr/lib/softhsm/libsofthsm2.so
  approver review --plain next.json --key alice.pem --current set.json --trust-domain compute.example.com`,
		Args: atMostOneFile,
		RunE: func(c *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			return a.reviewOnScreen(c.Context(), &f, path)
		},
	}
	f.command, f.outcome = "review", ledger.Signed
	f.reviewFlags.registerPolicy(c)
	f.signatureFlags.registerKey(c)
	s := c.Flags()
	s.StringVar(&f.out, "out", "", "write the signature to `FILE`; nothing is overwritten")
	s.StringVar(&f.current, "current", "", "of a change, `FILE` of the set in force now, or a signature over it (default: the configured set)")
	s.StringArrayVar(&f.signatures, "signature", nil, "of a change, `FILES` of signatures that others made for it, comma-separated")
	s.StringArrayVar(&f.proofs, "proof", nil, "of a change, `FILE` that proves one of its keys")
	s.StringArrayVar(&f.names, "names", nil, "of a change, `FILES`, .pub files or folders of them, by whose names keys are called, comma-separated")
	s.StringVar(&f.watch, "watch", "", "wait until `DIR`, or a folder right below it, has a file to review")
	s.BoolVar(&f.plain, "plain", false, "lines of text and questions, no screen")
	strictFlags(c)
	return c
}

func atMostOneFile(_ *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] == "" {
		return usage("at most one file is wanted, a scope or a change of the approver set")
	}
	return nil
}

// reviewOnScreen runs the screen, or what stands for it.
func (a *app) reviewOnScreen(ctx context.Context, f *screenFlags, path string) (err error) {
	if path != "" && f.watch != "" {
		return usage("--watch waits for a file; leave out " + review.Escape(path).String())
	}
	if err := f.signatureFlags.check(a, ""); err != nil {
		return err
	}
	r := &road{app: a, flags: f}
	if f.ticks, err = a.ticking(f.now); err != nil {
		return err
	}
	defer func() { r.end(&err) }()
	t := a.terminal()
	defer t.close()
	switch {
	case t == nil:
		return r.plain(ctx, path, nil)
	case a.json:
		return usage("--json is for programs: it goes with 'batch show', or with review where there is no terminal")
	case f.plain || a.getenv("TERM") == "dumb":
		return r.plain(ctx, path, t)
	}
	return r.screen(ctx, path, t.tty)
}

// screen runs the program on the whole terminal.
func (r *road) screen(ctx context.Context, path string, tty *os.File) error {
	a := r.app
	model := tui.New(tui.Config{Road: r.functions(), Now: r.flags.ticks, Theme: tui.NewTheme(lipgloss.NewRenderer(tty))},
		startAt(path, r.flags.watch))
	kept := a.keepTerminal(tty)
	_, err := tui.Run(ctx, model, tty)
	kept.release()
	r.wait()
	switch {
	case r.signed != nil: // also where the screen ended before it could say so
		return a.tellSigned(r.signed, &r.written, r.memory)
	case r.lost != nil:
		return r.lost
	case ctx.Err() != nil:
		err = errInterrupted
	}
	return r.leaving(err)
}

// startAt gives what the screen begins with.
func startAt(path, watch string) tui.Start {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return tui.Start{Folder: filepath.Clean(path)}
	}
	return tui.Start{Path: path, Watch: watch}
}

// ticking gives the clock of whoever reads: the machine's, or one that goes on from the time that is given by hand.
func (a *app) ticking(given string) (func() time.Time, error) {
	start, err := a.clock(given)
	if err != nil || !start.ByHand {
		return a.now, err
	}
	begun := a.now()
	return func() time.Time { return start.Now.Add(passed(begun, a.now())) }, nil
}

// passed gives how much time passed. The monotonic clock stands still while a laptop sleeps, and the other one may be set back: the
// longer of the two counts.
func passed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

var errInterrupted = wire.Errorf(wire.InvalidState, "not-confirmed", "interrupted")
