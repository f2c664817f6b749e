package hsm_test

import (
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// A private key that cannot be destroyed keeps its public half.
func TestDeletionEndsAtThePrivateKey(t *testing.T) {
	f := newFake(t, approverToken(newP256(t)))
	f.destroyObject = func(hsm.Object) error { return hsm.RV(0x1B) }
	d, err := loggedIn(t, f, approverURI).PlanDeletion(t.Context())
	require.NoError(t, err)
	require.Len(t, d.Objects(), 2)
	deleted, err := d.Run(t.Context())
	requireRefused(t, err, wire.KeyUnavailable, "")
	require.Empty(t, deleted)
	require.Equal(t, 1, f.count("C_DestroyObject"))
}

// Of a public half that cannot be destroyed it is told that it stayed, and alone.
func TestDeletionTellsWhatStayed(t *testing.T) {
	f := newFake(t, approverToken(newP256(t)))
	f.destroyObject = func(o hsm.Object) error {
		if f.count("C_DestroyObject") > 1 {
			return hsm.RV(0x1B)
		}
		return nil
	}
	d, err := loggedIn(t, f, approverURI).PlanDeletion(t.Context())
	require.NoError(t, err)
	deleted, err := d.Run(t.Context())
	requireRefused(t, err, wire.KeyUnavailable, "")
	require.Len(t, deleted, 1)
	require.Equal(t, hsm.PrivateKey, deleted[0].Class)
	require.True(t, deleted[0].Same(d.Objects()[0]))
	require.False(t, deleted[0].Same(d.Objects()[1]))
}

// The kid of a key that goes is that of the key which signs, and not of what lies beside it.
func TestDeletionBelievesNoForeignHalf(t *testing.T) {
	key, foreign := newP256(t), newP256(t)
	f := newFake(t, approverToken(key))
	d, err := loggedIn(t, f, approverURI).PlanDeletion(t.Context())
	require.NoError(t, err)
	require.Equal(t, publicOf(t, key).KID().String(), d.Objects()[0].KID())

	f = newFake(t, approverToken(key))
	f.attribute = func(_ hsm.Object, a hsm.Attribute, value []byte, err error) ([]byte, error) {
		if a == hsm.AttrECPoint && err == nil {
			return foreign.PublicKey.Bytes()
		}
		return value, err
	}
	d, err = loggedIn(t, f, approverURI).PlanDeletion(t.Context())
	require.NoError(t, err)
	require.Empty(t, d.Objects()[0].KID())
	require.Equal(t, publicOf(t, foreign).KID().String(), d.Objects()[1].KID())
	f.destroyObject = func(hsm.Object) error { return nil }
	deleted, err := d.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, deleted, 2)

	f = newFake(t, approverToken(key))
	f.fail["C_Sign"] = hsm.RV(0x32)
	_, err = loggedIn(t, f, approverURI).PlanDeletion(t.Context())
	requireRefused(t, err, wire.KeyUnavailable, "device-removed")
}
