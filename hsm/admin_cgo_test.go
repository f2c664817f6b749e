//go:build cgo && unix

package hsm_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

func openAdmin(t *testing.T, m hsm.Module, s string) *hsm.Admin {
	t.Helper()
	a, err := hsm.OpenAdmin(t.Context(), m, hsm.TokenOptions{URI: uri(t, s)})
	require.NoError(t, err)
	t.Cleanup(func() { a.Close() })
	return a
}

// admin opens the token with a read-write session and logs in as the user.
func admin(t *testing.T, m hsm.Module, s string) *hsm.Admin {
	t.Helper()
	a := openAdmin(t, m, s)
	require.NoError(t, a.Login(t.Context(), fixedPIN("1234")))
	return a
}

// objectsOf lists a token with another session.
func objectsOf(t *testing.T, m hsm.Module, s string) []hsm.KeyObject {
	t.Helper()
	token := open(t, m, s)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	objects, err := token.Objects(t.Context())
	require.NoError(t, err)
	require.NoError(t, token.Close())
	return objects
}

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

func TestSoftHSMCheck(t *testing.T) {
	h := newSoftHSM(t, "approver")
	m := load(t, h.module)
	a := admin(t, m, "pkcs11:token=approver")
	k, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "fit", Algorithm: hsm.AlgorithmP256})
	require.NoError(t, err)
	require.NoError(t, a.Close())
	// A key from outside, as softhsm2-util imports it, and one of pkcs11-tool with other usages.
	der, err := x509.MarshalPKCS8PrivateKey(newP256(t))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "k.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	run(t, "softhsm2-util", "--import", file, "--token", "approver", "--pin", "1234", "--label", "imported", "--id", "0b")
	h.tool("approver", "--keypairgen", "--key-type", "EC:prime256v1", "--id", "0c", "--label", "derive", "--usage-derive", "--usage-sign")
	h.tool("approver", "--keypairgen", "--key-type", "EC:secp384r1", "--id", "0d", "--label", "p384", "--usage-sign")
	h.tool("approver", "--keypairgen", "--key-type", "rsa:2048", "--id", "0e", "--label", "rsa", "--usage-sign")

	check := func(object string, expected quorum.PublicKey) *hsm.Fitness {
		token := open(t, m, "pkcs11:token=approver;object="+object)
		require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
		f, err := token.Check(t.Context(), expected)
		require.NoError(t, err)
		require.NoError(t, token.Close())
		require.NotEmpty(t, f.Rows)
		require.Equal(t, len(f.Reasons()) == 0, f.Fit())
		return f
	}
	bad := func(f *hsm.Fitness) (names []string) {
		for _, r := range f.Rows {
			if r.Bad != "" {
				names = append(names, r.Name)
			}
		}
		return names
	}
	expected, err := quorum.ParsePublicPEM(k.Object().PublicPEM())
	require.NoError(t, err)
	f := check("fit", expected)
	require.Empty(t, bad(f))
	require.Equal(t, "verified", f.Rows[len(f.Rows)-1].Found)
	require.Empty(t, bad(check("fit", quorum.PublicKey{})))
	require.Equal(t, []string{"public half"}, bad(check("fit", publicOf(t, newP256(t)))))
	require.Subset(t, bad(check("imported", quorum.PublicKey{})), []string{"CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE"})
	require.Contains(t, bad(check("derive", quorum.PublicKey{})), "CKA_DERIVE")
	require.Contains(t, bad(check("p384", quorum.PublicKey{})), "key type")
	f = check("rsa", quorum.PublicKey{})
	require.Equal(t, hsm.Algorithm("RSA 2048"), f.Key.Algorithm)
	require.Subset(t, bad(f), []string{"key type", "key-trial signature"})
}

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

func TestSoftHSMDeletesOneKey(t *testing.T) {
	h := newSoftHSM(t, "approver")
	m := load(t, h.module)
	h.keygen("approver", "01", "a")
	h.keygen("approver", "02", "b")
	h.keygen("approver", "03", "twin")
	h.keygen("approver", "03", "other")
	a := admin(t, m, "pkcs11:token=approver;object=a")
	d, err := a.PlanDeletion(t.Context())
	require.NoError(t, err)
	require.Len(t, d.Objects(), 2)
	require.Equal(t, hsm.PrivateKey, d.Objects()[0].Class)
	n, err := d.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NoError(t, a.Close())
	require.Empty(t, objectsOf(t, m, "pkcs11:token=approver;object=a"))
	require.Len(t, objectsOf(t, m, "pkcs11:token=approver"), 6)

	for object, reason := range map[string]string{"a": "key-not-found", "twin": "ambiguous"} {
		a := admin(t, m, "pkcs11:token=approver;object="+object)
		_, err := a.PlanDeletion(t.Context())
		requireRefused(t, err, wire.KeyUnavailable, reason)
		require.NoError(t, a.Close())
	}
	// What is left of a key without its private half can go too.
	h.tool("approver", "--delete-object", "--type", "privkey", "--id", "02")
	a = admin(t, m, "pkcs11:token=approver;object=b")
	d, err = a.PlanDeletion(t.Context())
	require.NoError(t, err)
	require.Len(t, d.Objects(), 1)
	_, err = d.Run(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.Close())
	require.Empty(t, objectsOf(t, m, "pkcs11:token=approver;object=b"))
}

func TestSoftHSMChangesPINs(t *testing.T) {
	h := newSoftHSM(t, "approver")
	m := load(t, h.module)
	logsIn := func(pin string) error {
		token := open(t, m, "pkcs11:token=approver")
		defer token.Close()
		return token.Login(t.Context(), fixedPIN(pin))
	}
	a := admin(t, m, "pkcs11:token=approver")
	require.NoError(t, a.ChangePIN(t.Context(), fixedPIN("567890")))
	require.NoError(t, a.ChangePIN(t.Context(), fixedPIN("56789")))
	requireRefused(t, a.ChangePIN(t.Context(), fixedPIN("56789")), wire.InvalidInput, "")
	require.NoError(t, a.Close())
	require.NoError(t, logsIn("56789"))
	requireRefused(t, logsIn("1234"), wire.KeyUnavailable, "pin-incorrect")
	a = openAdmin(t, m, "pkcs11:token=approver")
	requireRefused(t, a.LoginSO(t.Context(), fixedPIN("87654321")), wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, hsm.PINCountLow, a.Info().SOPIN)
	requireRefused(t, a.SetUserPIN(t.Context(), fixedPIN("1234")), wire.InvalidState, "")
	require.NoError(t, a.Close())
	a = openAdmin(t, m, "pkcs11:token=approver")
	require.NoError(t, a.LoginSO(t.Context(), fixedPIN("12345678")))
	_, err := a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "k", Algorithm: hsm.AlgorithmP256})
	requireRefused(t, err, wire.InvalidState, "")
	require.NoError(t, a.SetUserPIN(t.Context(), fixedPIN("1234")))
	require.NoError(t, a.ChangePIN(t.Context(), fixedPIN("87654321"))) // the security officer's own
	requireRefused(t, a.SetUserPIN(t.Context(), fixedPIN("1")), wire.InvalidInput, "")
	require.NoError(t, a.Close())
	require.NoError(t, logsIn("1234"))
	a = openAdmin(t, m, "pkcs11:token=approver")
	require.NoError(t, a.LoginSO(t.Context(), fixedPIN("87654321")))
}

func TestSoftHSMInitialises(t *testing.T) {
	h := newSoftHSM(t)
	m := load(t, h.module)
	slots := func() []hsm.SlotListing {
		i, err := hsm.ListSlots(t.Context(), m, 0)
		require.NoError(t, err)
		require.Contains(t, i.Library.Description, "PKCS11")
		return i.Slots
	}
	blank := slots()
	require.Len(t, blank, 1)
	require.False(t, blank[0].Token.Initialized())
	info, err := hsm.InitToken(t.Context(), m, hsm.Blank{Slot: blank[0].Slot}, "Fleet é", fixedPIN("12345678"), 0)
	require.NoError(t, err)
	require.Equal(t, "Fleet é", info.Label)
	require.Equal(t, hsm.PINNotSet, info.PIN)
	a := openAdmin(t, m, info.URI().String())
	require.NoError(t, a.LoginSO(t.Context(), fixedPIN("12345678")))
	require.NoError(t, a.SetUserPIN(t.Context(), fixedPIN("1234")))
	require.NoError(t, a.Close())
	a = admin(t, m, info.URI().String())
	_, err = a.GenerateKey(t.Context(), hsm.NewKeySpec{Label: "k", Algorithm: hsm.AlgorithmP256})
	require.NoError(t, err)
	require.NoError(t, a.Close())

	// Slots are numbered anew, so the target is looked up again.
	slot := slots()[0]
	require.Equal(t, info.Serial, slot.Token.Serial)
	require.Contains(t, slot.Token.FlagNames(), "TOKEN_INITIALIZED")
	require.NotEqual(t, "0.0", slot.Token.Firmware.String())
	for name, target := range map[string]hsm.InitTarget{
		"not blank":      hsm.Blank{Slot: slot.Slot},
		"another label":  hsm.Erase{Slot: slot.Slot, Label: "fleet é", Serial: info.Serial},
		"another serial": hsm.Erase{Slot: slot.Slot, Label: info.Label, Serial: "0"},
	} {
		_, err := hsm.InitToken(t.Context(), m, target, "new", fixedPIN("12345678"), 0)
		requireRefused(t, err, wire.InvalidState, "")
		require.ErrorContains(t, err, "nothing was changed", name)
	}
	erase := hsm.Erase{Slot: slot.Slot, Label: info.Label, Serial: info.Serial}
	_, err = hsm.InitToken(t.Context(), m, erase, "new", fixedPIN("12345679"), 0)
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.Len(t, objectsOf(t, m, info.URI().String()), 2)
	again, err := hsm.InitToken(t.Context(), m, erase, "new", fixedPIN("12345678"), 0)
	require.NoError(t, err)
	require.Equal(t, "new", again.Label)
	require.Equal(t, hsm.PINNotSet, again.PIN)
}

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
