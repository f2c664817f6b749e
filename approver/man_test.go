//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/review"
)

// The man pages are made here and not by the command: what is needed only when a release is made is not carried along. Each
// page says what --help says, in the order of man-pages(7).

const manFolder = "../docs/man"

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// roff writes a text so that it is read as it stands: hyphens stay what a shell takes, and no line is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return regexp.MustCompile(`(?m)^[.']`).ReplaceAllString(text, `\&$0`)
}

// A manPage is written section by section.
type manPage struct{ strings.Builder }

func (p *manPage) section(title string) { p.WriteString(".SH " + title + "\n") }
func (p *manPage) line(text string)     { p.WriteString(roff(text) + "\n") }

// verbatim keeps the lines of a text as they are.
func (p *manPage) verbatim(text string) {
	p.WriteString(".EX\n")
	p.line(text)
	p.WriteString(".EE\n")
}

// paragraphs writes a text as prose; an indented part of it keeps its lines.
func (p *manPage) paragraphs(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			p.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, " ") {
			p.verbatim(paragraph)
		} else {
			p.line(paragraph)
		}
	}
}

// item writes a name, and below it what it is.
func (p *manPage) item(name, what string) {
	p.WriteString(".TP\n" + name + "\n")
	p.line(what)
}

// flag writes a flag as the help does: its value by name, and its default after the description.
func (p *manPage) flag(f *pflag.Flag) {
	value, what := pflag.UnquoteUsage(f)
	name := `\fB` + roff("--"+f.Name) + `\fP`
	if f.Shorthand != "" {
		name = `\fB` + roff("-"+f.Shorthand) + `\fP, ` + name
	}
	if value != "" {
		name += ` \fI` + roff(value) + `\fP`
	}
	if !slices.Contains([]string{"", "[]", "0", "-1", "false"}, f.DefValue) {
		what += " (default " + f.DefValue + ")"
	}
	p.item(name, what)
}

func renderManPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var p manPage
	fmt.Fprintf(&p, ".TH %s 1 %s \"approver %s\" \"approver manual\"\n", strings.ToUpper(roff(manName(c))), review.ReleaseDate.Format("2006-01-02"), version)
	p.section("NAME")
	p.line(manName(c) + " - " + c.Short)
	p.section("SYNOPSIS")
	p.WriteString(`\fB` + roff(c.CommandPath()) + `\fP` + roff(strings.TrimPrefix(c.UseLine(), c.CommandPath())) + "\n")
	p.section("DESCRIPTION")
	p.paragraphs(c.Long)
	var related []string
	if c.HasParent() {
		related = append(related, manName(c.Parent()))
	}
	if c.HasAvailableSubCommands() {
		p.section("COMMANDS")
		for _, sub := range c.Commands() {
			if sub.Name() != "help" {
				p.item(`\fB`+roff(sub.Name())+`\fP`, sub.Short)
				related = append(related, manName(sub))
			}
		}
	}
	p.section("OPTIONS")
	c.LocalFlags().VisitAll(p.flag)
	c.InheritedFlags().VisitAll(p.flag)
	if c.Example != "" {
		p.section("EXAMPLES")
		p.verbatim(c.Example)
	}
	p.closing(related)
	return p.String()
}

// environment is what commands read from it.
var environment = [][2]string{
	{passphraseVariable, "passphrase of key files, where it is not typed"},
	{config.PathVariable, "configuration file, where --config does not name one"},
	{"XDG_CONFIG_HOME", "folder in which approver/config.toml is looked for, instead of .config in HOME"},
	{"XDG_STATE_HOME", "folder in which approver, the folder of the ledger, is, instead of .local/state in HOME"},
	{"BETTER_COMPUTE_APPROVER_KEYS", "public key files of the approver set, beside or instead of pki.approvers in the configuration"},
	{"BETTER_COMPUTE_APPROVER_THRESHOLD", "threshold of that approver set, for batches of any size"},
	{"BETTER_COMPUTE_APPROVER_SET_SIGNATURES", "signatures of the approver set"},
	{"BETTER_COMPUTE_UNBATCHED_PER_HOUR", "destructive operations that need no batch, for each hour"},
	{"BETTER_COMPUTE_TRUST_VERSION", "lowest version of trust that is accepted"},
}

// Every variable that the source names is one that the pages have.
func TestManPagesHaveTheEnvironment(t *testing.T) {
	var named, have []string
	for _, v := range environment {
		have = append(have, v[0])
	}
	literal := regexp.MustCompile(`"((?:BETTER_COMPUTE|APPROVER|XDG)_[A-Z_]+)"`)
	for _, folder := range []string{".", "../core", "../scope", "../hsm"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, found := range literal.FindAllStringSubmatch(string(source), -1) {
				named = append(named, found[1])
			}
			return err
		}))
	}
	slices.Sort(named)
	require.ElementsMatch(t, slices.Compact(named), have)
}

// closing writes what is so for every command.
func (p *manPage) closing(related []string) {
	p.section("EXIT STATUS")
	p.line("0 where it is done, 1 where it was refused or failed, 2 where the command line does not hold together.\n" +
		"What was refused is told on standard error as CODE: message, or as one JSON object with --json.")
	p.section("ENVIRONMENT")
	for _, v := range environment {
		p.item(`\fB`+v[0]+`\fP`, v[1])
	}
	p.section("SEE ALSO")
	for i, name := range related {
		related[i] = `\fB` + roff(name) + `\fP(1)`
	}
	p.WriteString(strings.Join(related, ",\n") + "\n")
}

// manPages gives every page by the name of its file.
func manPages() map[string]string {
	pages := map[string]string{}
	for _, c := range commands() {
		if c.Name() != "help" {
			pages[manName(c)+".1"] = renderManPage(c)
		}
	}
	return pages
}

// The pages in docs/man are those of the commands.
func TestManPages(t *testing.T) {
	pages := manPages()
	require.Greater(t, len(pages), 5)
	for name, page := range pages {
		path := filepath.Join(manFolder, name)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
		}
		have, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(have), page, "go test ./approver -run Man -update")
	}
	entries, err := os.ReadDir(manFolder)
	require.NoError(t, err)
	for _, e := range entries {
		require.Contains(t, pages, e.Name(), "a page of no command")
	}
}

// Two formatters find nothing to say about a page, and what it shows is every flag of the command with what it is.
func TestManPagesAreSound(t *testing.T) {
	overstruck := regexp.MustCompile(".\b")
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, c := range commands() {
		if c.Name() == "help" {
			continue
		}
		path := filepath.Join(manFolder, manName(c)+".1")
		for _, check := range [][]string{{"groff", "-man", "-ww", "-z", "-Tutf8"}, {"mandoc", "-Tlint", "-Wwarning"}} {
			out, err := exec.Command(check[0], append(check[1:], path)...).CombinedOutput()
			require.NoError(t, err, "%q: %s", check, out)
			require.Empty(t, string(out), "%q", check)
		}
		shown, err := exec.Command("mandoc", "-Tutf8", "-O", "width=1000", path).Output()
		require.NoError(t, err)
		text := overstruck.ReplaceAllString(string(shown), "")
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"} {
			require.Regexp(t, `(?m)^`+section+`$`, text, path)
		}
		require.NotContains(t, text, "\u2010", "a hyphen that no shell takes")
		require.Contains(t, words(text), words(c.Long), path)
		require.Contains(t, words(text), words(c.Example), path)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			value, what := pflag.UnquoteUsage(f)
			require.Contains(t, words(text), words("--"+f.Name+" "+value+" "+what), path)
		})
	}
}
