package hsm

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// An ObjectClass is what an object on a token is.
type ObjectClass uint8

// The classes that are listed.
const (
	PrivateKey ObjectClass = iota
	PublicKey
	Certificate
)

// String gives the class in words.
func (c ObjectClass) String() string {
	return [...]string{"private key", "public key", "certificate"}[c]
}

// cko gives CKA_CLASS.
func (c ObjectClass) cko() uint {
	return [...]uint{ClassPrivateKey, ClassPublicKey, ClassCertificate}[c]
}

// A KeyObject is a private key, a public key or a certificate as a token shows it. Every attribute is read by itself, so
// that one which is missing hides no other.
type KeyObject struct {
	Class     ObjectClass
	Algorithm Algorithm
	ID        []byte  // CKA_ID; nil where it is not available
	Label     *string // CKA_LABEL; nil where it is not available
	SPKI      []byte  // of the key; nil where it is not available. A private key has that of the public key or certificate of its id
	URI       URI     // by token, serial, id and label, to copy; zero where none can be written

	handle Object
	key    crypto.PublicKey // behind SPKI
	paired bool             // SPKI is that of another object
}

// KID gives the base64url, unpadded, of the SHA-256 of the SPKI of a P-256 or Ed25519 key (WIRE.md §1), else "".
func (o KeyObject) KID() string {
	if o.SPKI == nil || o.Algorithm != AlgorithmP256 && o.Algorithm != AlgorithmEd25519 {
		return ""
	}
	return kidOf(o.SPKI)
}

// Same tells whether both are one object of one token, as listed through one session.
func (o KeyObject) Same(other KeyObject) bool { return o.handle == other.handle }

func kidOf(spki []byte) string {
	sum := sha256.Sum256(spki)
	return wire.EncodeBase64URL(sum[:])
}

// PublicPEM gives the form of a .pub file, or nil where the public half is not available.
func (o KeyObject) PublicPEM() []byte {
	if o.SPKI == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: o.SPKI})
}

// label gives the label or "".
func (o KeyObject) label() string {
	if o.Label == nil {
		return ""
	}
	return *o.Label
}

// Objects lists the key objects and certificates that the token shows, private keys after Login, narrowed by id and object
// of the URI. Errors are KEY_UNAVAILABLE.
func (t *Token) Objects(ctx context.Context) ([]KeyObject, error) {
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	all, err := t.objects(ctx)
	if err != nil {
		return nil, t.said(err)
	}
	var named []KeyObject
	for _, o := range all {
		if t.names(o) {
			named = append(named, o)
		}
	}
	return named, nil
}

// Private gives the private key that the URI names, after Login; expected, where it is not zero, settles which of several is
// meant, and may be another than the key has. Errors are KEY_UNAVAILABLE: "key-not-found" and "ambiguous".
func (t *Token) Private(ctx context.Context, expected quorum.PublicKey) (o KeyObject, err error) {
	if err := t.take(ctx); err != nil {
		return o, err
	}
	defer t.release()
	all, err := t.objects(ctx)
	if err != nil {
		return o, err
	}
	var spki []byte
	if !expected.IsZero() {
		spki = expected.SPKI()
	}
	return t.locate(all, spki)
}

// objects reads every object of the three classes, private keys first, and pairs them.
func (t *Token) objects(ctx context.Context) ([]KeyObject, error) {
	var all []KeyObject
	for _, class := range []ObjectClass{PrivateKey, PublicKey, Certificate} {
		handles, err := t.handles(ctx, Match{AttrClass, ULong(class.cko())})
		if err != nil {
			return nil, err
		}
		for _, h := range handles {
			o, err := t.read(ctx, class, h)
			if err != nil {
				return nil, err
			}
			all = append(all, o)
		}
	}
	for i := range all {
		if all[i].Class == PrivateKey && all[i].key == nil {
			all[i].pair(all)
		}
	}
	return all, nil
}

func (t *Token) handles(ctx context.Context, template ...Match) ([]Object, error) {
	handles, err := call(ctx, t.line, "C_FindObjects", func() ([]Object, error) { return t.module.Find(t.session, template) })
	return handles, refusal("C_FindObjects", err)
}

// read reads one object. A label that is not there is told from an empty one by nil.
func (t *Token) read(ctx context.Context, class ObjectClass, h Object) (o KeyObject, err error) {
	o = KeyObject{Class: class, Algorithm: algorithmUnknown, handle: h}
	value := func(a Attribute) (v []byte) {
		if err == nil {
			v, err = t.attribute(ctx, h, a)
		}
		return v
	}
	o.ID = value(AttrID)
	if label := value(AttrLabel); label != nil {
		s := string(label)
		o.Label = &s
	}
	if class == Certificate {
		if c, bad := x509.ParseCertificate(value(AttrValue)); bad == nil {
			o.key, o.Algorithm = c.PublicKey, algorithmOf(c.PublicKey)
		}
	} else {
		switch kind := value(AttrKeyType); string(kind) {
		case string(ULong(KeyTypeEC)), string(ULong(KeyTypeEdwards)):
			o.Algorithm, o.key = ecKey(value(AttrECParams), value(AttrECPoint))
		case string(ULong(KeyTypeRSA)):
			o.Algorithm, o.key = rsaKey(value(AttrModulus), value(AttrPublicExponent))
		}
	}
	o.SPKI = spkiOf(o.key)
	o.URI = t.info.objectURI(o.ID, o.label())
	return o, err
}

// pair gives a private key that does not show its public half that of its id: of a public key, else of a certificate;
// where ids repeat, of its id and label; without an id, of its label. It stays unknown where that is not one key.
func (o *KeyObject) pair(all []KeyObject) {
	for _, class := range []ObjectClass{PublicKey, Certificate} {
		var same, labelled []KeyObject
		for _, other := range all {
			if other.Class != class || other.key == nil || !o.belongs(other) {
				continue
			}
			same = addKey(same, other)
			if other.label() == o.label() {
				labelled = addKey(labelled, other)
			}
		}
		if len(same) > 1 {
			same = labelled
		}
		if len(same) == 1 && (o.Algorithm == algorithmUnknown || o.Algorithm == same[0].Algorithm) {
			o.Algorithm, o.key, o.SPKI, o.paired = same[0].Algorithm, same[0].key, same[0].SPKI, true
			return
		}
	}
}

// addKey adds an object whose key is not among them yet.
func addKey(to []KeyObject, o KeyObject) []KeyObject {
	for _, has := range to {
		if bytes.Equal(has.SPKI, o.SPKI) {
			return to
		}
	}
	return append(to, o)
}

// belongs tells whether other has the id of o, or, where o has none, no id and the label of o.
func (o KeyObject) belongs(other KeyObject) bool {
	if len(o.ID) > 0 {
		return bytes.Equal(o.ID, other.ID)
	}
	return len(other.ID) == 0 && o.label() != "" && o.label() == other.label()
}

// names tells whether the URI's id and object, as far as given, are those of o.
func (t *Token) names(o KeyObject) bool {
	return t.options.URI.is("id", string(o.ID)) && t.options.URI.is("object", o.label())
}

// named gives the private keys that the URI names: where none has the label but a public key does, that of its id, as
// Token.Key does.
func (t *Token) named(all []KeyObject) (privates []KeyObject) {
	for _, o := range all {
		if o.Class == PrivateKey && t.names(o) {
			privates = append(privates, o)
		}
	}
	if len(privates) > 0 || !t.options.URI.has("object") {
		return privates
	}
	for _, o := range all {
		if o.Class != PrivateKey {
			continue
		}
		for _, other := range all {
			if other.Class == PublicKey && t.names(other) && len(o.ID) > 0 && o.belongs(other) {
				privates = append(privates, o)
				break
			}
		}
	}
	return privates
}

// locate gives the one private key that the URI names; a key whose public half is spki settles which of several. Errors
// are KEY_UNAVAILABLE "key-not-found" and "ambiguous".
func (t *Token) locate(all []KeyObject, spki []byte) (KeyObject, error) {
	privates := t.named(all)
	if len(privates) > 1 && spki != nil {
		var equal []KeyObject
		for _, o := range privates {
			if bytes.Equal(o.SPKI, spki) {
				equal = append(equal, o)
			}
		}
		if len(equal) > 0 {
			privates = equal
		}
	}
	switch len(privates) {
	case 0:
		return KeyObject{}, wire.Errorf(wire.KeyUnavailable, "key-not-found", "the token has no private key that the pkcs11: URI names")
	case 1:
		return privates[0], nil
	}
	return KeyObject{}, errAmbiguousObjects(privates)
}

func errAmbiguousObjects(objects []KeyObject) error {
	text, keys := "", make([]map[string]string, 0, len(objects))
	for i, o := range objects {
		if i > 0 {
			text += ", "
		}
		text += hexID(string(o.ID)) + " " + quoted(o.label())
		keys = append(keys, map[string]string{"id": hexID(string(o.ID)), "label": o.label(), "kid": o.KID()})
	}
	return wire.Errorf(wire.KeyUnavailable, "ambiguous",
		"%d keys match the pkcs11: URI (ids and labels: %s); name one by id and object", len(objects), text).With("keys", keys)
}
