package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

type checkFlags struct {
	tokenFlags
	pin pinFlags
	pub string
}

func (a *app) hsmCheckCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check [URI]",
		Short: "Check whether a key on a token is fit for an approver",
		Long: `check logs in and holds one key against what an approver's key should be: made on the token and never out of it, for signing
and nothing else, on P-256, with the public half that is expected, and able to make a signature that verifies. Each attribute
is shown as true, false or not available. It signs no batch: what it signs is a key-trial over random bytes.

Without a URI it checks the configured key. It ends with status 1 where the key is unfit.`,
		Example: "  approver hsm check 'pkcs11:token=approver;object=k256' --pub k256.pub --module /usr/lib/softhsm/libsofthsm2.so",
		Args:    uriArgument,
		RunE:    func(c *cobra.Command, args []string) error { return a.hsmCheck(c.Context(), &f, args) },
	}
	f.moduleFlags.register(c, "module-path of the URI, else the configured one")
	f.registerFinalTry(c)
	f.pin.register(c, "", "the PIN", "pin-source of the URI, else typed")
	c.Flags().StringVar(&f.pub, "pub", "", "`FILE` with the public key that is expected of it (the .pub file)")
	return c
}

func (a *app) hsmCheck(ctx context.Context, f *checkFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	uri, expected, err := a.checkedKey(f, args)
	if err != nil {
		return err
	}
	fitness, err := a.fitness(ctx, f, uri, expected)
	if err != nil {
		return err
	}
	if err := a.printFitness(fitness); err != nil {
		return err
	}
	return unfit(fitness)
}

// unfit is the one judgement of a key, by which check ends and doctor is red: INVALID_STATE, "unfit-key", or nil. A key that may
// do more than sign is unfit like one that was elsewhere: who can have it do another job can have that pose as this one.
func unfit(f *hsm.Fitness) error {
	if f.Fit() {
		return nil
	}
	if lacksHalfOnly(f) {
		return errLacksHalf(f)
	}
	return wire.Errorf(wire.InvalidState, "unfit-key", "the key is not fit for an approver: %d of %d rows are not as wanted", len(f.Reasons()), len(f.Rows)).
		With("reasons", f.Reasons())
}

// checkedKey gives the key that the argument names and what is expected of it. The configured key comes with the
// configured public half; of another key nothing is expected but what --pub says.
func (a *app) checkedKey(f *checkFlags, args []string) (uri hsm.URI, expected quorum.PublicKey, err error) {
	if len(args) == 1 {
		if uri, err = a.parseURI(args[0]); err == nil && f.pub != "" {
			expected, err = readPublicKey(f.pub)
		}
		return uri, expected, err
	}
	configured, err := a.signingKey("")
	switch {
	case err != nil:
		return uri, expected, err
	case configured == "":
		return uri, expected, usage("the pkcs11: URI of the key is missing, and no key is configured; 'approver hsm list' prints URIs")
	case !hsm.IsURI(configured):
		return uri, expected, usage("the configured key is a file; check is for keys on tokens, which a pkcs11: URI names")
	}
	public, err := a.expectedPublic(f.pub)
	if err != nil {
		return uri, expected, err
	}
	uri, err = a.parseURI(configured)
	return uri, public.Key, err
}

// fitness logs in and checks the key. The session is read-only.
func (a *app) fitness(ctx context.Context, f *checkFlags, uri hsm.URI, expected quorum.PublicKey) (*hsm.Fitness, error) {
	t := a.terminal()
	defer t.close()
	source, err := f.pin.source(uri.PINFile(), t, hsm.UserPIN)
	if err != nil {
		return nil, err
	}
	_, m, err := a.openModule(ctx, f.moduleFlags, uri.ModulePath())
	if err != nil {
		return nil, err
	}
	token, err := hsm.OpenToken(ctx, m, hsm.TokenOptions{URI: uri, Timeout: f.timeout, AllowFinalTry: f.allowFinalTry})
	if err != nil {
		return nil, err
	}
	defer a.closeToken(token)
	a.tellToken(token.Info(), source, token.Info().PIN.String())
	if err := token.LookBeforeLogin(ctx); err != nil {
		return nil, err
	}
	if err := token.Login(ctx, source); err != nil {
		return nil, err
	}
	return token.Check(ctx, expected)
}

// A fitnessRow is a row of check with --json.
type fitnessRow struct {
	Attribute string      `json:"attribute"`
	Wanted    string      `json:"wanted"`
	Found     review.Text `json:"found"`
	OK        bool        `json:"ok"`
	Bad       review.Text `json:"bad,omitzero"`
}

func (a *app) printFitness(f *hsm.Fitness) error {
	rows := []fitnessRow{}
	for _, r := range f.Rows {
		rows = append(rows, fitnessRow{r.Name, r.Wanted, review.Escape(r.Found), r.Bad == "", review.Escape(r.Bad)})
	}
	if a.json {
		return a.printJSON(struct {
			Key  listedObject `json:"key"`
			Fit  bool         `json:"fit"`
			Rows []fitnessRow `json:"rows"`
		}{newListedObject(f.Key), f.Fit(), rows})
	}
	_, err := fmt.Fprint(a.stdout, drawFitness(f, rows))
	return written(err)
}
