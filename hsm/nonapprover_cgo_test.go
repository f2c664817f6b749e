//go:build cgo && unix

package hsm_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

func TestSoftHSMKeysOfOtherJobs(t *testing.T) {
	h := newSoftHSM(t, "approver")
	m := load(t, h.module)
	a := admin(t, m, "pkcs11:token=approver")
	for _, algorithm := range []hsm.Algorithm{hsm.AlgorithmP256, hsm.AlgorithmEd25519} {
		_, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: string(algorithm), Algorithm: algorithm})
		require.NoError(t, err)
	}
	require.NoError(t, a.Close())
	signer := func(algorithm hsm.Algorithm, expected crypto.PublicKey) (crypto.Signer, error) {
		token := open(t, m, "pkcs11:token=approver;object="+string(algorithm))
		t.Cleanup(func() { token.Close() })
		require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
		s, err := token.NonApproverSigner(t.Context(), expected)
		if err != nil {
			token.Close()
		}
		return s, err
	}
	_, err := signer(hsm.AlgorithmP256, &newP256(t).PublicKey)
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	s, err := signer(hsm.AlgorithmP256, nil)
	require.NoError(t, err)
	message := []byte("a certificate to be signed")
	for hash, digest := range map[crypto.Hash][]byte{crypto.SHA256: sum(sha256.Sum256(message)), crypto.SHA384: sum384(message)} {
		der, err := s.Sign(rand.Reader, digest, hash)
		require.NoError(t, err)
		require.True(t, ecdsa.VerifyASN1(s.Public().(*ecdsa.PublicKey), digest, der))
	}
	_, err = s.Sign(rand.Reader, message, crypto.Hash(0))
	requireRefused(t, err, wire.InvalidInput, "")
	_, err = s.Sign(rand.Reader, make([]byte, 20), crypto.SHA1)
	requireRefused(t, err, wire.InvalidInput, "")
}

func sum(s [32]byte) []byte { return s[:] }

func sum384(message []byte) []byte {
	s := sha512.Sum384(message)
	return s[:]
}

func TestSoftHSMEdwardsSigner(t *testing.T) {
	h := newSoftHSM(t, "approver")
	a := admin(t, load(t, h.module), "pkcs11:token=approver")
	k, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "ked", Algorithm: hsm.AlgorithmEd25519})
	require.NoError(t, err)
	require.NoError(t, a.Close())
	token := open(t, load(t, h.module), k.Object().URI.String())
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	s, err := token.NonApproverSigner(t.Context(), nil)
	require.NoError(t, err)
	message := make([]byte, 5000)
	signature, err := s.Sign(nil, message, crypto.Hash(0))
	require.NoError(t, err)
	require.True(t, ed25519.Verify(s.Public().(ed25519.PublicKey), message, signature))
	_, err = s.Sign(nil, make([]byte, 64), crypto.SHA512)
	requireRefused(t, err, wire.Unsupported, "")
	_, err = s.Sign(nil, message, &ed25519.Options{Context: "x"})
	requireRefused(t, err, wire.Unsupported, "")
	// crypto/x509 takes it as a CA's key.
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(1e9, 0), NotAfter: time.Unix(4e9, 0),
		IsCA: true, BasicConstraintsValid: true, Subject: pkix.Name{CommonName: "CA"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, s.Public(), s)
	require.NoError(t, err)
	c, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	require.NoError(t, c.CheckSignatureFrom(c))
}
