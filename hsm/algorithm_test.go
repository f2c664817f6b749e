package hsm

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/asn1"
	"testing"

	"github.com/stretchr/testify/require"
)

func der(t *testing.T, v any) []byte {
	t.Helper()
	b, err := asn1.Marshal(v)
	require.NoError(t, err)
	return b
}

// Points come raw, in an OCTET STRING and in a BIT STRING.
func forms(t *testing.T, point []byte) map[string][]byte {
	return map[string][]byte{"raw": point, "OCTET STRING": der(t, point), "BIT STRING": der(t, asn1.BitString{Bytes: point, BitLength: 8 * len(point)})}
}

func TestECKeys(t *testing.T) {
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	for _, params := range ed25519Params {
		for form, value := range forms(t, edwards) {
			algorithm, key := ecKey(params, value)
			require.Equal(t, AlgorithmEd25519, algorithm)
			require.Equal(t, edwards, key, form)
		}
	}
	for oid, c := range map[string]struct {
		id    asn1.ObjectIdentifier
		curve elliptic.Curve
	}{
		"P-256": {asn1.ObjectIdentifier{1, 2, 840, 10045, 3, 1, 7}, elliptic.P256()}, "P-384": {asn1.ObjectIdentifier{1, 3, 132, 0, 34}, elliptic.P384()},
		"P-521": {asn1.ObjectIdentifier{1, 3, 132, 0, 35}, elliptic.P521()}, "P-224": {asn1.ObjectIdentifier{1, 3, 132, 0, 33}, elliptic.P224()},
	} {
		private, err := ecdsa.GenerateKey(c.curve, rand.Reader)
		require.NoError(t, err)
		for form, value := range forms(t, pointOf(&private.PublicKey)) {
			algorithm, key := ecKey(der(t, c.id), value)
			require.Equal(t, Algorithm(oid), algorithm)
			require.True(t, private.PublicKey.Equal(key), form)
			require.NotNil(t, spkiOf(key))
		}
	}
	for want, params := range map[Algorithm][]byte{
		"secp256k1": der(t, asn1.ObjectIdentifier{1, 3, 132, 0, 10}), "EC 1.2.3": der(t, asn1.ObjectIdentifier{1, 2, 3}), "unknown": {0x30, 0},
	} {
		algorithm, key := ecKey(params, make([]byte, 65))
		require.Equal(t, want, algorithm)
		require.Nil(t, key)
	}
	for name, value := range map[string][]byte{
		"none": nil, "short": edwards[1:], "after": append(der(t, []byte(edwards)), 0), "text": der(t, "a"),
		"bits": der(t, asn1.BitString{Bytes: edwards, BitLength: 255}),
	} {
		_, key := ecKey(ed25519Params[0], value)
		require.Nil(t, key, name)
	}
}

func TestRSAKeysAreNamed(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	algorithm, key := rsaKey(private.N.Bytes(), []byte{1, 0, 1})
	require.Equal(t, Algorithm("RSA 2048"), algorithm)
	require.True(t, private.PublicKey.Equal(key))
	for _, exponent := range [][]byte{nil, make([]byte, 4), {1, 0, 0, 0, 0}} {
		algorithm, key = rsaKey(private.N.Bytes(), exponent)
		require.Equal(t, Algorithm("RSA 2048"), algorithm)
		require.Nil(t, key)
	}
	algorithm, key = rsaKey(nil, []byte{3})
	require.Equal(t, Algorithm("RSA"), algorithm)
	require.Nil(t, key)
}
