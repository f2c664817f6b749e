package hsm

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"slices"

	"github.com/better-compute/approver/core/wire"
)

// MaxPublicHalfBytes is the length of the longest file that ParsePublicHalf reads.
const MaxPublicHalfBytes = 64 << 10

// A PublicHalf is a public key or a certificate, to be put beside its private key. ParsePublicHalf makes one, so it never
// holds anything private.
type PublicHalf struct {
	key         crypto.PublicKey
	certificate *x509.Certificate // nil for a bare public key
}

// ParsePublicHalf reads one public key (PEM, PUBLIC KEY) or one X.509 certificate (PEM, or DER), of a P-256 or an Ed25519
// key. Errors are INVALID_INPUT, for a private key among others, and UNSUPPORTED for another kind of key.
func ParsePublicHalf(data []byte) (h PublicHalf, err error) {
	if len(data) > MaxPublicHalfBytes {
		return h, wire.Errorf(wire.InvalidInput, "", "a public key or certificate of more than %d bytes", MaxPublicHalfBytes)
	}
	kind, der := "CERTIFICATE", data
	if block, rest := pem.Decode(data); block != nil {
		if len(bytes.TrimSpace(rest)) > 0 || !bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN")) || len(block.Headers) > 0 {
			return h, wire.Errorf(wire.InvalidInput, "", "wanted: one PEM block and nothing else")
		}
		kind, der = block.Type, block.Bytes
	}
	switch kind {
	case "PUBLIC KEY":
		h.key, err = x509.ParsePKIXPublicKey(der)
	case "CERTIFICATE":
		if h.certificate, err = x509.ParseCertificate(der); err == nil {
			h.key = h.certificate.PublicKey
		}
	default: // what stands in it may be secret, so the words of its kind are all that is said
		return h, wire.Errorf(wire.InvalidInput, "", "a PEM block %q; wanted: PUBLIC KEY or CERTIFICATE. A private key is never imported", kind)
	}
	if err != nil {
		return PublicHalf{}, wire.Errorf(wire.InvalidInput, "", "neither a public key nor a certificate: %w", err)
	}
	if a := algorithmOf(h.key); a != AlgorithmP256 && a != AlgorithmEd25519 {
		return PublicHalf{}, wire.Errorf(wire.Unsupported, "", "the key is %v; wanted: P-256 or Ed25519", a)
	}
	return h, nil
}

// KID gives the kid of the key.
func (h PublicHalf) KID() string { return kidOf(spkiOf(h.key)) }

// Class gives PublicKey or Certificate.
func (h PublicHalf) Class() ObjectClass {
	if h.certificate != nil {
		return Certificate
	}
	return PublicKey
}

// Import puts a public key or certificate beside the private key that the URI names, with its id and label, after Login.
// The key must have none of that class (CONFLICT), and a key-trial signed by it must verify under what is imported
// (KEY_UNAVAILABLE "key-mismatch"), before anything is made. What was made is read back, and destroyed again where it is
// not what was given.
func (a *Admin) Import(ctx context.Context, h PublicHalf) (made KeyObject, err error) {
	if h.key == nil {
		return made, wire.Errorf(wire.InvalidInput, "", "there is nothing to import")
	}
	err = a.change(ctx, UserNormal, func() error {
		private, err := a.alone(ctx, h)
		if err != nil {
			return err
		}
		before, err := a.token.handles(ctx) // of every object
		if err != nil {
			return err
		}
		made, err = a.create(ctx, h, private, before)
		return err
	})
	return made, err
}

// Local tells what the token says of the private key that h was imported for: whether it was made there (CKA_LOCAL). Whoever
// imports a public half may be about to take for an approver's a key that was somewhere else. Errors are KEY_UNAVAILABLE.
func (a *Admin) Local(ctx context.Context, h PublicHalf) (Answer, error) {
	t := a.token
	if err := t.take(ctx); err != nil {
		return NotAvailable, err
	}
	defer t.release()
	all, err := t.objects(ctx)
	if err != nil {
		return NotAvailable, err
	}
	o, err := t.locate(all, spkiOf(h.key))
	if err != nil {
		return NotAvailable, err
	}
	value, err := t.attribute(ctx, o.handle, AttrLocal)
	return answerOf(value), err
}

// alone gives the private key that h belongs to and that has no such half yet.
func (a *Admin) alone(ctx context.Context, h PublicHalf) (KeyObject, error) {
	t, spki := a.token, spkiOf(h.key)
	all, err := t.objects(ctx)
	if err != nil {
		return KeyObject{}, err
	}
	o, err := t.locate(all, spki)
	if err != nil {
		return o, err
	}
	if len(o.ID) == 0 && o.label() == "" {
		return o, wire.Errorf(wire.Unsupported, "", "the private key has neither id nor label, so nothing could tell that a public half is its own")
	}
	if o.SPKI != nil && !bytes.Equal(o.SPKI, spki) {
		return o, errOtherHalf(o.SPKI, spki)
	}
	for _, other := range all {
		if other.Class == h.Class() && o.belongs(other) {
			return o, wire.Errorf(wire.Conflict, "", "the key has a %v already; nothing was made", other.Class)
		}
		if other.Class == PrivateKey && other.handle != o.handle && o.belongs(other) {
			return o, errAmbiguousObjects([]KeyObject{o, other})
		}
	}
	key, err := t.plain(ctx, o, h.key)
	if err != nil {
		return o, err
	}
	if err := t.trial(ctx, key); wire.ReasonOf(err) == "bad-signature" {
		return o, wire.Errorf(wire.KeyUnavailable, "key-mismatch",
			"a signature by the private key does not verify under %s: it is another key's; nothing was made", h.KID())
	} else if err != nil {
		return o, err
	}
	return o, nil
}

// create makes the object, which is none of those before, and reads it back.
func (a *Admin) create(ctx context.Context, h PublicHalf, private KeyObject, before []Object) (KeyObject, error) {
	t := a.token
	object, err := h.object(private)
	if err != nil {
		return KeyObject{}, err
	}
	handle, err := finish(ctx, t, "C_CreateObject", func() (Object, error) { return a.manager.CreateObject(t.session, object) })
	if err != nil {
		return KeyObject{}, refusal("C_CreateObject", err)
	}
	if slices.Contains(before, handle) {
		return KeyObject{}, errNotNew("C_CreateObject")
	}
	made, err := t.read(ctx, h.Class(), handle)
	if err == nil && (!bytes.Equal(made.SPKI, spkiOf(h.key)) || !bytes.Equal(made.ID, private.ID)) {
		err = wire.Errorf(wire.KeyUnavailable, "", "the token does not give the %v back as it was given", h.Class())
	}
	if err == nil {
		return made, nil
	}
	if _, stayed := a.destroy(ctx, handle); stayed != nil {
		return KeyObject{}, withTail(err, "; and what was made could not be destroyed again: "+wire.MessageOf(stayed))
	}
	return KeyObject{}, withTail(err, "; what was made was destroyed again")
}

// object gives the template: public, on the token, with the private key's id and label.
func (h PublicHalf) object(private KeyObject) (PublicObject, error) {
	template := []Match{
		{AttrClass, ULong(h.Class().cko())}, yes(AttrToken), no(AttrPrivate),
		{AttrID, private.ID}, {AttrLabel, []byte(private.label())},
	}
	if c := h.certificate; c != nil {
		serial, err := asn1.Marshal(c.SerialNumber)
		if err != nil {
			return PublicObject{}, wire.Errorf(wire.InvalidInput, "", "the certificate's serial number: %w", err)
		}
		return PublicObject{append(template, Match{AttrCertificateType, ULong(certificateTypeX509)}, Match{AttrSubject, c.RawSubject},
			Match{AttrIssuer, c.RawIssuer}, Match{AttrSerialNumber, serial}, Match{AttrValue, c.Raw})}, nil
	}
	kind, params := KeyTypeEC, p256Params
	if algorithmOf(h.key) == AlgorithmEd25519 {
		kind, params = KeyTypeEdwards, ed25519Params[0]
	}
	point, err := asn1.Marshal(pointOf(h.key)) // an OCTET STRING
	if err != nil {
		return PublicObject{}, wire.Errorf(wire.InvalidInput, "", "the point of the public key: %w", err)
	}
	return PublicObject{append(template, Match{AttrKeyType, ULong(kind)}, Match{AttrECParams, params}, Match{AttrECPoint, point}, yes(AttrVerify))}, nil
}
