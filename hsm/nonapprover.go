package hsm

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"io"

	"github.com/better-compute/approver/core/wire"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// A plainKey is a private key on a token that signs bytes: P-256 or Ed25519, with the public half its signatures must
// verify under.
type plainKey struct {
	handle Object
	always bool // CKA_ALWAYS_AUTHENTICATE
	public crypto.PublicKey
}

// plain makes a plainKey of a private key object. The error is UNSUPPORTED for another algorithm.
func (t *Token) plain(ctx context.Context, o KeyObject, public crypto.PublicKey) (plainKey, error) {
	if a := algorithmOf(public); a != AlgorithmP256 && a != AlgorithmEd25519 {
		return plainKey{}, wire.Errorf(wire.Unsupported, "", "the key is %v; wanted: P-256 or Ed25519", a)
	}
	always, err := t.attribute(ctx, o.handle, AttrAlwaysAuthenticate)
	return plainKey{o.handle, answerOf(always) == Yes, public}, err
}

// signDigest signs the SHA-256 digest (P-256) and gives r ‖ s as ASN.1, verified.
func (t *Token) signDigest(ctx context.Context, k plainKey, digest []byte) ([]byte, error) {
	public, ok := k.public.(*ecdsa.PublicKey)
	if !ok || len(digest) != 32 {
		return nil, wire.Errorf(wire.InvalidInput, "", "a P-256 key signs 32 bytes of a digest; here are %d", len(digest))
	}
	raw, err := t.sign(ctx, MechanismECDSA, k.handle, k.always, digest)
	if err != nil {
		return nil, err
	}
	if len(raw) != 64 {
		return nil, errBadSignature(len(raw))
	}
	var b cryptobyte.Builder
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, half := range [][]byte{raw[:32], raw[32:]} {
			b.AddASN1(asn1.INTEGER, func(b *cryptobyte.Builder) { // unsigned, in its shortest form
				n := bytes.TrimLeft(half, "\x00")
				if len(n) == 0 || n[0] >= 0x80 {
					b.AddUint8(0)
				}
				b.AddBytes(n)
			})
		}
	})
	der, err := b.Bytes()
	if err != nil || !ecdsa.VerifyASN1(public, digest, der) {
		return nil, errBadSignature(len(raw))
	}
	return der, nil
}

// signMessage signs a message (Ed25519, pure) and gives the 64 bytes, verified.
func (t *Token) signMessage(ctx context.Context, k plainKey, message []byte) ([]byte, error) {
	public, ok := k.public.(ed25519.PublicKey)
	if !ok {
		return nil, wire.Errorf(wire.InvalidInput, "", "only an Ed25519 key signs a message without a hash")
	}
	raw, err := t.sign(ctx, MechanismEdDSA, k.handle, k.always, message)
	if err != nil {
		return nil, err
	}
	if len(raw) != ed25519.SignatureSize || !ed25519.Verify(public, message, raw) {
		return nil, errBadSignature(len(raw))
	}
	return raw, nil
}

func errBadSignature(n int) error {
	return wire.Errorf(wire.KeyUnavailable, "bad-signature",
		"the key gave a signature of %d bytes that does not verify under its public half; it is another key, or the signature was damaged", n)
}

// trial lets a key sign a key-trial (WIRE.md §1: its kid and 32 random bytes), as any key may, and verifies it.
func (t *Token) trial(ctx context.Context, k plainKey) error {
	nonce := make([]byte, 32)
	rand.Read(nonce)
	input := wire.SigningInput("key-trial", []byte(kidOf(spkiOf(k.public))), nonce)
	if _, isEdwards := k.public.(ed25519.PublicKey); isEdwards {
		_, err := t.signMessage(ctx, k, input)
		return err
	}
	hash := crypto.SHA256.New()
	hash.Write(input)
	_, err := t.signDigest(ctx, k, hash.Sum(nil))
	return err
}

// nonApproverKey is a key of another job as crypto.Signer.
type nonApproverKey struct {
	token *Token
	key   plainKey
}

// NonApproverSigner gives the private key that the URI names as a crypto.Signer, after Login: for keys of other jobs, such
// as a CA's. It is not for an approver's key: that one signs statements of its purposes and nothing else, through
// Token.Key (WIRE.md §1); nothing on a token tells the two apart, so whoever calls this answers for it. Keys are P-256,
// whose signatures are ASN.1 over a digest of 32 bytes or more (cut to 32, as FIPS 186-5 does), and Ed25519, pure, with
// opts.HashFunc() zero and the message for the digest. expected is the public half, nil the token's word. Each signature
// verified before it is given out; an error ends the session. Errors are KEY_UNAVAILABLE: "key-not-found", "ambiguous",
// "key-mismatch"; UNSUPPORTED for another kind of key. Each module call has the token's timeout, since Sign has no context.
func (t *Token) NonApproverSigner(ctx context.Context, expected crypto.PublicKey) (crypto.Signer, error) {
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	all, err := t.objects(ctx)
	if err != nil {
		return nil, err
	}
	spki := spkiOf(expected)
	if expected != nil && spki == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "the expected public key is a %T; wanted: one of the standard library", expected)
	}
	o, err := t.locate(all, spki)
	if err != nil {
		return nil, err
	}
	switch {
	case expected != nil && o.SPKI != nil && !bytes.Equal(o.SPKI, spki):
		return nil, errOtherHalf(o.SPKI, spki)
	case expected == nil && o.key == nil:
		return nil, wire.Errorf(wire.KeyUnavailable, "key-not-found",
			"the token has the private key, but does not show its public half; give the public key that is expected")
	case expected == nil:
		expected = o.key
	}
	key, err := t.plain(ctx, o, expected)
	if err != nil {
		return nil, err
	}
	t.keepPIN = t.keepPIN || key.always
	return &nonApproverKey{t, key}, nil
}

func errOtherHalf(found, expected []byte) error {
	return wire.Errorf(wire.KeyUnavailable, "key-mismatch", "the token's key is %s, not the expected %s", kidOf(found), kidOf(expected)).
		With("expected", kidOf(expected)).With("found", kidOf(found))
}

func (k *nonApproverKey) Public() crypto.PublicKey { return k.key.public }

func (k *nonApproverKey) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	sign, err := k.choose(digest, opts)
	if err != nil {
		return nil, err
	}
	t, ctx := k.token, context.Background()
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	signature, err := sign(ctx)
	if err != nil {
		t.end(err)
	}
	return signature, err
}

// choose settles how digest is signed, or refuses what the key cannot sign, before anything is asked of the token.
func (k *nonApproverKey) choose(digest []byte, opts crypto.SignerOpts) (func(context.Context) ([]byte, error), error) {
	if opts == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "no signer options say what is signed")
	}
	hash := opts.HashFunc()
	if _, isEdwards := k.key.public.(ed25519.PublicKey); isEdwards {
		if o, has := opts.(*ed25519.Options); hash != 0 || has && o.Context != "" {
			return nil, wire.Errorf(wire.Unsupported, "", "an Ed25519 key signs messages here, no digest and no context")
		}
		return func(ctx context.Context) ([]byte, error) { return k.token.signMessage(ctx, k.key, digest) }, nil
	}
	if hash == 0 || hash.Size() < 32 || len(digest) != hash.Size() {
		return nil, wire.Errorf(wire.InvalidInput, "",
			"a P-256 key signs the digest of a hash of 32 bytes or more; here are %d bytes as %v", len(digest), hash)
	}
	return func(ctx context.Context) ([]byte, error) { return k.token.signDigest(ctx, k.key, digest[:32]) }, nil
}
