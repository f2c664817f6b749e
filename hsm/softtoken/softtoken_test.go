package softtoken_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"math/big"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

func generate(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	require.NoError(t, err)
	return key
}

func TestNewRefusesWhatCannotExist(t *testing.T) {
	const long = "123456789012345678901234567890123"
	for name, token := range map[string]softtoken.Token{
		"no PIN": {}, "label": {PIN: "1", Label: long}, "serial": {PIN: "1", Serial: long[:17]}, "model": {PIN: "1", Model: long[:17]},
		"tries": {PIN: "1", Tries: -1}, "no key": {PIN: "1", Keys: []softtoken.Key{{}}},
		"P-384": {PIN: "1", Keys: []softtoken.Key{{Private: generate(t, elliptic.P384())}}},
	} {
		_, err := softtoken.New(token)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
	}
}

// A course of calls with the answers of a C library, wrong turns included.
func TestAnswersAsTheStandardSays(t *testing.T) {
	key := generate(t, elliptic.P256())
	m, err := softtoken.New(softtoken.Token{Label: "a", Serial: "1", PIN: "1234",
		Keys: []softtoken.Key{{Label: "k", ID: []byte{1}, Private: key, AlwaysAuthenticate: true}}})
	require.NoError(t, err)
	rv := func(code hsm.RV, err error) { t.Helper(); require.Equal(t, code, err) }
	flags := func() uint {
		r, err := m.Token(0)
		require.NoError(t, err)
		return r.Flags & (hsm.FlagPINCountLow | hsm.FlagPINFinalTry | hsm.FlagPINLocked)
	}
	private := []hsm.Match{{Attribute: hsm.AttrClass, Value: hsm.ULong(hsm.ClassPrivateKey)}}

	rv(0x190, m.Finalize())
	_, err = m.Slots()
	rv(0x190, err)
	require.NoError(t, m.Initialize())
	rv(0x191, m.Initialize())
	_, err = m.OpenSession(1)
	rv(0x03, err)
	s, err := m.OpenSession(0)
	require.NoError(t, err)
	rv(0xB3, m.Login(s+1, hsm.UserNormal, nil))
	rv(0x103, m.Login(s, 0, []byte("1234")))
	rv(0x91, m.Login(s, hsm.UserContextSpecific, []byte("1234")))
	rv(0x101, m.Logout(s))

	found, err := m.Find(s, private)
	require.NoError(t, err)
	require.Empty(t, found, "private keys are not seen before the login")
	_, err = m.Attributes(s, 1, hsm.AttrLabel)
	rv(0x82, err)
	rv(0x60, m.SignInit(s, hsm.MechanismECDSA, 1))
	rv(0x60, m.SignInit(s, hsm.MechanismECDSA, 9))
	require.Zero(t, flags())
	rv(0xA0, m.Login(s, hsm.UserNormal, []byte("1")))
	require.Equal(t, hsm.FlagPINCountLow, flags())
	rv(0xA0, m.Login(s, hsm.UserNormal, []byte("12345")))
	require.Equal(t, hsm.FlagPINFinalTry, flags())
	require.NoError(t, m.Login(s, hsm.UserNormal, []byte("1234")))
	require.Zero(t, flags())
	rv(0x100, m.Login(s, hsm.UserNormal, []byte("1234")))

	found, err = m.Find(s, private)
	require.NoError(t, err)
	require.Equal(t, []hsm.Object{1}, found)
	_, err = m.Attributes(s, 1, hsm.AttrECPoint)
	rv(0x12, err)
	rv(0x70, m.SignInit(s, 0x1042, 1))
	_, err = m.Sign(s, make([]byte, 32))
	rv(0x91, err)
	require.NoError(t, m.SignInit(s, hsm.MechanismECDSA, 1))
	rv(0x90, m.SignInit(s, hsm.MechanismECDSA, 1))
	_, err = m.Sign(s, make([]byte, 32))
	rv(0x101, err)
	for _, n := range []int{31, 32, 33} {
		require.NoError(t, m.SignInit(s, hsm.MechanismECDSA, 1))
		require.NoError(t, m.Login(s, hsm.UserContextSpecific, []byte("1234")))
		digest := make([]byte, n)
		signature, err := m.Sign(s, digest)
		if n != 32 {
			rv(0x21, err)
			continue
		}
		require.NoError(t, err)
		require.Len(t, signature, 64)
		require.True(t, ecdsa.Verify(&key.PublicKey, digest, new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])))
	}
	require.NoError(t, m.CloseSession(s))
	rv(0xB3, m.CloseSession(s))
	s, err = m.OpenSession(0)
	require.NoError(t, err)
	for range softtoken.DefaultTries {
		rv(0xA0, m.Login(s, hsm.UserNormal, nil))
	}
	rv(0xA4, m.Login(s, hsm.UserNormal, []byte("1234")))
	require.Equal(t, hsm.FlagPINLocked, flags())
	require.NoError(t, m.Finalize())
	rv(0x190, m.CloseSession(s))
}
