//go:build cgo && unix

package hsm_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

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
