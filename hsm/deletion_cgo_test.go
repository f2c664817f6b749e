//go:build cgo && unix

package hsm_test

import (
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

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
	gone, err := d.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, d.Objects(), gone)
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
