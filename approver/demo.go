package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Do the main job on an embedded software token: nothing is needed, nothing is left behind",
		Long: `demo plays a ceremony: three approvers with a token each, a batch of 412 machines of which one gets another image, the
review, two signatures, what the laptops remember, the verification, and four tampered copies that are refused. It runs the
real commands, which it prints; only the tokens are made in memory.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
}

// A demo is one run in a folder of its own. The first failure ends it.
type demo struct {
	app  *app
	ctx  context.Context
	dir  string
	keys map[string]quorum.PublicKey
	err  error

	exported *demoScope
}

var demoApprovers = []string{"alice", "bob", "carol"}

func (a *app) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "approver-demo-")
	if err != nil {
		return wire.Errorf(wire.IOError, "", "%w", err)
	}
	defer os.RemoveAll(dir)
	d := &demo{app: a, ctx: ctx, dir: dir, keys: make(map[string]quorum.PublicKey)}
	d.makeTokens()
	root := d.makeBatch(a.now())
	d.say("\n1. The review: what would run on 412 machines, the one that differs first.\n")
	d.run("", "batch", "show", "--scope", "scope.json", "--expect", "machines.txt", "--approvers", "set.json", "--trust-domain", demoDomain)
	d.say("\n2. Two of the three approvers sign what they reviewed, each with the key on their own token.\n")
	for _, name := range demoApprovers[:2] {
		d.run("", "batch", "sign", "--scope", "scope.json", "--root", root, "--expect", "machines.txt", "--approvers", "set.json",
			"--trust-domain", demoDomain, "--key", "pkcs11:token="+name+";object="+d.keys[name].KID().String(), "--module", "/embedded",
			"--pin-file", name+".pin", "--yes", "--state", name+".ledger", "--out", name+".sig.json")
	}
	d.say("\n3. Each approver's laptop remembers: the same batch is not signed twice, and the ledger verifies.\n")
	d.run("INVALID_STATE already-approved", "batch", "sign", "--scope", "scope.json", "--trust-domain", demoDomain,
		"--key", "pkcs11:token=alice;object="+d.kid("alice"), "--module", "/embedded", "--pin-file", "alice.pin", "--yes", "--state", "alice.ledger")
	d.run("", "log", "verify", "--state", "alice.ledger")
	d.say("\n4. Anybody can verify the signatures.\n")
	d.run("", verifyArgs("scope.json")...)
	d.say("\n5. Four tampered copies.\n")
	d.tamper()
	if d.err == nil {
		d.say("\nEvery step did what it should, and the folder is gone. On your own files:\n  approver batch show --scope FILE\n")
	}
	return d.err
}

// kid gives the kid of an approver's key, "" where none could be made.
func (d *demo) kid(name string) string {
	if key, ok := d.keys[name]; ok {
		return key.KID().String()
	}
	return ""
}

func verifyArgs(scopeFile string) []string {
	return []string{"batch", "verify", "alice.sig.json", "bob.sig.json", "--scope", scopeFile, "--approvers", "set.json", "--trust-domain", demoDomain}
}

func (d *demo) say(text string) {
	if d.err == nil {
		_, d.err = fmt.Fprint(d.app.stdout, text)
	}
}

// makeTokens makes a token for each approver, their PIN files, and the set that two of three make up.
func (d *demo) makeTokens() {
	var tokens []softtoken.Token
	draft := quorum.SetDraft{Threshold: 2, Tiers: []quorum.Tier{{MaxScopeSize: 5, Threshold: 1}}}
	for i, name := range demoApprovers {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			d.err = err
			return
		}
		public, err := quorum.NewPublicKey(&private.PublicKey)
		if err != nil {
			d.err = err
			return
		}
		d.keys[name] = public
		draft.Keys = append(draft.Keys, public)
		pin := rand.Text()[:8]
		tokens = append(tokens, softtoken.Token{Label: name, Serial: fmt.Sprintf("demo-%d", i+1), PIN: pin,
			Keys: []softtoken.Key{{Label: public.KID().String(), ID: []byte{byte(i + 1)}, Private: private}}})
		d.write(name+".pin", []byte(pin+"\n"), 0o600)
	}
	set, err := quorum.NewSet(draft)
	if err == nil {
		d.write("set.json", quorum.EncodeSetFile(set, 1), 0o644)
		var module hsm.Module
		if module, err = softtoken.New(tokens...); err == nil {
			d.app = d.embedded(module)
		}
	}
	d.err = errors.Join(d.err, err)
}

// embedded gives the app as it is, but with the tokens in memory and nobody at a terminal.
func (d *demo) embedded(module hsm.Module) *app {
	b := *d.app
	b.loadModule = func(context.Context, string, *[sha256.Size]byte) (hsm.Module, error) { return module, nil }
	b.configured = new(config.Settings) // whatever this machine has configured is about other keys than these
	b.openTTY = func() (*os.File, error) { return nil, os.ErrNotExist }
	b.json = false
	return &b
}

func (d *demo) write(name string, data []byte, mode os.FileMode) {
	if d.err == nil {
		d.err = durable.WriteFile(filepath.Join(d.dir, name), data, mode)
	}
}

// run prints and runs one of our commands in the folder. want is the code and reason it must end with, "" for success.
func (d *demo) run(want string, args ...string) {
	if d.err != nil {
		return
	}
	if d.err = d.ctx.Err(); d.err != nil {
		return
	}
	d.say("$ approver " + quoteArgs(args) + "\n")
	stderr := new(bytes.Buffer)
	b := *d.app
	b.stderr = stderr
	root := b.rootCommand()
	root.SetArgs(d.inFolder(args))
	root.SetOut(b.stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(d.ctx)
	got := strings.TrimSpace(string(wire.CodeOf(err)) + " " + wire.ReasonOf(err))
	if err != nil {
		b.report(command, err)
	}
	d.say(saidAtLast(stderr.String()))
	if got != want {
		d.err = errors.Join(fmt.Errorf("the demo expected %q from this step and got %q", want, got), err)
	}
}

// inFolder puts the folder before every file name among the arguments.
func (d *demo) inFolder(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if slices.Contains([]string{".json", ".txt", ".pin", ".ledger"}, filepath.Ext(arg)) {
			out[i] = filepath.Join(d.dir, arg)
		}
	}
	return out
}

// quoteArgs writes a command line as a shell takes it.
func quoteArgs(args []string) string {
	quoted := slices.Clone(args)
	for i, arg := range quoted {
		if strings.ContainsAny(arg, ";&? ") {
			quoted[i] = "'" + arg + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// saidAtLast gives the end of what a command wrote on standard error: after a review, who signed what and where the ledger stands;
// else its last lines.
func saidAtLast(stderr string) string {
	if i := strings.LastIndex(stderr, "\nsigned by "); i >= 0 {
		return stderr[i+1:]
	}
	lines := strings.SplitAfter(stderr, "\n")
	return strings.Join(lines[max(0, len(lines)-1-3):], "")
}
