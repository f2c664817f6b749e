//go:build cgo && unix

package hsm_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// certificateOf makes a certificate of a token's key by a CA of its own.
func certificateOf(t *testing.T, public crypto.PublicKey) []byte {
	ca := newP256(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(200), Subject: pkix.Name{CommonName: "approver"},
		NotBefore: time.Unix(1e9, 0), NotAfter: time.Unix(4e9, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, ca)
	require.NoError(t, err)
	return der
}

func TestSoftHSMImport(t *testing.T) {
	h := newSoftHSM(t, "approver")
	m := load(t, h.module)
	for _, algorithm := range []hsm.Algorithm{hsm.AlgorithmP256, hsm.AlgorithmEd25519} {
		label := string(algorithm)
		a := admin(t, m, "pkcs11:token=approver")
		k, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: label, Algorithm: algorithm})
		require.NoError(t, err)
		require.NoError(t, a.Close())
		h.tool("approver", "--delete-object", "--type", "pubkey", "--label", label)
		name := "pkcs11:token=approver;object=" + label
		bare := objectsOf(t, m, name)
		require.Len(t, bare, 1)
		require.Nil(t, bare[0].SPKI)

		key, err := x509.ParsePKIXPublicKey(k.Object().SPKI)
		require.NoError(t, err)
		foreign, err := x509.MarshalPKIXPublicKey(&newP256(t).PublicKey)
		require.NoError(t, err)
		if algorithm == hsm.AlgorithmEd25519 {
			other, _, err := ed25519.GenerateKey(rand.Reader)
			require.NoError(t, err)
			foreign, err = x509.MarshalPKIXPublicKey(other)
			require.NoError(t, err)
		}
		importing := func(data []byte) (hsm.KeyObject, error) {
			half, err := hsm.ParsePublicHalf(data)
			require.NoError(t, err)
			a := admin(t, m, name)
			defer a.Close()
			return a.Import(t.Context(), half)
		}
		_, err = importing(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: foreign}))
		requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
		require.Len(t, objectsOf(t, m, name), 1, "nothing was made")
		made, err := importing(k.Object().PublicPEM())
		require.NoError(t, err)
		require.Equal(t, hsm.PublicKey, made.Class)
		_, err = importing(k.Object().PublicPEM())
		requireRefused(t, err, wire.Conflict, "")
		der := certificateOf(t, key)
		made, err = importing(der)
		require.NoError(t, err)
		require.Equal(t, hsm.Certificate, made.Class)
		_, err = importing(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
		requireRefused(t, err, wire.Conflict, "")
		all := objectsOf(t, m, name)
		require.Len(t, all, 3)
		for _, o := range all {
			require.Equal(t, k.Object().SPKI, o.SPKI)
			require.Equal(t, k.Object().ID, o.ID)
		}
	}
}
