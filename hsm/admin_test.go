package hsm_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

// A fake is a Manager whose functions are fields, over a module that does the rest; one that is nil gives
// CKR_FUNCTION_NOT_SUPPORTED. It notes the calls that change something.
type fake struct {
	*spy
	openWritable    func(hsm.SlotID) (hsm.Session, error)
	generateKeyPair func(m hsm.Mechanism, public, private []hsm.Match) (hsm.Object, hsm.Object, error)
	createObject    func(hsm.PublicObject) (hsm.Object, error)
	setAttribute    func(hsm.Object, hsm.Match) error
	destroyObject   func(hsm.Object) error
	setPIN          func(old, next []byte) error
	initPIN         func(next []byte) error
	initToken       func(slot hsm.SlotID, soPIN []byte, label string) error
}

const notSupported hsm.RV = 0x54

func (f *fake) OpenWritableSession(id hsm.SlotID) (hsm.Session, error) {
	f.calls = append(f.calls, "C_OpenSession RW")
	if f.openWritable != nil {
		return f.openWritable(id)
	}
	return f.spy.OpenSession(id)
}

func (f *fake) GenerateKeyPair(_ hsm.Session, m hsm.Mechanism, public, private []hsm.Match) (hsm.Object, hsm.Object, error) {
	f.calls = append(f.calls, "C_GenerateKeyPair")
	if f.generateKeyPair == nil {
		return 0, 0, notSupported
	}
	return f.generateKeyPair(m, public, private)
}

func (f *fake) CreateObject(_ hsm.Session, o hsm.PublicObject) (hsm.Object, error) {
	f.calls = append(f.calls, "C_CreateObject")
	if f.createObject == nil {
		return 0, notSupported
	}
	return f.createObject(o)
}

func (f *fake) SetAttribute(_ hsm.Session, o hsm.Object, m hsm.Match) error {
	f.calls = append(f.calls, "C_SetAttributeValue")
	if f.setAttribute == nil {
		return notSupported
	}
	return f.setAttribute(o, m)
}

func (f *fake) DestroyObject(_ hsm.Session, o hsm.Object) error {
	f.calls = append(f.calls, "C_DestroyObject")
	if f.destroyObject == nil {
		return notSupported
	}
	return f.destroyObject(o)
}

func (f *fake) SetPIN(_ hsm.Session, old, next []byte) error {
	f.calls = append(f.calls, "C_SetPIN")
	if f.setPIN == nil {
		return notSupported
	}
	return f.setPIN(old, next)
}

func (f *fake) InitPIN(_ hsm.Session, next []byte) error {
	f.calls = append(f.calls, "C_InitPIN")
	if f.initPIN == nil {
		return notSupported
	}
	return f.initPIN(next)
}

func (f *fake) InitToken(slot hsm.SlotID, soPIN []byte, label string) error {
	f.calls = append(f.calls, "C_InitToken")
	if f.initToken == nil {
		return notSupported
	}
	return f.initToken(slot, soPIN, label)
}

func newFake(t *testing.T, tokens ...softtoken.Token) *fake { return &fake{spy: newSpy(t, tokens...)} }

// loggedIn opens a fake's token and logs in.
func loggedIn(t *testing.T, f *fake, s string) *hsm.Admin {
	t.Helper()
	a, err := hsm.OpenAdmin(t.Context(), f, hsm.TokenOptions{URI: uri(t, s)})
	require.NoError(t, err)
	t.Cleanup(func() { a.Close() })
	require.NoError(t, a.Login(t.Context(), fixedPIN("1234")))
	return a
}

func TestOpenAdmin(t *testing.T) {
	_, err := hsm.OpenAdmin(t.Context(), newSpy(t, approverToken(newP256(t))), hsm.TokenOptions{URI: uri(t, approverURI)})
	requireRefused(t, err, wire.Unsupported, "")
	// A token that takes no read-write session is refused and left finalized.
	f := newFake(t, approverToken(newP256(t)))
	f.openWritable = func(hsm.SlotID) (hsm.Session, error) { return 0, hsm.RV(0xE2) }
	_, err = hsm.OpenAdmin(t.Context(), f, hsm.TokenOptions{URI: uri(t, approverURI)})
	requireRefused(t, err, wire.KeyUnavailable, "")
	require.ErrorContains(t, err, "CKR_TOKEN_WRITE_PROTECTED (0xe2): the token cannot be written to")
	require.Equal(t, 1, f.count("C_Finalize"))
	require.Zero(t, f.count("C_OpenSession"))
	// Without a login nothing is changed.
	f = newFake(t, approverToken(newP256(t)))
	a, err := hsm.OpenAdmin(t.Context(), f, hsm.TokenOptions{URI: uri(t, approverURI)})
	require.NoError(t, err)
	_, err = a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "new", Algorithm: hsm.AlgorithmP256})
	requireRefused(t, err, wire.InvalidState, "")
	_, err = a.PlanDeletion(t.Context())
	requireRefused(t, err, wire.InvalidState, "")
	requireRefused(t, a.ChangePIN(t.Context(), fixedPIN("4321")), wire.InvalidState, "")
	requireRefused(t, a.SetUserPIN(t.Context(), fixedPIN("4321")), wire.InvalidState, "")
	require.NoError(t, a.Close())
	require.Zero(t, f.count("C_SetPIN")+f.count("C_InitPIN")+f.count("C_DestroyObject")+f.count("C_GenerateKeyPair"))
}

// What a new key is asked to be, and that a label that is taken, by a private or by a public key, makes none.
func TestGenerateKeyAsksForAFitKey(t *testing.T) {
	key := newP256(t)
	tokens := softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "k", PublicLabel: "P", ID: []byte{1}, Private: key}}}
	for _, label := range []string{"k", "P"} {
		f := newFake(t, tokens)
		_, err := loggedIn(t, f, "pkcs11:token=approver").GenerateKey(t.Context(), hsm.NewKeySpec{Label: label, Algorithm: hsm.AlgorithmP256})
		requireRefused(t, err, wire.Conflict, "")
		require.Zero(t, f.count("C_GenerateKeyPair"))
	}
	for _, spec := range []hsm.NewKeySpec{
		{Label: "", Algorithm: hsm.AlgorithmP256}, {Label: "a\nb", Algorithm: hsm.AlgorithmP256}, {Label: "a\xff", Algorithm: hsm.AlgorithmP256},
		{Label: "a"}, {Label: "a", Algorithm: "RSA 2048"},
	} {
		f := newFake(t, tokens)
		_, err := loggedIn(t, f, "pkcs11:token=approver").GenerateKey(t.Context(), spec)
		requireRefused(t, err, wire.InvalidInput, "")
		require.Zero(t, f.count("C_GenerateKeyPair"))
	}
	f := newFake(t, tokens)
	var asked map[hsm.Attribute]string
	f.generateKeyPair = func(m hsm.Mechanism, public, private []hsm.Match) (hsm.Object, hsm.Object, error) {
		require.Equal(t, hsm.MechanismECKeyPairGen, m)
		asked = make(map[hsm.Attribute]string)
		for _, match := range private {
			asked[match.Attribute] = string(match.Value)
		}
		return 0, 0, hsm.RV(0x70)
	}
	_, err := loggedIn(t, f, "pkcs11:token=approver").GenerateKey(t.Context(), hsm.NewKeySpec{Label: "new", Algorithm: hsm.AlgorithmP256})
	requireRefused(t, err, wire.Unsupported, "")
	for a, value := range map[hsm.Attribute]string{
		hsm.AttrToken: "\x01", hsm.AttrPrivate: "\x01", hsm.AttrSensitive: "\x01", hsm.AttrExtractable: "\x00", hsm.AttrSign: "\x01",
		hsm.AttrDecrypt: "\x00", hsm.AttrUnwrap: "\x00", hsm.AttrDerive: "\x00", hsm.AttrSignRecover: "\x00", hsm.AttrLabel: "new",
	} {
		require.Equal(t, value, asked[a], "attribute %#x", a)
	}
}

// made is a fake that "makes" the key that lies on the token under another label: handles 2 and 1 are its halves.
func made(t *testing.T) *fake {
	f := newFake(t, softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "lain", ID: []byte{1}, Private: newP256(t)}}})
	f.generateKeyPair = func(hsm.Mechanism, []hsm.Match, []hsm.Match) (hsm.Object, hsm.Object, error) { return 2, 1, nil }
	f.destroyObject = func(hsm.Object) error { return nil }
	f.find = func(_ []hsm.Match, found []hsm.Object) []hsm.Object {
		if f.count("C_GenerateKeyPair") == 0 {
			return nil
		}
		return found
	}
	return f
}

// A module that gives the handles of what was there before has none of it changed or destroyed.
func TestWhatWasThereBeforeIsNotTakenBack(t *testing.T) {
	f := made(t)
	f.find = nil
	_, err := loggedIn(t, f, "pkcs11:token=approver").GenerateKey(t.Context(), hsm.NewKeySpec{Label: "new", Algorithm: hsm.AlgorithmP256})
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.Zero(t, f.count("C_DestroyObject")+f.count("C_SetAttributeValue"))

	key := newP256(t)
	f = newFake(t, softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "k", ID: []byte{1}, Private: key, HidePublic: true}}})
	f.createObject = func(hsm.PublicObject) (hsm.Object, error) { return 1, nil }
	f.destroyObject = func(hsm.Object) error { return nil }
	half, err := hsm.ParsePublicHalf(pemOf(t, key))
	require.NoError(t, err)
	_, err = loggedIn(t, f, "pkcs11:token=approver;object=k").Import(t.Context(), half)
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.Zero(t, f.count("C_DestroyObject"), "the private key")
}

func TestGenerateKeyTakesBackWhatIsNotRight(t *testing.T) {
	spec := hsm.NewKeySpec{Label: "new", Algorithm: hsm.AlgorithmP256}
	for name, test := range map[string]struct {
		prepare func(*fake)
		says    string
	}{
		"no id can be set":      {func(f *fake) {}, "C_SetAttributeValue"},
		"the id is not kept":    {func(f *fake) { f.setAttribute = func(hsm.Object, hsm.Match) error { return nil } }, "id and label"},
		"no public half":        {func(f *fake) { f.attribute = without(hsm.AttrECPoint) }, "cannot be read as P-256"},
		"a session that died":   {func(f *fake) { f.fail["C_GetAttributeValue"] = hsm.RV(0x30) }, "CKR_DEVICE_ERROR"},
		"another type of key":   {func(f *fake) { f.attribute = answering(hsm.AttrECParams, []byte{6, 3, 0x2b, 0x65, 0x70}) }, "type"},
		"a public half damaged": {func(f *fake) { f.attribute = answering(hsm.AttrECPoint, make([]byte, 65)) }, "type"},
	} {
		t.Run(name, func(t *testing.T) {
			f := made(t)
			test.prepare(f)
			_, err := loggedIn(t, f, "pkcs11:token=approver").GenerateKey(t.Context(), spec)
			require.Equal(t, wire.KeyUnavailable, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, test.says)
			require.ErrorContains(t, err, "destroyed again")
			require.Equal(t, 2, f.count("C_DestroyObject"))
		})
	}
	// What stays is said.
	f := made(t)
	f.destroyObject = func(o hsm.Object) error {
		if o == 1 {
			return hsm.RV(0x1B)
		}
		return nil
	}
	_, err := loggedIn(t, f, "pkcs11:token=approver").GenerateKey(t.Context(), spec)
	require.ErrorContains(t, err, "only 1 could be destroyed again")
	require.Equal(t, 2, f.count("C_DestroyObject"), "one that fails keeps no other")
	// An interrupt while the token makes the key does not leave it there.
	f = made(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.generateKeyPair = func(hsm.Mechanism, []hsm.Match, []hsm.Match) (hsm.Object, hsm.Object, error) {
		cancel()
		return 2, 1, nil
	}
	_, err = loggedIn(t, f, "pkcs11:token=approver").GenerateKey(ctx, spec)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, f.count("C_DestroyObject"))
}

// CKR_GENERAL_ERROR is a removal where the token is not there any more, and else a key that the module does not make.
func TestGenerateKeyAsksWhetherTheTokenIsGone(t *testing.T) {
	for name, test := range map[string]struct {
		gone, reason, says string
		rv                 hsm.RV
	}{
		"there":            {"", "", "does not make such a key", 0},
		"removed":          {"C_GetTokenInfo", "device-removed", "the token was removed", 0x32},
		"its session died": {"C_FindObjects", "device-removed", "the token was removed, or its session died", 0xB3},
	} {
		t.Run(name, func(t *testing.T) {
			f := made(t)
			f.generateKeyPair = func(hsm.Mechanism, []hsm.Match, []hsm.Match) (hsm.Object, hsm.Object, error) {
				f.fail[test.gone] = test.rv
				return 0, 0, hsm.RV(0x05)
			}
			a := loggedIn(t, f, "pkcs11:token=approver")
			_, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "new", Algorithm: hsm.AlgorithmP256})
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			require.ErrorContains(t, err, "C_GenerateKeyPair gave CKR_GENERAL_ERROR (0x05)")
			require.ErrorContains(t, err, test.says)
			require.Equal(t, 1, f.count("C_GenerateKeyPair"))
		})
	}
}

func without(a hsm.Attribute) func(hsm.Object, hsm.Attribute, []byte, error) ([]byte, error) {
	return func(_ hsm.Object, asked hsm.Attribute, value []byte, err error) ([]byte, error) {
		if asked == a {
			return nil, hsm.RV(0x12)
		}
		return value, err
	}
}

func answering(a hsm.Attribute, with []byte) func(hsm.Object, hsm.Attribute, []byte, error) ([]byte, error) {
	return func(_ hsm.Object, asked hsm.Attribute, value []byte, err error) ([]byte, error) {
		if asked == a {
			return with, nil
		}
		return value, err
	}
}

func pemOf(t *testing.T, key *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func TestImportMakesOnlyThePublicHalfOfTheKey(t *testing.T) {
	key := newP256(t)
	token := softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "k", ID: []byte{1}, Private: key, HidePublic: true}}}
	half, err := hsm.ParsePublicHalf(pemOf(t, key))
	require.NoError(t, err)
	f := newFake(t, token)
	f.createObject = func(o hsm.PublicObject) (hsm.Object, error) {
		classes := 0
		for _, match := range o.Template() {
			if match.Attribute == hsm.AttrClass {
				classes++
				require.Equal(t, hsm.ULong(hsm.ClassPublicKey), match.Value)
			}
			require.NotEqual(t, hsm.AttrValue, match.Attribute)
		}
		require.Equal(t, 1, classes)
		return 99, nil // not what was asked for
	}
	f.destroyObject = func(hsm.Object) error { return nil }
	_, err = loggedIn(t, f, "pkcs11:token=approver;object=k").Import(t.Context(), half)
	require.ErrorContains(t, err, "destroyed again")
	require.Equal(t, 1, f.count("C_DestroyObject"))

	other, err := hsm.ParsePublicHalf(pemOf(t, newP256(t)))
	require.NoError(t, err)
	f = newFake(t, token)
	_, err = loggedIn(t, f, "pkcs11:token=approver;object=k").Import(t.Context(), other)
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	_, err = loggedIn(t, newFake(t, token), "pkcs11:token=approver;object=k").Import(t.Context(), hsm.PublicHalf{})
	requireRefused(t, err, wire.InvalidInput, "")
	require.Zero(t, f.count("C_CreateObject"))
	require.Empty(t, hsm.PublicObject{}.Template())
}

func TestParsePublicHalfRefuses(t *testing.T) {
	private, err := x509.MarshalPKCS8PrivateKey(newP256(t))
	require.NoError(t, err)
	good := pemOf(t, newP256(t))
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("no key"), "two": append(append([]byte{}, good...), good...), "before": append([]byte("x\n"), good...),
		"private":       pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		"bare private":  private,
		"EC private":    pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		"private named": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: private}),
		"long":          make([]byte, hsm.MaxPublicHalfBytes+1),
		"damaged":       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{0x30, 0}}),
	} {
		_, err := hsm.ParsePublicHalf(data)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%s: %v", name, err)
	}
}
