package hsm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// An Answer is what a token says to a question of yes or no.
type Answer uint8

// The answers. A module that lacks an attribute, or gives no CK_BBOOL for it, has not answered.
const (
	NotAvailable Answer = iota
	No
	Yes
)

// String gives "not available", "false" or "true".
func (a Answer) String() string { return [...]string{"not available", "false", "true"}[a] }

// MarshalText gives String.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func answerOf(value []byte) Answer {
	switch {
	case len(value) != 1:
		return NotAvailable
	case value[0] == 0:
		return No
	}
	return Yes
}

// A FitnessRow is one thing that was looked at.
type FitnessRow struct {
	Name   string // "CKA_SENSITIVE" and the like, "key type", "public half", "private value", "before the login", "key-trial signature"
	Wanted string // "true", "false", a type, a kid, "not shown", "verified"; "any" where nothing is demanded
	Found  string // an Answer in words, a type, a kid; "shown", "not shown"; "verified" or why not
	Bad    string // why the key is unfit for it, a sentence without a full stop; "" where it is not
}

// Fitness is a private key held against what an approver's key should be.
type Fitness struct {
	Key  KeyObject
	Rows []FitnessRow
}

// Fit tells whether no row is bad.
func (f *Fitness) Fit() bool { return len(f.Reasons()) == 0 }

// Reasons gives what is bad.
func (f *Fitness) Reasons() (reasons []string) {
	for _, r := range f.Rows {
		if r.Bad != "" {
			reasons = append(reasons, r.Bad)
		}
	}
	return reasons
}

// demand is what an attribute of a fit key says. One that is proof has to be there; a usage that is forbidden may be
// unknown to a module, and whether the key signs is shown by its signature.
type demand struct {
	name   string
	attr   Attribute
	wanted Answer // NotAvailable where nothing is demanded
	proof  bool
	means  string // of the wrong answer
}

var demands = []demand{
	{"CKA_LOCAL", AttrLocal, Yes, true, "the key was not made on this token"},
	{"CKA_SENSITIVE", AttrSensitive, Yes, true, "the token can show the key"},
	{"CKA_ALWAYS_SENSITIVE", AttrAlwaysSensitive, Yes, true, "the token could once show the key"},
	{"CKA_EXTRACTABLE", AttrExtractable, No, true, "the key can be taken off the token"},
	{"CKA_NEVER_EXTRACTABLE", AttrNeverExtractable, Yes, true, "the key could once be taken off the token"},
	{"CKA_TOKEN", AttrToken, Yes, false, "the key goes with the session"},
	{"CKA_PRIVATE", AttrPrivate, Yes, false, "the key can be used without a login"},
	{"CKA_SIGN", AttrSign, Yes, false, "the key may not sign"},
	{"CKA_DECRYPT", AttrDecrypt, No, false, "the key may decrypt, which is another job"},
	{"CKA_UNWRAP", AttrUnwrap, No, false, "the key may unwrap keys, which is another job"},
	{"CKA_DERIVE", AttrDerive, No, false, "the key may derive keys, which is another job"},
	{"CKA_SIGN_RECOVER", AttrSignRecover, No, false, "the key may sign with recovery, which is another job"},
	{"CKA_ALWAYS_AUTHENTICATE", AttrAlwaysAuthenticate, NotAvailable, false, ""},
	{"CKA_MODIFIABLE", AttrModifiable, NotAvailable, false, ""},
}

func (d demand) row(found Answer) FitnessRow {
	r := FitnessRow{Name: d.name, Wanted: "any", Found: found.String()}
	if d.wanted == NotAvailable {
		return r
	}
	r.Wanted = d.wanted.String()
	switch {
	case found == NotAvailable && d.proof:
		r.Bad = d.name + " is not available: nothing shows that the key was made on this token and never left it"
	case found != NotAvailable && found != d.wanted:
		r.Bad = fmt.Sprintf("%s is %v: %s", d.name, found, d.means)
	}
	return r
}

// LookBeforeLogin notes which private keys the token shows to somebody who is not logged in. Check, which comes later, holds
// the key's CKA_PRIVATE to it.
func (t *Token) LookBeforeLogin(ctx context.Context) error {
	if err := t.take(ctx); err != nil {
		return err
	}
	defer t.release()
	if t.loggedIn {
		return wire.Errorf(wire.InvalidState, "", "somebody is logged in on the token already")
	}
	handles, err := t.handles(ctx, Match{AttrClass, ULong(ClassPrivateKey)})
	if err != nil {
		return err
	}
	t.looked, t.exposed = true, nil
	for _, h := range handles {
		o, err := t.read(ctx, PrivateKey, h)
		if err != nil {
			return err
		}
		t.exposed = append(t.exposed, o)
	}
	return nil
}

// Check holds the private key that the URI names against what an approver's key should be: made on the token and never
// outside, for signing only, P-256, with a public half that is the expected one (zero: the token's word), and signing a
// key-trial that verifies. What the attributes say is held to what the token does: CKA_VALUE must not be shown, of which the
// length alone is asked for, and after LookBeforeLogin the key must not have been shown then. It comes after Login, and before Key, which forgets the PIN. What a key is not is a row; errors
// are those of finding one key, of a token that is gone or hangs, and of a PIN that was refused.
func (t *Token) Check(ctx context.Context, expected quorum.PublicKey) (*Fitness, error) {
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	all, err := t.objects(ctx)
	if err != nil {
		return nil, err
	}
	var spki []byte
	if !expected.IsZero() {
		spki = expected.SPKI()
	}
	o, err := t.locate(all, spki)
	if err != nil {
		return nil, err
	}
	return t.fitness(ctx, o, AlgorithmP256, spki)
}

// fitness makes the rows. expected is the SPKI that the public half must have, or nil.
func (t *Token) fitness(ctx context.Context, o KeyObject, algorithm Algorithm, expected []byte) (*Fitness, error) {
	f := &Fitness{Key: o, Rows: []FitnessRow{typeRow(o, algorithm), halfRow(o, expected)}}
	for _, d := range demands {
		value, err := t.attribute(ctx, o.handle, d.attr)
		if err != nil {
			return nil, err
		}
		f.Rows = append(f.Rows, d.row(answerOf(value)))
	}
	value, err := t.valueRow(ctx, o)
	if err != nil {
		return nil, err
	}
	f.Rows = append(f.Rows, value)
	if t.looked {
		f.Rows = append(f.Rows, t.exposedRow(o))
	}
	row, err := t.trialRow(ctx, o, expected)
	if err != nil {
		return nil, err
	}
	f.Rows = append(f.Rows, row)
	return f, nil
}

const hidden = "not shown"

// valueRow asks for the length of the private value, which a sensitive key does not tell either.
func (t *Token) valueRow(ctx context.Context, o KeyObject) (FitnessRow, error) {
	r := FitnessRow{Name: "private value", Wanted: hidden, Found: hidden}
	n, err := call(ctx, t.line, "C_GetAttributeValue", func() (int, error) { return t.module.SecretLength(t.session, o.handle) })
	if _, refused := errors.AsType[RV](err); err != nil && (!refused || wire.CodeOf(err) != "") {
		return r, err
	}
	if err == nil && n > 0 {
		r.Found = "shown"
		r.Bad = fmt.Sprintf("the token shows the private key to whoever asks: CKA_VALUE has %d bytes, whatever it says of CKA_SENSITIVE", n)
	}
	return r, nil
}

// exposedRow tells whether the key was seen before the login: by its handle, or by its id and label.
func (t *Token) exposedRow(o KeyObject) FitnessRow {
	r := FitnessRow{Name: "before the login", Wanted: hidden, Found: hidden}
	for _, seen := range t.exposed {
		if seen.handle == o.handle || bytes.Equal(seen.ID, o.ID) && seen.label() == o.label() {
			r.Found, r.Bad = "shown", "the token shows the private key without a login, whatever it says of CKA_PRIVATE"
		}
	}
	return r
}

func typeRow(o KeyObject, wanted Algorithm) FitnessRow {
	r := FitnessRow{Name: "key type", Wanted: string(wanted), Found: string(o.Algorithm)}
	if o.Algorithm != wanted {
		r.Bad = fmt.Sprintf("the key is %s, not %s", o.Algorithm, wanted)
	}
	return r
}

func halfRow(o KeyObject, expected []byte) FitnessRow {
	r := FitnessRow{Name: "public half", Wanted: "any", Found: NotAvailable.String()}
	if expected != nil {
		r.Wanted = kidOf(expected)
	}
	switch {
	case o.SPKI == nil && expected == nil:
		r.Bad = "the token does not show the public half, so it cannot be told which key this is"
	case o.SPKI != nil:
		r.Found = kidOf(o.SPKI)
		if expected != nil && !bytes.Equal(expected, o.SPKI) {
			r.Bad = fmt.Sprintf("the public half on the token is %s, not the expected %s", r.Found, r.Wanted)
		}
	}
	return r
}

// trialRow has the key sign. An answer of the key is the row's; one that says that the token, the module or the PIN failed
// is an error.
func (t *Token) trialRow(ctx context.Context, o KeyObject, expected []byte) (FitnessRow, error) {
	r := FitnessRow{Name: "key-trial signature", Wanted: "verified", Found: "verified"}
	public := o.key
	if public == nil && expected != nil {
		if key, err := quorum.ParsePublicKey(expected); err == nil {
			public = key.ECDSA()
		}
	}
	if public == nil {
		r.Found, r.Bad = "not tried", "without a public half no signature can be verified"
		return r, nil
	}
	key, err := t.plain(ctx, o, public)
	if wire.CodeOf(err) == wire.Unsupported {
		r.Found, r.Bad = "not tried", fmt.Sprintf("a key-trial is not made with a key of type %s", o.Algorithm)
		return r, nil
	} else if err != nil {
		return r, err
	}
	err = t.trial(ctx, key)
	if err == nil {
		return r, nil
	}
	t.end(err)
	if reason := wire.ReasonOf(err); ctx.Err() != nil || reason != "" && reason != "bad-signature" {
		return r, err
	}
	r.Found = "failed"
	r.Bad = "the key-trial failed: " + wire.MessageOf(err)
	return r, nil
}
