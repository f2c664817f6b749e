package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// module loads the PKCS#11 module as sign does, with its digest to compare.
func (d *doctor) module(ctx context.Context) outcome {
	return d.configured(func(s *config.Settings) outcome {
		var err error
		k := &d.held
		k.path, err = d.app.signingKey(d.flags.key)
		if moduleErr := s.CheckModule(); err == nil {
			err = moduleErr
		}
		if err != nil {
			return moduleFailed(err)
		}
		switch isURI := hsm.IsURI(k.path); {
		case isURI:
			if k.uri, err = hsm.ParseURI(k.path); err != nil {
				return failed(err)
			}
		case k.path != "":
			return aside("the key is a file")
		case !s.Module.IsSet() && d.flags.module == "":
			return unseen("no key is configured, and no --key given")
		}
		return d.loadModule(ctx)
	}, "module")
}

// moduleFailed is failed, with what to do about a module of another digest.
func moduleFailed(err error) outcome {
	o := failed(err)
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Details["found"] != nil {
		o = o.do("updated? compare with its maker's SHA-256, and let the security officer write it into the configuration; if nobody updated it, do not sign here")
	}
	return o
}

// withoutToken says of a check that there is no token for it.
func (d *doctor) withoutToken(why string) outcome {
	if path := d.held.path; path != "" && !hsm.IsURI(path) {
		return aside("the key is a file")
	}
	return unseen(why)
}

// loadModule tries the module in a process of its own first: one that crashes or hangs takes nothing along there.
func (d *doctor) loadModule(ctx context.Context) outcome {
	file, err := d.app.settleModule(moduleFlags{d.flags.module, d.flags.timeout}, d.held.uri.ModulePath())
	switch {
	case err != nil:
		return moduleFailed(err)
	case file.Path == "":
		return bad("nothing names it").do("name it with its sha256 in [module] of the configuration, or with --module; 'approver hsm modules' lists those that work here")
	}
	if err := refuseSpy(file.Path); err != nil {
		return failed(err)
	}
	command, err := probeCommand()
	if err != nil {
		return failed(err)
	}
	if tried := hsm.ProbeModule(ctx, command, file.Path, d.flags.timeout); !tried.OK() {
		return bad("%s: %s", file.Path, tried.Trouble).do("check --module; 'approver hsm modules' lists those that work here")
	}
	if d.library, err = d.app.load(ctx, file); err != nil {
		return moduleFailed(err)
	}
	digest, err := digestOf(file.Path)
	switch {
	case err != nil:
		return failed(err)
	case file.SHA256 == nil:
		return warn("%s, SHA-256 %s, held against nothing", file.Path, digest).note("sha256", digest.String())
	}
	return fine("%s, SHA-256 %s, as configured", file.Path, digest).note("sha256", digest.String())
}

// findToken looks for the one token that the URI names.
func (d *doctor) findToken(ctx context.Context) outcome {
	k := &d.held
	if d.library == nil || k.uri.IsZero() {
		return d.withoutToken("no module with a key to look for")
	}
	var err error
	k.token, err = hsm.OpenToken(ctx, d.library, hsm.TokenOptions{URI: k.uri, Timeout: d.flags.timeout, AllowFinalTry: d.flags.allowFinalTry})
	if err != nil {
		return failed(err)
	}
	i := k.token.Info()
	found := fmt.Sprintf("label %s, serial %s, %s of %s", strconv.QuoteToASCII(i.Label), strconv.QuoteToASCII(i.Serial), strconv.QuoteToASCII(i.Model), strconv.QuoteToASCII(i.Manufacturer))
	o := judgeToken(i, found)
	return o.note("label", i.Label).note("serial", i.Serial).note("model", i.Model)
}

// judgeToken says what is to be known of a token.
func judgeToken(i hsm.TokenInfo, found string) outcome {
	flags := i.FlagNames()
	switch {
	case slices.Contains(flags, "ERROR_STATE"):
		return bad("%s: it says that it failed its own test (CKF_ERROR_STATE)", found).do("use another token, and ask its maker: one in that state does nothing any more")
	case !slices.Contains(flags, "LOGIN_REQUIRED"):
		return warn("%s: it says that it wants no login (CKF_LOGIN_REQUIRED is not set)", found).
			do("find out whether its keys sign without the PIN: then whoever holds the token signs; 'approver hsm check' wants CKA_PRIVATE of the key")
	case strings.Contains(strings.ToLower(i.Model+i.Manufacturer), "softhsm"):
		return warn("%s: its keys are files", found).do("SoftHSM is for rehearsals: whoever copies its folder has the keys, and guesses the PIN elsewhere")
	}
	return fine("%s", found)
}

// pinState reads what the token shows about its PIN, and looks at where the PIN would come from. It does not log in.
func (d *doctor) pinState(context.Context) outcome {
	k := &d.held
	if k.token == nil {
		return d.withoutToken("no token")
	}
	var err error
	if k.pin, err = k.givenPIN(); err != nil {
		return failed(err)
	}
	i := k.token.Info()
	found := i.PIN.String()
	if i.PINPad {
		found += "; it is entered at the token"
	}
	switch i.PIN {
	case hsm.PINReady:
		return fine("%s, as far as the token shows", found)
	case hsm.PINLocked:
		return bad("%s", found).do("the security officer unlocks it")
	case hsm.PINFinalTry:
		return bad("%s", found).do("look the PIN up before anybody types it; a right one takes --allow-final-try")
	case hsm.PINNotSet:
		return bad("%s", found).do("the security officer sets one")
	case hsm.PINToBeChanged:
		return warn("%s", found).do("change it before the ceremony: many tokens do nothing else until then")
	default:
		return warn("%s", found)
	}
}

// findKey looks for the key without a login, and holds its public half against the expected one.
func (d *doctor) findKey(ctx context.Context) outcome {
	return d.configured(func(*config.Settings) outcome {
		k := &d.held
		expected, err := d.app.expectedPublic(d.flags.pub)
		if err != nil {
			return failed(err)
		}
		k.expected, k.pub = expected.Key, expected.Path
		d.member = k.expected
		if k.path, err = d.app.signingKey(d.flags.key); err != nil {
			return unseen("what stands at the module is about its name")
		}
		switch {
		case k.path == "":
			return bad("nothing says which key signs").do("configure key, or give --key; 'approver hsm list --login' prints the URIs of what a token has")
		case !hsm.IsURI(k.path):
			return d.findKeyFile()
		case k.token == nil:
			return unseen("no token")
		}
		return d.findTokenKey(ctx)
	}, "key", "public_key")
}

func (d *doctor) findKeyFile() outcome {
	k := &d.held
	if err := k.findFile(); err != nil {
		return failed(err)
	}
	d.member = k.expected
	return warn("%s, a file%s", k.path, kidText(", for key ", k.expected)).do("a file can be copied: a key that never leaves a token is wanted for anything but a rehearsal").note("kid", k.expected.KID().String())
}

func kidText(before string, key quorum.PublicKey) string {
	if key.IsZero() {
		return ""
	}
	return before + key.KID().String()
}

func (d *doctor) findTokenKey(ctx context.Context) outcome {
	k := &d.held
	if set, _, err := d.app.approverSet(d.flags.approvers); err == nil && set != nil && k.expected.IsZero() {
		if kid, err := quorum.ParseKID(k.uri.Object()); err == nil {
			k.expected, _ = set.Key(kid)
		}
	}
	if err := k.token.LookBeforeLogin(ctx); err != nil {
		return failed(err)
	}
	public, shown, err := k.token.Public(ctx, k.expected)
	if err != nil {
		return failed(err)
	}
	k.shown, d.member = public, k.public()
	o := d.judgePublic(shown)
	if d.flags.login {
		if d.loginErr = d.logIn(ctx); d.loginErr == nil {
			o = d.findPrivate(ctx)
		}
	}
	if warnings := k.uri.Warnings(); len(warnings) > 0 && o.light != dark {
		if o.found += "; " + strings.Join(warnings, "; "); o.light == green {
			o.light = amber
		}
		o = o.do("mend the URI, in the configuration or at --key")
	}
	return o
}

// logIn logs in on the token.
func (d *doctor) logIn(ctx context.Context) error {
	t := d.app.terminal()
	defer t.close()
	return d.held.token.Login(ctx, d.held.pinSource(t))
}

// judgePublic says what is known of the key before a login: the public half alone, beside which the private key may be gone.
func (d *doctor) judgePublic(shown bool) outcome {
	k, kid := &d.held, d.member.KID().String()
	switch {
	case !shown && d.flags.login:
		return unseen("nobody is logged in, and the token shows no public half of it before")
	case !shown:
		return bad("the token shows no key that the URI names to somebody who is not logged in").
			do("try it with --login, for a token that hides it until then; 'approver hsm list --login' prints the URIs of what a token has")
	case k.expected.IsZero():
		return warn("%s by the token's own word, and only the public half was seen; none is expected", kid).note("kid", kid)
	}
	return warn("%s, as expected; only the public half was seen", kid).do("--login tells more: whether the private key is there, and whether it signs").note("kid", kid)
}

// findPrivate looks for the private key, after the login.
func (d *doctor) findPrivate(ctx context.Context) outcome {
	k := &d.held
	o, err := k.token.Private(ctx, k.public())
	if wire.ReasonOf(err) == "key-not-found" {
		missing := failed(err)
		missing.found = "the token has no such key: no private key on it is the one that the URI names"
		return missing
	} else if err != nil {
		return failed(err)
	}
	k.private = true
	found, err := quorum.ParsePublicKey(o.SPKI)
	kid := found.KID().String()
	switch hidden := o.SPKI == nil; {
	case !hidden && err != nil:
		return bad("the key is %s; an approver's is %s", o.Algorithm, hsm.AlgorithmP256).do("name another key, or make one with 'approver hsm keygen'")
	case hidden && k.expected.IsZero():
		return warn("the private key is there; the token shows no public half of it, and none is expected")
	case hidden:
		kid = k.expected.KID().String()
		return warn("%s is expected; the private key is there, and the token shows no public half of it", kid).
			do("the trial tells whether it is this one; 'approver hsm import' writes the public half beside it").note("kid", kid)
	case k.expected.IsZero():
		d.member = found
		return warn("%s by the token's own word; none is expected", kid).note("kid", kid)
	case !found.Equal(k.expected):
		return bad("the public half on the token is %s, not the expected %s", kid, k.expected.KID()).do(hints[hintKey{wire.KeyUnavailable, "key-mismatch"}]).note("kid", kid)
	}
	return fine("%s, as expected", kid).note("kid", kid)
}

// trial has the key show that it works: on a token, after the login, it signs a trial; a key file is opened.
func (d *doctor) trial(ctx context.Context) outcome {
	k := &d.held
	switch {
	case !d.flags.login:
		return unseen("only with --login")
	case d.loginErr != nil:
		return failed(d.loginErr)
	case k.token == nil && k.sealed == nil || k.token != nil && !k.private:
		return unseen("no key")
	}
	if k.token == nil {
		t := d.app.terminal()
		defer t.close()
		key, err := k.unlock(ctx, t)
		if err != nil {
			return failed(err)
		}
		d.member = key.Public()
		return fine("the passphrase opens the file; it holds key %s", d.member.KID())
	}
	fitness, err := k.token.Check(ctx, k.public())
	if err != nil {
		return failed(err)
	}
	if d.member.IsZero() {
		d.member, _ = quorum.ParsePublicKey(fitness.Key.SPKI)
	}
	return judgeFitness(fitness, d.member)
}

// judgeFitness is red for a key that hsm check finds unfit, and for the same reasons.
func judgeFitness(f *hsm.Fitness, key quorum.PublicKey) outcome {
	if err := unfit(f); err != nil {
		o := failed(err).note("reasons", f.Reasons())
		o.found = strings.Join(f.Reasons(), "; ")
		return o
	}
	return fine("the key signed a trial, which verifies; it is what an approver's key should be%s", kidText(": ", key))
}
