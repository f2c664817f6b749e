//go:build cgo && unix

package hsm_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

func TestSoftHSMKeyIsMadeCheckedAndUsed(t *testing.T) {
	h := newSoftHSM(t, "approver")
	m := load(t, h.module)
	for label, algorithm := range map[string]hsm.Algorithm{"k 256;é": hsm.AlgorithmP256, "ked": hsm.AlgorithmEd25519} {
		t.Run(label, func(t *testing.T) {
			a := admin(t, m, "pkcs11:token=approver")
			k, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: label, Algorithm: algorithm})
			require.NoError(t, err)
			o := k.Object()
			require.Equal(t, algorithm, o.Algorithm)
			parsed, err := x509.ParsePKIXPublicKey(o.SPKI)
			require.NoError(t, err)
			size := map[hsm.Algorithm]int{hsm.AlgorithmP256: 65, hsm.AlgorithmEd25519: 32}[algorithm]
			sum := sha256.Sum256(o.SPKI[len(o.SPKI)-size:])
			require.Equal(t, sum[:20], o.ID)
			require.Equal(t, label, *o.Label)
			signer, approver := k.Signer()
			require.Equal(t, algorithm == hsm.AlgorithmP256, approver)
			if approver {
				public, err := quorum.NewPublicKey(parsed.(*ecdsa.PublicKey))
				require.NoError(t, err)
				require.Equal(t, public.KID().String(), o.KID())
				require.Equal(t, public.PEM(), o.PublicPEM())
				requireSigns(t, signer, public)
			}
			require.NoError(t, a.Close())

			// The URI to copy names the key, both halves, on a new session.
			again, err := hsm.ParseURI(o.URI.String())
			require.NoError(t, err)
			require.Equal(t, o.URI, again)
			found := objectsOf(t, m, o.URI.String())
			require.Len(t, found, 2)
			for _, f := range found {
				require.Equal(t, o.KID(), f.KID(), f.Class)
				require.Equal(t, o.URI, f.URI)
			}

			// A second key of the label is not made.
			a = admin(t, m, "pkcs11:token=approver")
			_, err = a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: label, Algorithm: algorithm})
			requireRefused(t, err, wire.Conflict, "")
			require.NoError(t, a.Close())
			require.Len(t, objectsOf(t, m, o.URI.String()), 2)
		})
	}
}

func TestSoftHSMNewKeyIsTakenBack(t *testing.T) {
	h := newSoftHSM(t, "approver")
	f := h.faulty()
	m := load(t, f.module)
	a := admin(t, m, "pkcs11:token=approver")
	k, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "k", Algorithm: hsm.AlgorithmP256})
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, k.Destroy(ended))
	require.NoError(t, a.Close())
	require.Empty(t, objectsOf(t, m, "pkcs11:token=approver"))

	// A new key whose signature is bad is destroyed again, and nothing is left.
	for fault, edwards := range map[string]bool{
		"C_Sign 0 1 flip 5": false, "C_Sign 0 1 rv 0x101": false, "C_SignInit 0 1 rv 0x68": false, "C_Sign 0 1 short 63": false,
		"C_Sign 0 1 flip 6": true,
	} {
		f.set(fault)
		a = admin(t, m, "pkcs11:token=approver")
		algorithm := hsm.AlgorithmP256
		if edwards {
			algorithm = hsm.AlgorithmEd25519
		}
		_, err = a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "k", Algorithm: algorithm})
		require.ErrorContains(t, err, "destroyed again", fault)
		require.Equal(t, wire.KeyUnavailable, wire.CodeOf(err))
		_, err = a.Objects(t.Context())
		require.ErrorContains(t, err, "the session ended", fault)
		require.NoError(t, a.Close())
		f.set()
		require.Empty(t, objectsOf(t, m, "pkcs11:token=approver"), fault)
	}
}
