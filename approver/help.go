package main

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// wrapHelp has the help of every command fit a terminal. Cobra writes it; what it writes is broken here.
func wrapHelp(root *cobra.Command) {
	written := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		out, text := c.OutOrStdout(), new(bytes.Buffer)
		c.SetOut(text)
		written(c, args)
		c.SetOut(out)
		out.Write([]byte(brokenHelp(text.String())))
	})
}

// brokenHelp breaks a help text: its paragraphs up to the usage anew, its lists within their second column. Lines of shell are to
// be copied, and stay as they are.
func brokenHelp(text string) string {
	// A line of a list: a flag or a command, and what it is.
	described := regexp.MustCompile(`^( +(?:-\w, )?\S+(?: \S+)*? {2,})(\S.*)$`)
	var b strings.Builder
	about, rest, _ := strings.Cut(text, "\nUsage:\n")
	for i, paragraph := range strings.Split(strings.TrimSuffix(about, "\n"), "\n\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if strings.HasPrefix(paragraph, " ") {
			b.WriteString(paragraph + "\n")
		} else {
			b.WriteString(drawRow(widestRow, "", paragraph))
		}
	}
	b.WriteString("\nUsage:\n")
	shell := true
	for line := range strings.Lines(rest) {
		if head := strings.TrimSuffix(line, "\n"); strings.HasSuffix(head, ":") && !strings.HasPrefix(head, " ") {
			shell = head == "Examples:"
		}
		if m := described.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil && !shell && len(line) > widestRow {
			line = drawRow(widestRow, m[1], m[2])
		}
		b.WriteString(line)
	}
	return b.String()
}
