package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shells are those with a completion script, and how to write it.
var shells = []struct {
	name  string
	write func(root *cobra.Command, w io.Writer) error
}{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) }},
	{"zsh", func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) }},
}

func completionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "completion bash|fish|powershell|zsh",
		Short: "Print the completion script of a shell",
		Long: `completion prints the script that lets a shell complete commands, flags and files. The scripts of this release are in
docs/completions too. That of bash needs the package bash-completion.`,
		Example: `  source <(approver completion bash)
  approver completion zsh >"${fpath[1]}/_approver"
  approver completion fish >~/.config/fish/completions/approver.fish
  approver completion powershell | Out-String | Invoke-Expression`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name one shell: bash, fish, powershell or zsh")
			}
			for _, shell := range shells {
				if shell.name == args[0] {
					return shell.write(c.Root(), c.OutOrStdout())
				}
			}
			return usage("there is no completion script for " + args[0])
		},
	}
	for _, shell := range shells {
		c.ValidArgs = append(c.ValidArgs, shell.name)
	}
	return c
}

// A completer gives what a word may become.
type completer = cobra.CompletionFunc

// files completes names of files, only those with one of the endings where there are any.
func files(endings ...string) completer {
	directive := cobra.ShellCompDirectiveDefault
	if len(endings) > 0 {
		directive = cobra.ShellCompDirectiveFilterFileExt
	}
	return cobra.FixedCompletions(endings, directive)
}

var (
	nothing = cobra.NoFileCompletions
	folders = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
)

// byPlaceholder completes a value by what the help calls it: --scope FILE.
var byPlaceholder = map[string]completer{
	"FILE": files(), "SCOPE": files("json"), "FILES": files("json", "pub", "proof"), "PATH": files(), "SET": files("json"), "SIGNATURE": files("json", "binpb"), "DIR": folders, "KEY": completeKey,
	"KIND": completeKind, "COMMAND": completeCommand, "URI": completeURI, "TYPE": cobra.FixedCompletions([]string{"p256", "ed25519"}, cobra.ShellCompDirectiveNoFileComp),
	"TIME": nothing, "HEX": nothing, "ID": nothing, "NAME": nothing, "SUBJECT": nothing, "TEXT": nothing, "LABEL": nothing, "SERIAL": nothing, "N": nothing, "SEQ": nothing, "K": nothing,
	"int": nothing, "duration": nothing, "SIZE:K,...": nothing,
}

// byName completes the flags of which more is known.
var byName = map[string]completer{
	"scope": files("json"), "approvers": files("json", "pub"), "pub": files("pub", "pem"), "module": files("so"),
	"kinds": files("toml"), "config": files("toml"), "out": files(),
}

// completes tells whether a command line is the question of a completion script.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// prepareCompletion makes a tree of commands ready for such a question: every flag and argument has its completion. The
// command line that is asked about is read more than once and is not yet whole, so its flags are not strict.
func prepareCompletion(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	prepareBelow(root)
}

func prepareBelow(c *cobra.Command) {
	if c.ValidArgs == nil && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = completerOf("", argument(c))
	}
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { prepareFlag(c, f) })
	}
	for _, sub := range c.Commands() {
		prepareBelow(sub)
	}
}

func prepareFlag(c *cobra.Command, f *pflag.Flag) {
	placeholder, description := pflag.UnquoteUsage(f)
	f.Usage = description
	if strict, ok := f.Value.(*strictValue); ok {
		f.Value = strict.Value
	}
	if f.Value.Type() != "bool" {
		c.RegisterFlagCompletionFunc(f.Name, completerOf(f.Name, placeholder)) // an error would say that it has one
	}
}

// argument gives the first word of a command's use that is no flag, without dots, or "".
func argument(c *cobra.Command) string {
	words := strings.Fields(c.Use)
	if len(words) < 2 || strings.HasPrefix(strings.Trim(words[1], "["), "-") {
		return ""
	}
	return strings.Trim(words[1], "[].")
}

// completerOf finds the completion of a flag, else of its placeholder. What is not known completes to nothing.
func completerOf(name, placeholder string) completer {
	if complete, ok := byName[name]; ok {
		return complete
	}
	if complete, ok := byPlaceholder[placeholder]; ok {
		return complete
	}
	return nothing
}

const beginningOfURI = "pkcs11:token="

// completeKey completes a key file, or the beginning of a URI.
func completeKey(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if word != "" && strings.HasPrefix(beginningOfURI, word) {
		return []cobra.Completion{beginningOfURI}, cobra.ShellCompDirectiveNoSpace
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// completeURI completes the beginning of a URI, where no file can stand.
func completeURI(_ *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(given) == 0 && strings.HasPrefix(beginningOfURI, word) {
		return []cobra.Completion{beginningOfURI}, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeCommand completes the names of commands, one below the other.
func completeCommand(c *cobra.Command, words []string, word string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	topic, rest, err := c.Root().Find(words)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range topic.Commands() {
		if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), word) {
			names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeKind completes the names of kinds, those of --kinds among them where that file can be read.
func completeKind(c *cobra.Command, _ []string, word string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	path := ""
	if f := c.Flags().Lookup("kinds"); f != nil {
		path = f.Value.String()
	}
	read, err := readKinds(path)
	if err != nil {
		read, _ = readKinds("")
	}
	for _, k := range read.table.Kinds() {
		if strings.HasPrefix(k.Name(), word) {
			names = append(names, k.Name())
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
