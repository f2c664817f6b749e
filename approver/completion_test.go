//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// completionFiles are the scripts that are shipped, by shell.
var completionFiles = map[string]string{"bash": "approver.bash", "fish": "approver.fish", "powershell": "approver.ps1", "zsh": "_approver"}

func completionFile(t *testing.T, shell string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "docs", "completions", completionFiles[shell]))
	require.NoError(t, err)
	return path
}

// The scripts in docs/completions are what the command gives.
func TestCompletionScripts(t *testing.T) {
	require.Len(t, shells, len(completionFiles))
	for _, shell := range shells {
		r := inProcess(t, func(*app) {}, "completion", shell.name)
		require.Zero(t, r.status)
		require.Empty(t, r.stderr)
		if *update {
			require.NoError(t, os.WriteFile(completionFile(t, shell.name), []byte(r.stdout), 0o644))
		}
		have, err := os.ReadFile(completionFile(t, shell.name))
		require.NoError(t, err)
		require.Equal(t, string(have), r.stdout, "go test ./approver -run Completion -update")
	}
	entries, err := os.ReadDir(filepath.Join("..", "docs", "completions"))
	require.NoError(t, err)
	require.Len(t, entries, len(shells), "a script of no shell")
}

func TestCompletionOfNoShell(t *testing.T) {
	s := newSession(t)
	for _, args := range [][]string{{}, {"tcsh"}, {"bash", "zsh"}, {"bash", "--nosuch"}} {
		r := s.run(append([]string{"completion"}, args...)...)
		require.Equal(t, 2, r.status, "%q", args)
		require.Contains(t, r.stderr, "usage: approver completion")
		require.Empty(t, r.stdout)
	}
	r := s.sh("$approver completion bash >/dev/full")
	require.Equal(t, 1, r.status)
	require.Regexp(t, "^IO_ERROR: ", r.stderr)
}

// Whoever adds a flag or an argument says how it is completed.
func TestEveryValueHasACompletion(t *testing.T) {
	n := 0
	for _, c := range commands() {
		if word := argument(c); word != "" && c.ValidArgs == nil {
			require.Contains(t, byPlaceholder, word, "the argument of %s", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			placeholder, _ := pflag.UnquoteUsage(f)
			if _, named := byName[f.Name]; !named && f.Value.Type() != "bool" {
				require.Contains(t, byPlaceholder, placeholder, "--%s of %s", f.Name, c.CommandPath())
				n++
			}
		})
	}
	require.Greater(t, n, 20)
}

// completions gives what the last word of a command line may become, without descriptions, and the directive.
func completions(t *testing.T, words ...string) (list []string, directive string) {
	t.Helper()
	r := inProcess(t, func(*app) {}, append([]string{"__completeNoDesc"}, words...)...)
	require.Zero(t, r.status, "%s", r.stderr)
	require.NotContains(t, r.stderr, "Error")
	list = strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	return list[:len(list)-1], list[len(list)-1]
}

func TestCompletions(t *testing.T) {
	const noSpace, noFiles, anyFile, endings, folder = ":2", ":4", ":0", ":8", ":16"
	for _, c := range []struct {
		line, want, directive string
	}{
		{"completion ", "bash fish powershell zsh", noFiles},
		{"completion p", "powershell", noFiles},
		{"batch s", "show sign sign-approvers", noFiles},
		{"batch show ", "", noFiles},
		{"batch show --trust", "--trust-domain", noFiles},
		{"batch show --scope ", "json", endings},
		{"batch show --scope a.json --expect ", "", anyFile}, // after a flag that is given once
		{"batch show --scope a.json --root ", "", noFiles},
		{"batch show --scope a.json --scope", "--scope-out", noFiles},
		{"batch show --approvers a.pub --approvers ", "json pub", endings},
		{"batch sign --key ", "", anyFile},
		{"batch sign --key p", "pkcs11:token=", noSpace},
		{"batch sign --key pkcs11:token=", "pkcs11:token=", noSpace},
		{"batch sign --key pkcs12", "", anyFile},
		{"batch sign --module ", "so", endings},
		{"batch sign --pub ", "pub pem", endings},
		{"batch sign --timeout ", "", noFiles},
		{"batch verify ", "json binpb", endings},
		{"batch verify a.json ", "json binpb", endings},
		{"batch show --config ", "toml", endings},
		{"batch show --kinds ", "toml", endings},
		{"batch prove --kind node.re", "node.reboot node.reimage", noFiles},
		{"batch prove --subject ", "", noFiles},
		{"batch prove --out ", "", anyFile},
		{"kinds show bmc.", "bmc.power bmc.boot bmc.rotate bmc.sensors", noFiles},
		{"kinds list ", "", noFiles},
		{"kinds show --kinds absent.toml node.w", "node.wipe", noFiles},
		{"help batch ver", "verify verify-approvers", noFiles},
		{"hsm ", "check delete import init keygen list modules pin", noFiles},
		{"hsm check ", "pkcs11:token=", ":6"},
		{"hsm check pkcs11:token=a ", "", noFiles},
		{"hsm keygen --type ", "p256 ed25519", noFiles},
		{"hsm keygen --label ", "", noFiles},
		{"hsm import x --from ", "", anyFile},
		{"hsm pin u", "unlock", noFiles},
		{"hsm pin unlock --so-pin-file ", "", anyFile},
		{"help completion ", "", noFiles},
		{"help nosuch ", "", noFiles},
	} {
		list, directive := completions(t, strings.Split(c.line, " ")...)
		require.Equal(t, c.want, strings.Join(list, " "), c.line)
		require.Equal(t, c.directive, directive, c.line)
	}
	r := inProcess(t, func(*app) {}, "__complete", "batch", "show", "--ro")
	require.Equal(t, "--root\tthe root that was reviewed before, 64 HEX digits; any other is refused\n:4\n", r.stdout)
}

// interactive starts each shell with its shipped script; the completion of a line is seen by what it runs.
var interactive = map[string]struct{ config, start string }{
	"bash": {"bashrc", "exec bash --noprofile --rcfile bashrc -i"},
	"fish": {"config/fish/config.fish", "exec fish -i"},
	"zsh":  {".zshrc", "exec zsh -d -i"},
}

func TestCompletionInShells(t *testing.T) {
	for shell, how := range interactive {
		t.Run(shell, func(t *testing.T) {
			_, err := exec.LookPath(shell)
			require.NoError(t, err, "run ./softhsm-test.sh, which installs what these tests need")
			s := newSession(t)
			for _, name := range []string{"batch.json", "batch.txt", "machines.list", "key of alice.pub"} {
				s.write(name, nil)
			}
			require.NoError(t, os.MkdirAll(s.path("config/fish"), 0o700))
			require.NoError(t, os.Mkdir(s.path("bin"), 0o700))
			s.write(how.config, []byte(map[string]string{
				"bash": "source /usr/share/bash-completion/bash_completion\nsource " + completionFile(t, "bash") + "\nPS1='ready '\n",
				"fish": "source " + completionFile(t, "fish") + "\nfunction fish_prompt; echo 'ready '; end\nset -g fish_greeting\n",
				"zsh":  "fpath=(" + filepath.Dir(completionFile(t, "zsh")) + " $fpath)\nautoload -U compinit\ncompinit -u -D\nPS1='ready '\n",
			}[shell]))
			// A command of that name answers the script's questions, and of what is run notes its arguments.
			s.write("bin/approver", []byte("#!/bin/sh\ncase $1 in __complete*) exec "+s.command+" \"$@\" ;; esac\nprintf \"[%s]\" \"$@\" >ran.tmp\nmv ran.tmp ran\n"))
			require.NoError(t, os.Chmod(s.path("bin/approver"), 0o700))
			s.env = append(s.env, "PATH="+s.path("bin")+":"+os.Getenv("PATH"), "HOME="+s.dir, "ZDOTDIR="+s.dir, "XDG_CONFIG_HOME="+s.path("config"), "XDG_DATA_HOME="+s.path("data"))
			c := s.onScreen(120, 40, how.start)
			c.await("ready")
			for line, want := range map[string]string{
				"approver comp":                      "[completion]",
				"approver batch ver":                 "[batch][verify]",
				"approver completion f":              "[completion][fish]",
				"approver batch show --trust":        "[batch][show][--trust-domain]",
				"approver batch show --scope bat":    "[batch][show][--scope][batch.json]",
				"approver batch show --expect mac":   "[batch][show][--expect][machines.list]",
				"approver batch sign --pub ke":       "[batch][sign][--pub][key of alice.pub]",
				"approver batch sign --key pkcs":     "[batch][sign][--key][pkcs11:token=]",
				"approver batch show --scope x --ro": "[batch][show][--scope][x][--root]",
				"approver help batch keyg":           "[help][batch][keygen]",
			} {
				if shell == "fish" && strings.Contains(line, "--scope bat") {
					continue // it offers files of any ending
				}
				os.Remove(s.path("ran"))
				c.tmux("send-keys", "-l", line)
				c.press("Tab", "Enter")
				c.until(func() bool { _, err := os.Stat(s.path("ran")); return err == nil }, "%q ran nothing", line)
				require.Equal(t, want, string(s.read("ran")), "%s", line)
			}
			c.say("exit")
			c.end()
		})
	}
}
