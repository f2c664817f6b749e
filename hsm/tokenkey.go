package hsm

import (
	"context"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// Public gives the public half of the key that the URI names, as far as the token shows it to somebody who is not logged
// in; shown is false where it shows none. expected, where it is not zero, settles which of several is meant. Errors are
// KEY_UNAVAILABLE: "key-mismatch" where halves are shown and none is the expected one, "ambiguous" where several are
// shown and none is expected. Both cost no login.
func (t *Token) Public(ctx context.Context, expected quorum.PublicKey) (key quorum.PublicKey, shown bool, err error) {
	if err := t.take(ctx); err != nil {
		return key, false, err
	}
	defer t.release()
	defer func() { t.said(err) }()
	publics, err := t.search(ctx, ClassPublicKey, t.wanted()...)
	if err != nil {
		return key, false, err
	}
	points := distinct(publics)
	if expected.IsZero() {
		switch len(points) {
		case 0:
			return key, false, nil
		case 1:
			return points[0], true, nil
		}
		return key, false, errAmbiguousKey(publics)
	}
	for _, p := range points {
		if p.Equal(expected) {
			return p, true, nil
		}
	}
	if len(points) > 0 {
		return key, false, errKeyMismatch(expected, points[0])
	}
	return key, false, nil
}

// Key gives the P-256 private key that the URI names, after Login. It is the one whose public half is expected; a zero
// expected takes the token's word, which whoever uses the key should be warned of. Errors are KEY_UNAVAILABLE:
// "key-not-found", "key-mismatch" where the public half on the token is another, "ambiguous" where id, label and expected
// public half leave more than one.
func (t *Token) Key(ctx context.Context, expected quorum.PublicKey) (key *TokenKey, err error) {
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	defer func() { t.said(err) }()
	privates, err := t.privates(ctx)
	if err != nil {
		return nil, err
	}
	for i := range privates {
		if err := t.pair(ctx, &privates[i]); err != nil {
			return nil, err
		}
	}
	chosen, err := choose(privates, expected)
	if err != nil {
		return nil, err
	}
	always, err := t.attribute(ctx, chosen.handle, AttrAlwaysAuthenticate)
	if err != nil {
		return nil, err
	}
	k := &TokenKey{token: t, handle: chosen.handle, public: chosen.public, always: len(always) == 1 && always[0] != 0}
	if k.always {
		t.keepPIN = true
	} else if !t.keepPIN {
		clear(t.pin)
		t.pin = nil
	}
	return k, nil
}

// choose settles which private key is meant. A key whose public half the token does not show can be the expected one; a
// signature that does not verify under it is never given out.
func choose(privates []object, expected quorum.PublicKey) (object, error) {
	if len(privates) == 0 {
		return object{}, wire.Errorf(wire.KeyUnavailable, "key-not-found", "the token has no P-256 private key that the pkcs11: URI names")
	}
	if expected.IsZero() {
		if len(privates) > 1 {
			return object{}, errAmbiguousKey(privates)
		}
		if privates[0].public.IsZero() {
			return object{}, wire.Errorf(wire.KeyUnavailable, "key-not-found",
				"the token has the private key, but does not show its public half; give the public key that is expected")
		}
		return privates[0], nil
	}
	var equal, unknown []object
	for _, p := range privates {
		if p.public.IsZero() {
			p.public = expected
			unknown = append(unknown, p)
		} else if p.public.Equal(expected) {
			equal = append(equal, p)
		}
	}
	switch {
	case len(equal) == 1:
		return equal[0], nil
	case len(equal) > 1:
		return object{}, errAmbiguousKey(equal)
	case len(unknown) == 1:
		return unknown[0], nil
	case len(unknown) > 1:
		return object{}, errAmbiguousKey(unknown)
	}
	return object{}, errKeyMismatch(expected, privates[0].public)
}

func errAmbiguousKey(objects []object) error {
	keys := make([]map[string]string, 0, len(objects))
	for _, o := range objects {
		keys = append(keys, map[string]string{"id": hexID(o.id), "label": o.label, "kid": o.public.KID().String()})
	}
	return wire.Errorf(wire.KeyUnavailable, "ambiguous",
		"%d keys match the pkcs11: URI (ids and labels: %s); name one by id and object, or give the public key that is expected",
		len(objects), listKeys(objects)).With("keys", keys)
}

func errKeyMismatch(expected, found quorum.PublicKey) error {
	return wire.Errorf(wire.KeyUnavailable, "key-mismatch", "the token's key is %v, not the expected %v", found.KID(), expected.KID()).
		With("expected", expected.KID().String()).With("found", found.KID().String())
}
