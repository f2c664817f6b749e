package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the help texts of testdata/help anew")

// commands gives the root command and all below it.
func commands() (all []*cobra.Command) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		all = append(all, c)
		for _, sub := range c.Commands() {
			if !sub.Hidden { // such as the one that modules are tried in
				walk(sub)
			}
		}
	}
	walk(osApp().rootCommand())
	return all
}

// The help of every command is the one in testdata/help, mentions every flag, and fits a terminal.
func TestHelp(t *testing.T) {
	s := newSession(t)
	seen := map[string]bool{}
	for _, c := range commands() {
		if c.Name() == "help" {
			continue
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".txt"
		seen[name] = true
		help := s.ok(append(strings.Fields(c.CommandPath())[1:], "--help")...).stdout
		golden := filepath.Join("testdata", "help", name)
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(help), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), help, "go test ./approver -run TestHelp -update, and look at the difference")
		require.Equal(t, help, s.ok(append([]string{"help"}, strings.Fields(c.CommandPath())[1:]...)...).stdout)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			require.Regexp(t, `(?m)^ +(-\w, )?--`+f.Name+`( .*)?  \S`, help, "the help of %q lacks a flag, or what it is", c.CommandPath())
		})
		for line := range strings.SplitSeq(help, "\n") {
			require.LessOrEqual(t, len(line), 130)
		}
	}
	files, err := os.ReadDir(filepath.Join("testdata", "help"))
	require.NoError(t, err)
	for _, f := range files {
		require.True(t, seen[f.Name()], "%s is the help of no command", f.Name())
	}
}

// No secret is taken as an argument, where other users of the machine and the shell's history have it.
func TestNoSecretIsAnArgument(t *testing.T) {
	secret := regexp.MustCompile(`(?i)pin|pass|secret|private`)
	harmless := map[string]string{ // what may stand for where a secret comes from
		"pin-file": "`FILE` that holds", "pin-fd": "file descriptor `N`",
		"pin":         "the set that the machine is pinned to", // a digest
		"so-pin-file": "`FILE` that holds", "so-pin-fd": "file descriptor `N`",
		"new-pin-file": "`FILE` that holds", "new-pin-fd": "file descriptor `N`",
	}
	for _, c := range commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if secret.MatchString(f.Name) {
				require.Contains(t, harmless, f.Name, "a flag of %s that may take a secret", c.CommandPath())
				require.Contains(t, f.Usage, harmless[f.Name])
			}
		})
	}
	s := newSession(t)
	for _, args := range [][]string{{"--pin", "1111"}, {"--passphrase", "1111"}, {"--pin-value", "1111"}} {
		require.Equal(t, 2, s.run(append(sign("ok-2.json"), args...)...).status)
	}
	// A URI may hold a PIN, says RFC 7512; ours does not.
	r := s.refused("INVALID_INPUT", "", "batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--module", "/m.so", "--key", "pkcs11:token=a?pin-value=47110815")
	require.NotContains(t, r.stderr, "47110815")
	r = s.run("batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--module", "/m.so", "--key", "pkcs11:token=a?pin-value=47110815&pin-value=47110816")
	require.Equal(t, 1, r.status)
	require.NotContains(t, r.stderr, "4711081")
	r = s.run("batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--key", "alice.pem", "--pub", "pkcs11:token=a?pin-value=47110815")
	require.Equal(t, 2, r.status)
	require.NotContains(t, r.stderr, "4711081")
}
