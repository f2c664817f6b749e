package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

func (a *app) hsmModulesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "modules",
		Short: "List the PKCS#11 modules of this machine, and which of them work",
		Long: `modules looks for PKCS#11 modules in the well-known places and in what p11-kit is configured for, and tries each in a process
of its own: one that crashes or hangs is a row like any other. It prints the path, where it stands, what the library calls
itself, how many tokens it shows, and ok or what went wrong, in the dynamic linker's own words.

To try a module is to run its code. The configured module is tried only where it has its digest.`,
		Example: "  approver hsm modules",
		Args:    noSecretArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listModules(c.Context()) },
	}
}

// hsmProbeCommand is what modules are tried in.
func (a *app) hsmProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "probe PATH",
		Short:  "Try a PKCS#11 module, and answer on descriptor 3",
		Long:   "probe is what 'approver hsm modules' runs for each module.",
		Hidden: true,
		Args:   oneArgument("PATH"),
		RunE:   func(c *cobra.Command, args []string) error { return hsm.AnswerProbe(c.Context(), args[0]) },
	}
}

// A moduleRow is a module that was looked for and tried.
type moduleRow struct {
	Path         review.Text   `json:"path"`
	From         review.Text   `json:"from"` // well-known, configuration, or p11-kit's file
	Name         review.Text   `json:"name,omitzero"`
	Priority     int           `json:"priority"`
	EnableIn     []review.Text `json:"enableIn,omitempty"`
	DisableIn    []review.Text `json:"disableIn,omitempty"`
	OK           bool          `json:"ok"`
	Library      review.Text   `json:"library,omitzero"`
	Manufacturer review.Text   `json:"manufacturer,omitzero"`
	Version      review.Text   `json:"version,omitzero"`
	Tokens       int           `json:"tokens"`
	Trouble      review.Text   `json:"trouble,omitzero"`

	path string // as it is, for whoever loads it
}

func (a *app) listModules(ctx context.Context) error {
	rows, err := a.findModules(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Modules []moduleRow `json:"modules"`
		}{rows})
	}
	var b strings.Builder
	for _, r := range rows {
		r.draw(&b)
	}
	if len(rows) == 0 {
		b.WriteString("no PKCS#11 module was found; name one with --module\n")
	}
	_, err = io.WriteString(a.stdout, b.String())
	return written(err)
}

// draw writes a module on two lines or more: whether it works and its path, what it is or what is wrong, and where it stands.
func (r moduleRow) draw(b *strings.Builder) {
	state, what := "ok", ""
	switch {
	case !r.OK:
		state, what = "fails", r.Trouble.String()
	case r.Tokens == 1:
		what = r.Library.String() + " " + r.Version.String() + ", 1 token"
	default:
		what = fmt.Sprintf("%s %s, %d tokens", r.Library, r.Version, r.Tokens)
	}
	indent := strings.Repeat(" ", len("fails  "))
	fmt.Fprintf(b, "%-5s  %s\n", state, dash(r.Path)) // a path is copied, and never broken
	b.WriteString(drawRow(widestRow, indent, what))
	if r.From.String() != "well-known" {
		fmt.Fprintf(b, "%sfrom %s\n", indent, r.From)
	}
}

func dash(t review.Text) string {
	if t.String() == "" {
		return "-"
	}
	return t.String()
}

// findModules looks for modules and tries each: the configured one first, then what the machine has.
func (a *app) findModules(ctx context.Context) (rows []moduleRow, err error) {
	command, err := probeCommand()
	if err != nil {
		return nil, err
	}
	candidates := hsm.FindModules()
	own, pinErr := a.settleModule(moduleFlags{}, "")
	if own.Path != "" {
		candidates = slices.DeleteFunc(candidates, func(c hsm.Candidate) bool { return sameFile(c.Path, own.Path) })
		configured := hsm.Candidate{Path: own.Path, From: "configuration"}
		if pinErr != nil { // its code must not run
			configured.Trouble = wire.MessageOf(pinErr)
		}
		candidates = slices.Insert(candidates, 0, configured)
	} else if pinErr != nil {
		return nil, pinErr
	}
	rows = []moduleRow{}
	for _, c := range candidates {
		row := moduleRow{Path: review.Escape(c.Path), From: review.Escape(c.From), Name: review.Escape(c.Name), Priority: c.Priority,
			EnableIn: escapedPaths(c.EnableIn), DisableIn: escapedPaths(c.DisableIn), Trouble: review.Escape(c.Trouble), path: c.Path}
		if err := refuseSpy(c.Path); err != nil && c.Trouble == "" {
			row.Trouble = review.Escape(wire.MessageOf(err))
		} else if c.Trouble == "" {
			row.take(hsm.ProbeModule(ctx, command, c.Path, 0))
		}
		rows = append(rows, row)
		if ctx.Err() != nil {
			return nil, wire.Errorf(wire.InvalidState, "not-confirmed", "interrupted")
		}
	}
	return rows, nil
}

// take takes what a module said when it was tried.
func (r *moduleRow) take(p hsm.Probe) {
	r.OK, r.Tokens, r.Trouble = p.OK(), p.Tokens, review.Escape(p.Trouble)
	r.Library, r.Manufacturer, r.Version = review.Escape(p.Library), review.Escape(p.Manufacturer), review.Escape(p.Version)
}

// probeCommand is our own program, which tries a module apart from this process.
func probeCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, written(err)
	}
	return []string{self, "hsm", "probe"}, nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
