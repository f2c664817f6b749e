package hsm

import (
	"context"

	"github.com/better-compute/approver/core/wire"
)

// A Deletion is what deleting a key would take off the token, looked up and not done. Only PlanDeletion makes one.
type Deletion struct {
	admin   *Admin
	objects []KeyObject
}

// PlanDeletion looks up, after Login, the private key that the URI names, and the public keys and certificates of its id
// (of its label, where it has no id). Where no private key is named, what is left of one is taken: the public keys and
// certificates that are. It changes nothing. Errors are KEY_UNAVAILABLE: "key-not-found", and "ambiguous" for two keys,
// also where another private key has the same id, since the halves cannot be told apart.
//
// A private key that does not show its public half signs a key-trial, since a person is asked by its kid: where that does
// not verify under the public half beside it, the key has no kid in the Deletion.
func (a *Admin) PlanDeletion(ctx context.Context) (*Deletion, error) {
	var d *Deletion
	err := a.change(ctx, UserNormal, func() error {
		all, err := a.token.objects(ctx)
		if err != nil {
			return err
		}
		objects, err := a.token.doomed(all)
		if err == nil {
			err = a.token.prove(ctx, &objects[0])
		}
		d = &Deletion{a, objects}
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (t *Token) doomed(all []KeyObject) (objects []KeyObject, err error) {
	private, err := t.locate(all, nil)
	switch {
	case wire.ReasonOf(err) == "key-not-found":
		for _, o := range all {
			if o.Class != PrivateKey && t.names(o) {
				objects = append(objects, o)
			}
		}
		return objects, t.oneOrphan(all, objects, err)
	case err != nil:
		return nil, err
	}
	objects = []KeyObject{private}
	for _, o := range all {
		switch {
		case o.handle == private.handle || !private.belongs(o):
		case o.Class == PrivateKey:
			return nil, errAmbiguousObjects([]KeyObject{private, o})
		default:
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// prove takes the public half from a private key whose signature does not verify under it, or that does not sign: anybody
// may have put another one's beside it.
func (t *Token) prove(ctx context.Context, o *KeyObject) error {
	if o.Class != PrivateKey || !o.paired || o.KID() == "" {
		return nil
	}
	key, err := t.plain(ctx, *o, o.key)
	if err == nil {
		err = t.trial(ctx, key)
	}
	if reason := wire.ReasonOf(err); err == nil || ctx.Err() != nil || reason != "" && reason != "bad-signature" {
		return err
	}
	o.key, o.SPKI = nil, nil
	return nil
}

// oneOrphan refuses public objects that are of several keys, or still of a private one; none is the error of not finding
// any.
func (t *Token) oneOrphan(all, orphans []KeyObject, none error) error {
	if len(orphans) == 0 {
		return none
	}
	for _, o := range orphans {
		if !orphans[0].belongs(o) {
			return errAmbiguousObjects(orphans)
		}
	}
	for _, o := range all {
		if o.Class == PrivateKey && orphans[0].belongs(o) {
			return wire.Errorf(wire.KeyUnavailable, "key-not-found",
				"what the pkcs11: URI names belongs to the private key %q; name that one", o.label())
		}
	}
	return nil
}

// Objects gives what would go, the private key first.
func (d *Deletion) Objects() []KeyObject { return append([]KeyObject(nil), d.objects...) }

// Run destroys them, the private key first, after a person confirmed. Where that one stays, all of it stays: without its
// public half nobody could tell any more which key it is. Else it goes on after one that fails. It gives those that are
// gone; what stayed can be planned and deleted again.
func (d *Deletion) Run(ctx context.Context) (deleted []KeyObject, err error) {
	err = d.admin.change(ctx, UserNormal, func() (first error) {
		for _, o := range d.objects {
			_, err := d.admin.destroy(ctx, o.handle)
			if err == nil {
				deleted = append(deleted, o)
			} else if first == nil {
				first = err
			}
			if err != nil && o.Class == PrivateKey {
				break
			}
		}
		return first
	})
	return deleted, err
}
