package hsm

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// idBytes is the length of the id of a key that is made here: the first 20 bytes of the SHA-256 of what stands in the BIT
// STRING of its SPKI, the point (RFC 7093, section 2, method 1). So an id never says a key that another one has.
const idBytes = 20

// maxLabelBytes bounds the label of a new key; some tokens take no more.
const maxLabelBytes = 64

// A NewKeySpec says what key to make.
type NewKeySpec struct {
	Label     string    // 1 to 64 bytes of UTF-8 without control characters
	Algorithm Algorithm // AlgorithmP256 or AlgorithmEd25519
}

func (s NewKeySpec) check() error {
	if s.Algorithm != AlgorithmP256 && s.Algorithm != AlgorithmEd25519 {
		return wire.Errorf(wire.InvalidInput, "", "keys are made of type P-256 or Ed25519, not %q", string(s.Algorithm))
	}
	if s.Label == "" || len(s.Label) > maxLabelBytes || !utf8.ValidString(s.Label) || strings.ContainsFunc(s.Label, unicode.IsControl) {
		return wire.Errorf(wire.InvalidInput, "", "the label of a key is 1 to %d bytes of UTF-8 without control characters", maxLabelBytes)
	}
	return nil
}

// A NewKey is a key pair that was just made, checked and found fit.
type NewKey struct {
	admin   *Admin
	object  KeyObject
	handles []Object // private, public
	signer  *TokenKey
}

// Object gives the private half, with its id, kid and URI.
func (k *NewKey) Object() KeyObject { return k.object }

// Signer gives the key as an approver's, to prove that its holder has it; false for an Ed25519 key, which is none.
func (k *NewKey) Signer() (quorum.Signer, bool) { return k.signer, k.signer != nil }

// Destroy takes both halves off the token again, for when what should follow failed. It works after an error that ended
// the session, as far as the session does, and after the end of ctx. An error says what stayed.
func (k *NewKey) Destroy(ctx context.Context) error {
	t := k.admin.token
	<-t.turn
	defer t.release()
	if t.closed {
		return wire.Errorf(wire.KeyUnavailable, "", "the token was closed; the key labelled %q stayed on it", k.object.label())
	}
	return k.admin.undo(ctx, k.object.label(), k.handles...)
}

// GenerateKey makes a key pair on the token, after Login: P-256 or Ed25519, private, sensitive, not extractable, for
// signing only. A label that a private or public key has already is CONFLICT, and nothing is made. The id is set from the
// public half. The new key is then held to Token.Check, its public half and id read back, its signature verified among it;
// where anything fails both halves are destroyed again, and the error says so or says that they stayed.
func (a *Admin) GenerateKey(ctx context.Context, spec NewKeySpec) (*NewKey, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	var key *NewKey
	err := a.change(ctx, UserNormal, func() (err error) {
		key, err = a.generate(ctx, spec)
		return err
	})
	return key, err
}

func (a *Admin) generate(ctx context.Context, spec NewKeySpec) (*NewKey, error) {
	t := a.token
	for _, class := range []ObjectClass{PrivateKey, PublicKey} {
		handles, err := t.handles(ctx, Match{AttrClass, ULong(class.cko())}, Match{AttrLabel, []byte(spec.Label)})
		if err != nil {
			return nil, err
		}
		if len(handles) > 0 {
			return nil, wire.Errorf(wire.Conflict, "", "the token has a %v labelled %q already; no key was made", class, spec.Label)
		}
	}
	provisional := make([]byte, idBytes) // some modules make no pair without an id
	rand.Read(provisional)
	mechanism, public, private, err := a.templatesFor(ctx, spec, provisional)
	if err != nil {
		return nil, err
	}
	before, err := t.handles(ctx) // of every object there is
	if err != nil {
		return nil, err
	}
	type pair struct{ public, private Object }
	made, err := finish(ctx, t, "C_GenerateKeyPair", func() (p pair, err error) {
		p.public, p.private, err = a.manager.GenerateKeyPair(t.session, mechanism, public, private)
		return p, err
	})
	if err != nil {
		return nil, a.generateRefusal(ctx, spec, err)
	}
	if made.public == made.private || slices.Contains(before, made.public) || slices.Contains(before, made.private) {
		return nil, errNotNew("C_GenerateKeyPair")
	}
	key := &NewKey{admin: a, handles: []Object{made.private, made.public}}
	if err = key.complete(ctx, spec); err == nil {
		err = a.onlyOne(ctx, spec)
	}
	if err == nil {
		return key, nil
	}
	if stayed := a.undo(ctx, spec.Label, key.handles...); stayed != nil {
		return nil, withTail(err, "; and "+wire.MessageOf(stayed))
	}
	return nil, withTail(err, "; the new key was destroyed again")
}

// onlyOne looks, once the key is there, whether somebody else made one of its label meanwhile. It sees what the module shows:
// SoftHSM misses what another process made between its last look and its last write.
func (a *Admin) onlyOne(ctx context.Context, spec NewKeySpec) error {
	handles, err := a.token.handles(ctx, Match{AttrClass, ULong(PrivateKey.cko())}, Match{AttrLabel, []byte(spec.Label)})
	if err == nil && len(handles) > 1 {
		err = wire.Errorf(wire.Conflict, "", "another key labelled %q was made at the same time", spec.Label)
	}
	return err
}

// errNotNew is for a module that gives the handle of what was there before as that of what it made. That must never be
// changed, or destroyed again.
func errNotNew(function string) error {
	return wire.Errorf(wire.KeyUnavailable, "module",
		"%s did not give the handle of a new object; nothing was changed or destroyed; look with 'approver hsm list' what it made", function)
}

// withTail adds to what an error says, and keeps its code, details and cause.
func withTail(err error, tail string) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return wire.Errorf(wire.KeyUnavailable, "", "%w%s", err, tail)
	}
	said := *e
	said.Message += tail
	return &said
}

// undo destroys what was made.
func (a *Admin) undo(ctx context.Context, label string, handles ...Object) error {
	if gone, err := a.destroy(ctx, handles...); err != nil {
		return wire.Errorf(wire.KeyUnavailable, wire.ReasonOf(err),
			"of the %d halves of the key labelled %q only %d could be destroyed again; delete the rest: %w", len(handles), label, gone, err)
	}
	return nil
}

// complete sets the id and checks the new pair.
func (k *NewKey) complete(ctx context.Context, spec NewKeySpec) error {
	a, t := k.admin, k.admin.token
	private, public := k.handles[0], k.handles[1]
	half, err := t.read(ctx, PublicKey, public)
	if err != nil {
		return err
	}
	if half.key == nil || half.Algorithm != spec.Algorithm {
		return wire.Errorf(wire.KeyUnavailable, "", "the token made a public key of type %v that cannot be read as %v", half.Algorithm, spec.Algorithm)
	}
	sum := sha256.Sum256(pointOf(half.key))
	for _, h := range []Object{private, public} {
		if _, err := call(ctx, t.line, "C_SetAttributeValue", nothing(func() error {
			return a.manager.SetAttribute(t.session, h, Match{AttrID, sum[:idBytes]})
		})); err != nil {
			return refusal("C_SetAttributeValue", err)
		}
	}
	if half, err = t.read(ctx, PublicKey, public); err != nil {
		return err
	}
	if k.object, err = t.read(ctx, PrivateKey, private); err != nil {
		return err
	}
	if !bytes.Equal(half.ID, sum[:idBytes]) || !bytes.Equal(k.object.ID, half.ID) || k.object.label() != spec.Label || half.label() != spec.Label {
		return wire.Errorf(wire.KeyUnavailable, "", "the token does not give the id and label of the new key back")
	}
	k.object.pair([]KeyObject{half})
	fitness, err := t.fitness(ctx, k.object, spec.Algorithm, half.SPKI)
	if err != nil {
		return err
	}
	if !fitness.Fit() {
		return wire.Errorf(wire.KeyUnavailable, "", "the key that the token made is unfit: %s", strings.Join(fitness.Reasons(), "; "))
	}
	return k.makeSigner(ctx, half.SPKI)
}

// makeSigner makes the signer of a P-256 key.
func (k *NewKey) makeSigner(ctx context.Context, spki []byte) error {
	if k.object.Algorithm != AlgorithmP256 {
		return nil
	}
	public, err := quorum.ParsePublicKey(spki)
	if err != nil {
		return err
	}
	t := k.admin.token
	always, err := t.attribute(ctx, k.object.handle, AttrAlwaysAuthenticate)
	if err != nil {
		return err
	}
	k.signer = &TokenKey{token: t, handle: k.object.handle, public: public, always: answerOf(always) == Yes}
	return nil
}

// templates gives what C_GenerateKeyPair is asked for.
func templates(spec NewKeySpec, id []byte) (m Mechanism, public, private []Match) {
	m, params := MechanismECKeyPairGen, p256Params
	if spec.Algorithm == AlgorithmEd25519 {
		m, params = MechanismEdKeyPairGen, ed25519Params[0]
	}
	label := Match{AttrLabel, []byte(spec.Label)}
	public = []Match{
		{AttrECParams, params}, label, {AttrID, id},
		yes(AttrToken), no(AttrPrivate), yes(AttrVerify), no(AttrEncrypt), no(AttrWrap),
	}
	private = []Match{
		label, {AttrID, id},
		yes(AttrToken), yes(AttrPrivate), yes(AttrSensitive), no(AttrExtractable),
		yes(AttrSign), no(AttrDecrypt), no(AttrUnwrap), no(AttrDerive), no(AttrSignRecover),
	}
	return m, public, private
}

// present asks the token whether it is there, and whether the session is alive.
func (a *Admin) present(ctx context.Context) bool {
	t := a.token
	if _, err := finish(ctx, t, "C_GetTokenInfo", func() (TokenRecord, error) { return t.module.Token(t.info.Slot) }); err != nil {
		return false
	}
	_, err := t.handles(context.WithoutCancel(ctx), Match{AttrClass, ULong(ClassPrivateKey)})
	return err == nil
}

// generateRefusal says what can be done where a token makes no such keys. After a deadline it is not known what was made.
func (a *Admin) generateRefusal(ctx context.Context, spec NewKeySpec, err error) error {
	if rv, ok := errors.AsType[RV](err); ok && (rv == rvMechanismInvalid || rv == rvNotSupported) {
		return wire.Errorf(wire.Unsupported, "", "C_GenerateKeyPair gave %w: the token makes no %v keys", rv, spec.Algorithm)
	}
	if rv, ok := errors.AsType[RV](err); ok && rv == rvGeneralError && a.present(ctx) { // said of a template as often as of a removal
		return wire.Errorf(wire.KeyUnavailable, "", "C_GenerateKeyPair gave %w, and the token is still there: its module does not make such a key", rv)
	}
	if wire.ReasonOf(err) == "timeout" {
		return wire.Errorf(wire.KeyUnavailable, "timeout", "%w; look whether the token has a key labelled %q now", err, spec.Label)
	}
	return refusal("C_GenerateKeyPair", err)
}
