package hsm

import (
	"context"
	"fmt"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A TokenKey is a private key on an open token. It is a quorum.Signer.
type TokenKey struct {
	token  *Token
	handle Object
	public quorum.PublicKey
	always bool // CKA_ALWAYS_AUTHENTICATE
}

// Public gives the public half that was expected, or the token's own where nothing was.
func (k *TokenKey) Public() quorum.PublicKey { return k.public }

// Sign has the token sign the statement's digest, 32 bytes, with CKM_ECDSA, after a login of its own where the key
// demands one each time. It gives only a signature of 64 bytes that verifies under Public. Any error ends the session,
// nothing is tried again: KEY_UNAVAILABLE, among them "bad-signature", "device-removed" and "timeout". The zero Statement
// is INVALID_INPUT and ends nothing.
func (k *TokenKey) Sign(ctx context.Context, s quorum.Statement) (quorum.Signature, error) {
	if s.Purpose() == "" {
		return quorum.Signature{}, errNoStatement()
	}
	t := k.token
	if err := t.take(ctx); err != nil {
		return quorum.Signature{}, err
	}
	defer t.release()
	digest := s.Digest()
	raw, err := k.sign(ctx, digest[:])
	if err == nil {
		var signature quorum.Signature
		if signature, err = verified(k.public, s, raw); err == nil {
			return signature, nil
		}
	}
	t.end(err)
	return quorum.Signature{}, err
}

func (k *TokenKey) sign(ctx context.Context, digest []byte) ([]byte, error) {
	return k.token.sign(ctx, MechanismECDSA, k.handle, k.always, digest)
}

// sign is one signature of a private key over data, raw as the module gives it; always is CKA_ALWAYS_AUTHENTICATE.
func (t *Token) sign(ctx context.Context, m Mechanism, key Object, always bool, data []byte) ([]byte, error) {
	_, err := call(ctx, t.line, "C_SignInit", nothing(func() error { return t.module.SignInit(t.session, m, key) }))
	if err != nil {
		return nil, signRefusal("C_SignInit", err)
	}
	if always { // in any other place than straight after C_SignInit it is an error
		if err := t.login(ctx, UserContextSpecific, t.pin); err != nil {
			return nil, err
		}
	}
	raw, err := call(ctx, t.line, "C_Sign", func() ([]byte, error) { return t.module.Sign(t.session, data) })
	return raw, signRefusal("C_Sign", err)
}

// verified gives raw, r ‖ s, as the signature of the expected key over s, or KEY_UNAVAILABLE "bad-signature".
func verified(expected quorum.PublicKey, s quorum.Statement, raw []byte) (quorum.Signature, error) {
	if len(raw) != quorum.SigBytes {
		return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "bad-signature",
			"the key gave a signature of %d bytes; %d are wanted", len(raw), quorum.SigBytes)
	}
	sig := quorum.Sig(raw)
	if !expected.Verify(s, sig) {
		return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "bad-signature",
			"the key gave a signature that does not verify under the expected key %v; it is another key, or the signature was damaged", expected.KID())
	}
	return quorum.Signature{KID: expected.KID(), Sig: sig}, nil
}

func errNoStatement() error {
	return wire.Errorf(wire.InvalidInput, "", "there is nothing to sign: the statement is empty")
}

func hexID(id string) string { return fmt.Sprintf("%x", id) }

func listKeys(objects []object) string {
	text := ""
	for i, o := range objects {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %q", hexID(o.id), o.label)
	}
	return text
}
