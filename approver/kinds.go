package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

func (a *app) kindsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "kinds",
		Short: "Look at the kinds of operations, and check an installation's own",
		Long: `A kind says what a payload is and what it does to a machine. The built-in ones are always there; an installation adds its
own with a table of kinds (TOML) and the FileDescriptorSet that protoc writes of their messages.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{a.kindsListCommand(), a.kindsShowCommand(), a.kindsCheckCommand()} {
		strictFlags(sub)
		c.AddCommand(sub)
	}
	return c
}

// oneArgument wants exactly one argument, of that name.
func oneArgument(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usage("one " + name + " is wanted")
		}
		return nil
	}
}

func (a *app) kindsListCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "list [--kinds FILE]",
		Short: "List the kinds",
		Long: `list prints every kind with its message, whether it is destructive, the subjects it takes, the roles that run it, and where it
comes from: built-in ones, and those of --kinds or of the configured table.`,
		Example: "  approver kinds list --kinds kinds.toml",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			read, err := a.kindTable(path)
			if err != nil {
				return err
			}
			return a.listKinds(read.table, read.path)
		},
	}
	registerKinds(c, &path)
	return c
}

func (a *app) kindsShowCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:     "show KIND [--kinds FILE]",
		Short:   "Show what the payload of a kind holds",
		Long:    "show prints the message of a kind and every message and enum within, as a .proto file declares them. Kinds are\nthose that list prints.",
		Example: "  approver kinds show node.reimage",
		Args:    oneArgument("KIND"),
		RunE: func(_ *cobra.Command, args []string) error {
			read, err := a.kindTable(path)
			if err != nil {
				return err
			}
			k := read.table.Lookup([]byte(args[0]))
			if k == nil {
				return wire.Errorf(wire.NotFound, "", "there is no kind %q; 'approver kinds list' prints those there are", args[0])
			}
			return a.showKind(k, read.path)
		},
	}
	registerKinds(c, &path)
	return c
}

func (a *app) kindsCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Check an installation's table of kinds",
		Long:    "check reads a table of kinds and the descriptor set it names, and says what they hold or what is wrong with them.",
		Example: "  approver kinds check kinds.toml",
		Args:    oneArgument("FILE"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.checkKinds(args[0]) },
	}
}

// A kindJSON is a kind in what the commands print with --json.
type kindJSON struct {
	Kind        review.Text   `json:"kind"`
	TypeURL     review.Text   `json:"typeUrl"`
	Message     review.Text   `json:"message"`
	Destructive bool          `json:"destructive"`
	SubjectForm string        `json:"subjectForm"`
	Roles       []kinds.Role  `json:"roles"`
	Builtin     bool          `json:"builtin"`
	Messages    []messageJSON `json:"messages,omitempty"`
	Enums       []enumJSON    `json:"enums,omitempty"`
}

func kindOf(k *kinds.Kind) kindJSON {
	return kindJSON{Kind: review.Escape(k.Name()), TypeURL: review.Escape(k.TypeURL()), Message: review.Escape(string(k.Message().FullName())),
		Destructive: k.Destructive(), SubjectForm: k.SubjectForm().String(), Roles: k.Roles(), Builtin: k.Builtin()}
}

// source names where a kind comes from.
func source(k *kinds.Kind, path string) review.Text {
	if k.Builtin() {
		return review.Escape("built-in")
	}
	return review.Escape(path)
}

func (a *app) listKinds(table *kinds.Table, path string) error {
	if a.json {
		var all []kindJSON
		for _, k := range table.Kinds() {
			all = append(all, kindOf(k))
		}
		return a.printJSON(struct {
			Kinds []kindJSON `json:"kinds"`
		}{all})
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tMESSAGE\tDESTRUCTIVE\tSUBJECT\tROLES\tFROM")
	for _, k := range table.Kinds() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Name(), k.Message().FullName(), yesNo(k.Destructive()), k.SubjectForm(), roles(k), source(k, path))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return a.print(b.Bytes())
}

func yesNo(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }

func roles(k *kinds.Kind) (list string) {
	for i, role := range k.Roles() {
		if i > 0 {
			list += ", "
		}
		list += string(role)
	}
	return list
}

// checkKinds says what a table holds, with the digest of its descriptor set to compare.
func (a *app) checkKinds(path string) error {
	read, err := readKindsFile(path, durable.ReadFile)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(read.descriptorSet)
	var own []kindJSON
	destructive := 0
	for _, k := range read.table.Kinds() {
		if !k.Builtin() {
			own = append(own, kindOf(k))
			if k.Destructive() {
				destructive++
			}
		}
	}
	if a.json {
		return a.printJSON(struct {
			File                review.Text `json:"file"`
			DescriptorSet       review.Text `json:"descriptorSet"`
			DescriptorSetSHA256 string      `json:"descriptorSetSha256"`
			Kinds               []kindJSON  `json:"kinds"`
		}{review.Escape(path), review.Escape(read.setPath), hex.EncodeToString(sum[:]), own})
	}
	noun := " kinds, "
	if len(own) == 1 {
		noun = " kind, "
	}
	return a.print(fmt.Appendf(nil, "OK: %s holds %s\ndescriptor set: %s, SHA-256 %x\n", review.Escape(path),
		strconv.Itoa(len(own))+noun+strconv.Itoa(destructive)+" of them destructive", review.Escape(read.setPath), sum))
}
