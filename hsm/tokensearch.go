package hsm

import (
	"context"
	"errors"

	"github.com/better-compute/approver/core/quorum"
)

// An object is a key object on a token, as far as matching looks at it.
type object struct {
	handle    Object
	id, label string
	public    quorum.PublicKey // the zero PublicKey where the object does not show one
}

// search finds the EC key objects of a class that also match, and reads what tells them apart. Objects on another curve
// than P-256 are left out.
func (t *Token) search(ctx context.Context, class uint, matches ...Match) ([]object, error) {
	template := append([]Match{{AttrClass, ULong(class)}, {AttrKeyType, ULong(KeyTypeEC)}}, matches...)
	handles, err := call(ctx, t.line, "C_FindObjects", func() ([]Object, error) { return t.module.Find(t.session, template) })
	if err != nil {
		return nil, refusal("C_FindObjects", err)
	}
	var objects []object
	for _, h := range handles {
		if known, ok := t.known[h]; ok {
			objects = append(objects, known)
			continue
		}
		o, isP256, err := t.describe(ctx, class, h)
		if err != nil {
			return nil, err
		}
		if !isP256 {
			continue
		}
		objects = append(objects, o)
		if class == ClassPublicKey && !o.public.IsZero() { // what was not shown may be after a login
			t.known[h] = o
		}
	}
	return objects, nil
}

// describe reads what a key object shows of itself.
func (t *Token) describe(ctx context.Context, class uint, h Object) (o object, isP256 bool, err error) {
	together := []Attribute{AttrID, AttrLabel, AttrECParams}
	if class == ClassPublicKey { // of the others few show it
		together = append(together, AttrECPoint)
	}
	values, err := t.attributes(ctx, h, together...)
	if err == nil && class != ClassPublicKey {
		var point []byte
		point, err = t.attribute(ctx, h, AttrECPoint)
		values = append(values, point)
	}
	if err != nil {
		return object{}, false, err
	}
	o = object{handle: h, id: string(values[0]), label: string(values[1])}
	o.public, _ = parseECPoint(values[3])
	return o, values[2] == nil || string(values[2]) == string(p256Params), nil
}

// attributes reads attributes of an object, each nil that the module does not have or does not show. Asked for several, a
// module fails them all where it lacks one; then they are read one at a time.
func (t *Token) attributes(ctx context.Context, h Object, asked ...Attribute) ([][]byte, error) {
	values, err := call(ctx, t.line, "C_GetAttributeValue", func() ([][]byte, error) { return t.module.Attributes(t.session, h, asked...) })
	if !notShown(err) {
		return values, refusal("C_GetAttributeValue", err)
	}
	values = make([][]byte, len(asked))
	if len(asked) == 1 {
		return values, nil
	}
	for i, a := range asked {
		if values[i], err = t.attribute(ctx, h, a); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// attribute reads one attribute; nil is one that the module does not have or does not show.
func (t *Token) attribute(ctx context.Context, h Object, a Attribute) ([]byte, error) {
	values, err := t.attributes(ctx, h, a)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

func notShown(err error) bool {
	rv, ok := errors.AsType[RV](err)
	return ok && (rv == rvAttributeInvalid || rv == rvAttributeSensitive)
}

// wanted gives what the URI says of the key, as a template.
func (t *Token) wanted() (matches []Match) {
	u := t.options.URI
	if u.has("id") {
		matches = append(matches, Match{AttrID, []byte(u.path["id"])})
	}
	if u.has("object") {
		matches = append(matches, Match{AttrLabel, []byte(u.path["object"])})
	}
	return matches
}

// privates gives the private keys that the URI names. Where no private key has the label but a public one does, the
// private key of its id is meant: tokens such as YubiKeys label the two halves differently.
func (t *Token) privates(ctx context.Context) ([]object, error) {
	found, err := t.search(ctx, ClassPrivateKey, t.wanted()...)
	if err != nil || len(found) > 0 || !t.options.URI.has("object") {
		return found, err
	}
	publics, err := t.search(ctx, ClassPublicKey, t.wanted()...)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for _, p := range publics {
		if p.id == "" || seen[p.id] {
			continue
		}
		seen[p.id] = true
		more, err := t.search(ctx, ClassPrivateKey, Match{AttrID, []byte(p.id)})
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// pair finds the public half of a private key that does not show it: the public key of its id, where ids repeat that of
// its id and label, where it has no id that of its label. It stays unknown where that is not one point.
func (t *Token) pair(ctx context.Context, private *object) error {
	if !private.public.IsZero() {
		return nil
	}
	match := Match{AttrID, []byte(private.id)}
	if private.id == "" {
		match = Match{AttrLabel, []byte(private.label)}
	}
	if len(match.Value) == 0 {
		return nil
	}
	publics, err := t.search(ctx, ClassPublicKey, match)
	if err != nil {
		return err
	}
	if points := distinct(publics); len(points) == 1 {
		private.public = points[0]
		return nil
	}
	var labelled []object
	for _, p := range publics {
		if p.label == private.label {
			labelled = append(labelled, p)
		}
	}
	if points := distinct(labelled); len(points) == 1 {
		private.public = points[0]
	}
	return nil
}

// distinct gives the points that the objects show, each once.
func distinct(objects []object) (points []quorum.PublicKey) {
next:
	for _, o := range objects {
		if o.public.IsZero() {
			continue
		}
		for _, p := range points {
			if p.Equal(o.public) {
				continue next
			}
		}
		points = append(points, o.public)
	}
	return points
}
