package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// doctorFlags say which key, set and folder the ceremony will use, where the configuration does not.
type doctorFlags struct {
	keyFlags
	approvers []string
	kinds     string
	outDir    string
	login     bool
}

func (a *app) doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything a ceremony needs, the day before",
		Long: `doctor looks at the clock, this machine, the terminal, the output folder, the
ledger, the configuration and all it names, the PKCS#11 module, the token, its
PIN state, the key, and the approver set. Each is a line: green, amber (it works, and
there is something to know) or red (signing would fail, or must not happen
here), and below what is not green what to do.

It signs nothing and changes nothing; a file in the output folder is written,
read back and removed. There is no login, and so no wrong PIN, without --login:
that asks for the PIN, looks whether the private key is there, holds it against
what an approver's key should be, and has it sign a trial, which approves
nothing. A key file is then opened with its passphrase.

It ends with status 0 where nothing is red and everything that is needed was
looked at, else with 1: RED, or INCOMPLETE, as it always is without --login.`,
		Example: `  approver doctor
  approver doctor --login --out-dir /media/stick
  approver doctor --key 'pkcs11:token=approver;object=k256' --module /usr/lib/softhsm/libsofthsm2.so --pub k256.pub --json`,
		Args: noSecretArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.timeout <= 0 {
				return usage("--timeout is a time above zero, as in 60s")
			}
			return newDoctor(a, &f, thisLaptop(a.getenv)).examine(c.Context())
		},
	}
	f.keyFlags.register(c)
	s := c.Flags()
	s.StringArrayVar(&f.approvers, "approvers", nil, "approver set `FILE`, or the .pub files of its keys, comma-separated")
	registerKinds(c, &f.kinds)
	s.StringVar(&f.outDir, "out-dir", ".", "folder that signatures will be written to, `DIR`")
	s.BoolVar(&f.login, "login", false, "log in and have the key sign a trial; a wrong PIN counts")
	strictFlags(c)
	return c
}

// A check is one line of what doctor tells. What it finds may have an advice of its own.
type check struct {
	name   string
	run    func(*doctor, context.Context) outcome
	advice string
}

// checks are made in this order: what a module could hang or crash comes late, and what the others lean on comes first.
var checks = []check{
	{"clock", (*doctor).clock, "set the clock, by a watch and not by a message: windows are judged by it"},
	{"user", (*doctor).user, "log in to the approver's own account: as root a program that goes wrong can change everything"},
	{"umask", (*doctor).umask, "umask 022, or 077: what others could have changed is refused when it is read"},
	{"swap", (*doctor).swap, "swapoff -a, or swap on an encrypted device: memory that held a PIN may be written there"},
	{"core dumps", (*doctor).coreDumps, coreLimitAdvice},
	{"tracing", (*doctor).tracing, "sysctl -w kernel.yama.ptrace_scope=1: programs of one user must not read one another's memory"},
	{"linker", (*doctor).linker, "unset the variables, empty the file: what they name runs inside the process that has the PIN, or is told the PIN"},
	{"network", (*doctor).network, "take them down, and the hardware out: an air-gapped machine has none"},
	{"terminal", (*doctor).controls, "run it where you will sign, in a terminal: without one there is no question, and no PIN can be typed"},
	{"terminal size", (*doctor).terminalSize, "make the terminal larger, or its letters smaller: the review is drawn for 80 columns, and a line that wraps can pose as another"},
	{"QR code", (*doctor).qrCode, "make the terminal larger, or write the signature as a picture with --qr-png"},
	{"output folder", (*doctor).outputFolder, "choose another with --out-dir, or mend it: a signature that cannot be written is lost"},
	{"free space", (*doctor).freeSpace, "make room, or choose another folder with --out-dir"},
	{"ledger", (*doctor).ledger, "keep the folder as it is, tell whoever audits, and sign nothing with it"},
	{"configuration", (*doctor).configuration, "write one (approver config show says what there is): what is configured is not mistyped"},
	{"trust domain", (*doctor).trustDomain, "configure trust_domain: else the file under review says which deployment it is for"},
	{"kinds", (*doctor).kinds, "have the table and its descriptor set mended by who gave them to you: approver kinds check FILE"},
	{"expected lists", (*doctor).expectedLists, "put the batch's list there as ID.txt, from your own inventory"},
	{"module", (*doctor).module, "name it with its sha256 in [module] of the configuration: it runs inside the process that has the PIN"},
	{"token", (*doctor).findToken, "plug the token in, and compare its label and serial with your note"},
	{"PIN", (*doctor).pinState, "log in once with the right PIN, while there are tries left"},
	{"key", (*doctor).findKey, "give the public key that is expected: public_key in the configuration, or --pub"},
	{"trial", (*doctor).trial, "do not sign with this key before that is understood"},
	{"approver set", (*doctor).approverSet, "configure approvers, or give --approvers: else nobody sees how many signatures are needed, and whose"},
	{"clock pace", (*doctor).pace, "find out what sets the clock, and stop it: it was set while this ran"},
}

// A doctor is one run of the checks, with what earlier ones found for later ones.
type doctor struct {
	app    *app
	flags  *doctorFlags
	laptop laptop
	begun  time.Time     // by the clock
	uptime time.Duration // then, by the kernel

	refused  []config.Refusal // parts of the configuration
	held     foundKey         // as far as it was found
	loginErr error            // why nobody is logged in, where that was asked for
	library  hsm.Module       // of held, once it was loaded
	member   quorum.PublicKey // the key that will sign, where that is known
}

func newDoctor(a *app, f *doctorFlags, m laptop) *doctor {
	d := &doctor{app: a, flags: f, laptop: m, begun: a.now().Round(0), uptime: m.uptime()}
	d.held.app, d.held.flags = a, &f.keyFlags
	return d
}

// examine runs every check and tells of each as it ends.
func (d *doctor) examine(ctx context.Context) error {
	defer d.held.close()
	d.readSettings()
	if err := d.checkUsage(); err != nil {
		return err
	}
	r := newDiagnosis(d.app)
	for _, c := range checks {
		o := c.run(d, ctx)
		if ctx.Err() != nil {
			return wire.Errorf(wire.InvalidState, "", "interrupted at %s", c.name)
		}
		if o.advice == "" {
			o.advice = c.advice
		}
		if err := r.tell(c.name, o); err != nil {
			return err
		}
	}
	return r.close()
}

// checkUsage refuses a command line that does not hold together. Whatever else is wrong is told by the check it belongs to.
func (d *doctor) checkUsage() error {
	_, keyErr := d.app.signingKey(d.flags.key)
	_, pubErr := d.app.expectedPublic(d.flags.pub)
	_, setErr := fileNames(d.flags.approvers)
	for _, err := range []error{keyErr, pubErr, setErr} {
		if _, ok := errors.AsType[*usageError](err); ok {
			return err
		}
	}
	return nil
}
